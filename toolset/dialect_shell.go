package toolset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/sandbox/proc"
	"adze/tool"
)

// bashSchema is that of the arguments with the longest timeout that the user allows, so that a
// longer one is held to it before anybody is asked.
func bashSchema(s *Shell) json.RawMessage {
	whole, err := tool.SchemaOf[bashArgs]()
	const least = `"minimum":1`
	if err != nil || bytes.Count(whole, []byte(least)) != 1 {
		return nil // derived as it is; the tool still refuses what is too long
	}
	whole = bytes.Replace(whole, []byte(least), fmt.Appendf(nil, `%s,"maximum":%d`, least, int(s.MaxTimeout.Seconds())), 1)
	return s.named(whole)
}

// named is a schema with the name of the shell in it.
func (s *Shell) named(schema json.RawMessage) json.RawMessage {
	if s.Program.Kind == proc.Bash {
		return schema
	}
	return bytes.Replace(schema, []byte("command line for bash"), []byte("command line for "+s.Program.Name), 1)
}

// bashOffer is what a model is shown of it.
func bashOffer(brief bool) json.RawMessage {
	if !brief {
		view, _ := tool.OfferOf[bashArgs]() // registration says what is wrong with them
		return view
	}
	return usual[bashArgs](brief, "command", "timeout: seconds", "workdir: folder to run in")
}

func bashIdioms(s *Shell) []tool.Idiom {
	const rules = "is not known here: the person's rules say what is asked; leave it out"
	return []tool.Idiom{
		limited("timeout", int(s.MaxTimeout.Seconds())), argvCommand(), remarks("explanation", "security_risk", "justification"),
		only("sandbox_permissions", rules, "use_default"), only("with_escalated_permissions", rules, false),
		only("dangerously_disable_sandbox", rules, false), only("requires_approval", rules, false), only("require_user_approval", rules, false),
		only("tty", "is not known here: there is no terminal", false), only("shell", "is bash; leave it out", "bash", "/bin/bash", "/usr/bin/bash"),
		only("is_input", "is not known here: a command gets no input", false, "false"), only("restart", "is not needed: each call starts anew", false),
		indifferent("login", "yield_time_ms", "max_output_tokens", "max_output_length", "wait_for_previous"), prefixRule(),
	}
}

// prefixRule drops the rule that codex's models propose: rules are the user's.
func prefixRule() tool.Idiom {
	return tool.Idiom{Names: []string{"prefix_rule"}, Means: func(written) (written, string) { return nil, "" }}
}

// argvCommand reads a list of program and arguments as one command line.
func argvCommand() tool.Idiom {
	return tool.Idiom{Names: []string{"command"}, Means: func(w written) (written, string) {
		items, ok := w["command"].([]any)
		if !ok || len(items) == 0 {
			return w, ""
		}
		argv := make([]string, len(items))
		for i, item := range items {
			text, ok := item.(string)
			if !ok {
				return w, ""
			}
			argv[i] = text
		}
		if len(argv) == 3 && slices.Contains([]string{"bash", "/bin/bash", "sh", "/bin/sh"}, argv[0]) && slices.Contains([]string{"-c", "-lc"}, argv[1]) {
			return written{"command": argv[2]}, ""
		}
		return written{"command": shellQuoted(argv)}, ""
	}}
}

func jobAliases() map[string]string {
	return map[string]string{"id": "job", "job_id": "job", "bash_id": "job", "shell_id": "job", "task_id": "job"}
}

func jobIdioms() []tool.Idiom {
	block := tool.Idiom{Names: []string{"wait", "block"}, Means: func(w written) (written, string) {
		for name, v := range w {
			switch {
			case len(w) == 1 && v == true:
				return written{"wait": float64(maxJobWait)}, ""
			case len(w) == 1 && v == false || v == nil:
				return nil, ""
			case name == "block":
				return nil, "is wait here: the seconds to wait for the end"
			}
		}
		return w, ""
	}}
	return []tool.Idiom{block, refused("filter", "is not known here: read all, or grep a file that the command writes to"), remarks("description", "explanation")}
}

