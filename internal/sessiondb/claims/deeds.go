package claims

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// effect is one call's effect.
type effect struct {
	call      tool.CallID
	output    string
	apart     bool // it outlives its call, or ran in another folder than the session's
	succeeded bool
	exit      bool     // it ran to its end and failed
	opaque    bool     // it may have done anything
	commands  []string // it ran these
	changed   []string
	read      []string
}

type effects struct {
	all   []effect
	asked string // the user's message in this turn
	// partial is set if the beginning is summarized: missing effects may have happened.
	partial bool
}

func effectsOf(t Turn) *effects {
	d := &effects{}
	for i, m := range t.History {
		d.partial = d.partial || m.Summary
		if m.Role == session.User && i >= t.Begin && !m.Note {
			d.asked += "\n" + m.Text()
		}
		if m.Role == session.User && m.OwnCall != "" {
			d.all = append(d.all, effect{opaque: true})
		}
		for _, p := range m.Parts {
			if m.Role == session.ToolRole && p.Outcome != nil {
				d.add(*p.Outcome, t.Delegates)
			}
		}
	}
	return d
}

func (d *effects) add(o tool.Outcome, delegates func(string) bool) {
	x := effect{call: o.Call, output: o.Output, changed: o.Changed, succeeded: o.Status == tool.Completed}
	var meta struct {
		Job     string `json:"job"`
		Running bool   `json:"running"`
		Workdir string `json:"workdir"`
	}
	_ = json.Unmarshal(o.Metadata, &meta) // absent fields stay zero
	x.apart = meta.Job != "" || meta.Running || meta.Workdir != ""
	x.exit = o.Status == tool.Failed && o.Code == tool.CodeExit
	if o.Status == tool.Completed || o.Status == tool.Failed { // it ran
		x.opaque = delegates != nil && delegates(o.Tool)
		for _, n := range o.Record.Needs {
			switch {
			case n.Reach == tool.Anything:
				x.opaque = x.opaque || n.Permission != tool.Read
			case n.Reach != "" && n.Reach != tool.ServerTool:
			case n.Permission == tool.Execute:
				x.commands = append(x.commands, n.Target)
			case n.Permission == tool.Read:
				x.read = append(x.read, n.Target)
			case n.Permission == tool.Network:
				x.opaque = x.opaque || strings.Contains(strings.ToLower(o.Output), "pass")
			}
		}
	}
	d.all = append(d.all, x)
}

// last returns the index of the newest matching effect, or -1.
func (d *effects) last(is func(effect) bool) int {
	for i, x := range slices.Backward(d.all) {
		if is(x) {
			return i
		}
	}
	return -1
}

// simple splits a shell text into simple commands as words. It is a guess: it ignores quotes.
func simple(text string) (out [][]string) {
	text = strings.NewReplacer("2>&1", "", "&>", ">").Replace(text)
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(";|&\n()", r) }) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0][0] >= '0' && words[0][0] <= '9' || token(words[0]).in("before")) {
			words = words[1:]
		}
		if len(words) > 0 && !token(words[0]).in("alone") {
			words[0] = path.Base(words[0])
			out = append(out, words)
		}
	}
	return out
}

// mayTest reports whether a call may have run tests: a command not known for something else, or a
// look at the log of a run elsewhere.
func (x effect) mayTest() bool {
	return x.opaque || slices.ContainsFunc(x.commands, func(c string) bool {
		return slices.ContainsFunc(simple(c), func(words []string) bool {
			name := token(words[0])
			if name.in("looking") || name.in("calm") && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-exec") }) {
				return false
			}
			return name != "git" && !subcommand(words).in("calm "+words[0])
		})
	}) || slices.ContainsFunc(x.read, func(name string) bool {
		return slices.Contains([]string{".log", ".txt", ".xml", ".out"}, path.Ext(name))
	})
}

// isTest reports whether a command is known to only run tests.
func isTest(words []string) bool {
	for len(words) > 1 && token(words[0]).in("starters") {
		words = words[1:]
	}
	sub := subcommand(words)
	return token(words[0]).in("testers") || token(words[0]).in("builders") && (sub == "test" || sub == "t" || token(sub).in("testers")) || words[0] == "node" && slices.Contains(words, "--test")
}

// mayWrite reports whether a command may have changed files other than its known outputs or git's
// own.
func mayWrite(command string) bool {
	if strings.Contains(strings.NewReplacer("2>&1", "", ">/dev/null", "").Replace(command), ">") {
		return true
	}
	all := simple(command)
	return slices.ContainsFunc(all, func(words []string) bool {
		sub := subcommand(words)
		switch {
		case token(words[0]).in("looking"), words[0] == "pytest", words[0] == "git" && len(all) == 1 && sub.in("recording"):
			return false
		case words[0] == "sed":
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "--in") })
		}
		return !sub.in("looking " + words[0])
	})
}

// subcommand returns the first argument that is not an option.
func subcommand(words []string) token {
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			return token(w)
		}
	}
	return ""
}

// alone returns a call's only simple command, if it ran in the session's folder and nothing could
// hide its exit status.
func (x effect) alone() (words []string, ok bool) {
	if len(x.commands) != 1 || x.apart {
		return nil, false
	}
	text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(x.commands[0]), "2>&1"))
	if strings.ContainsAny(text, ";|&()<>`$\n\\*?{}") {
		return nil, false
	}
	words = strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(text))
	return words, len(words) > 0 && !strings.Contains(words[0], "=")
}