func todoIdioms() []tool.Idiom {
	return []tool.Idiom{
		checklist(), remarks("explanation", "description"), only("merge", "is not known here: send the whole list each time", false),
		only("operation", "must be write: todoread reads the list", "write"),
		words("todos", "status", map[string]string{
			"done": "completed", "complete": "completed", "finished": "completed", "closed": "completed",
			"todo": "pending", "notstarted": "pending", "open": "pending", "notdone": "pending",
			"inprogress": "in_progress", "doing": "in_progress", "active": "in_progress", "started": "in_progress", "wip": "in_progress",
			"canceled": "cancelled", "pending": "pending", "completed": "completed", "cancelled": "cancelled",
		}),
		words("todos", "priority", map[string]string{"normal": "medium", "high": "high", "medium": "medium", "low": "low"}),
		inTodos(indifferent("id", "active_form", "activity")), ticked(),
	}
}

func inTodos(i tool.Idiom) tool.Idiom {
	i.In = "todos"
	return i
}

// ticked reads a boolean for a status.
func ticked() tool.Idiom {
	return tool.Idiom{In: "todos", Names: []string{"completed", "done"}, Means: func(w written) (written, string) {
		for _, v := range w {
			switch {
			case len(w) == 1 && v == true:
				return written{"status": "completed"}, ""
			case len(w) == 1 && v == false:
				return written{"status": "pending"}, ""
			}
		}
		return nil, "is not known here: give status"
	}}
}

// tick is one line of a Markdown checklist.
var tick = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:[-*]|\d+[.)])?\s*\[([ xX~-])\]\s+(.+?)\s*$`)
})

// checklist reads a list of todos that is written in Markdown.
func checklist() tool.Idiom {
	return tool.Idiom{Names: []string{"todos"}, Means: func(w written) (written, string) {
		text, ok := w["todos"].(string)
		var items []any
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			m := tick().FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				return w, ""
			}
			status := map[string]string{" ": "pending", "x": "completed", "X": "completed", "-": "in_progress", "~": "in_progress"}[m[1]]
			items = append(items, written{"content": m[2], "status": status})
		}
		if !ok || len(items) == 0 {
			return w, ""
		}
		return written{"todos": items}, ""
	}}
}

// webIdioms reads one page; what is to be looked for in it the model does itself.
func webIdioms(most int) []tool.Idiom {
	return []tool.Idiom{
		limited("timeout", most), oneOf("url", "urls"), pageOf(),
		words("", "format", map[string]string{"md": "markdown", "plain": "text", "plaintext": "text", "txt": "text"}),
		switched("raw", written{"format": "raw"}, nil), remarks("description", "explanation", "objective"),
		only("method", "is not known here: a page is fetched with GET", "get"), only("start_index", "is not known here: selector takes a part", 0.0),
	}
}

var address = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("https?://[^\\s\"'<>`]+") })

// pageOf drops what is asked of a page beside its address, and takes the address out of a prompt
// that has one.
func pageOf() tool.Idiom {
	return tool.Idiom{Names: []string{"url", "prompt", "query"}, Means: func(w written) (written, string) {
		if url, ok := w["url"]; ok {
			return written{"url": url}, ""
		}
		var all []string
		for _, v := range w {
			text, _ := v.(string)
			all = append(all, address().FindAllString(text, -1)...)
		}
		if len(all) != 1 {
			return nil, "must name one address: give it as url, one call for each"
		}
		return written{"url": strings.TrimRight(all[0], ".,;:!?)]}")}, ""
	}}
}

func taskIdioms() []tool.Idiom {
	return []tool.Idiom{
		words("", "agent", map[string]string{"generalpurpose": "general", "general": "general", "explore": "explore", "explorer": "explore"}),
		only("readonly", "is not known here: the agent says what it may do; explore only reads", false),
	}
}

func completeIdioms() []tool.Idiom {
	return []tool.Idiom{
		refused("command", "is not known here: run it with bash first"), tool.Idiom{Names: []string{"task_progress"}, Means: func(written) (written, string) { return nil, "" }},
	}
}
