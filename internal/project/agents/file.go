package agents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"adze/internal/project/discovery"
	"adze/session"
	"adze/tool"
)

// in bytes, as in agentskills.io
const maxDescription = 1024

// fromFile reads an agent file's front matter, in adze's or another assistant's format.
func fromFile(i discovery.Item) Kind {
	k := Kind{Item: i, Main: true, Task: true}
	k.Notes = slices.Clone(i.Notes)
	f := i.FrontMatter
	k.Description = strings.Join(strings.Fields(tool.ShownHidden(f.Text("description"))), " ")
	if len(k.Description) > maxDescription {
		k.note("its description has %d bytes; %d are kept", len(k.Description), maxDescription)
		k.Description = strings.ToValidUTF8(k.Description[:maxDescription], "") + "…"
	}
	if k.Model = f.Text("model"); k.Model == "inherit" || k.Model == "default" {
		k.Model = ""
	}
	k.effort(f)
	k.steps(f)
	k.mode(f)
	k.use(f)
	k.equip(f)
	for _, key := range []string{"hooks", "mcpServers", "skills", "memory", "isolation", "background", "temperature"} { // from Claude Code
		if _, has := f.Field(key); has {
			k.note("%s of an agent's file are not followed", key)
		}
	}
	return k
}

func (k *Kind) note(format string, args ...any) {
	k.Notes = append(k.Notes, fmt.Sprintf(format, args...))
}

func (k *Kind) effort(f discovery.FrontMatter) {
	k.Effort = strings.ToLower(f.Text("effort", "reasoningEffort", "model_reasoning_effort"))
	if k.Effort != "" && !slices.Contains(session.Efforts(), k.Effort) {
		k.note("there is no effort %q", k.Effort)
		k.Effort = ""
	}
}

func (k *Kind) steps(f discovery.FrontMatter) {
	text := f.Text("steps", "maxSteps", "maxTurns")
	if text == "" {
		return
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		k.note("%q is no number of steps", text)
		return
	}
	k.Steps = n
}

// modes maps other assistants' permission modes.
func modes() map[string]string {
	return map[string]string{
		"default": "ask", "manual": "ask", "dontask": "ask", "acceptedits": "edits", "bypasspermissions": "yolo",
		"plan": "plan", "ask": "ask", "edits": "edits", "staged": "staged", "auto": "auto", "yolo": "yolo",
	}
}

// mode reads the widest permission mode. An unknown one becomes plan: it may have been meant to
// forbid everything.
func (k *Kind) mode(f discovery.FrontMatter) {
	if yes, _ := f.Bool("readonly"); yes {
		k.Mode = "plan"
	}
	text := f.Text("permission_mode")
	if text == "" {
		return
	}
	mode, known := modes()[strings.ToLower(text)]
	if !known {
		mode = "plan"
		k.note("there is no permission mode %q; it works in plan and changes nothing", text)
	}
	k.Mode = mode
}

// use reads whether the agent leads a conversation, takes tasks, or both.
func (k *Kind) use(f discovery.FrontMatter) {
	switch strings.ToLower(f.Text("mode")) {
	case "primary":
		k.Task = false
	case "subagent":
		k.Main = false
	}
	for _, off := range []string{"disable", "disabled"} {
		if yes, _ := f.Bool(off); yes {
			k.Problem = "its file says that it is not to be used"
		}
	}
}

func (k *Kind) equip(f discovery.FrontMatter) {
	field, named := f.Field("tools")
	if k.tools.all = !named; named {
		k.tools.only = k.adzes(field.List(), &k.tools.all)
	}
	if denied, ok := f.List("disallowedTools", "excludeTools"); ok {
		k.deny(k.adzes(denied, nil)...)
		if slices.Contains(denied, "*") {
			k.tools.all, k.tools.only = false, nil
		}
	}
	if _, ok := f.Field("permission"); ok || field.Map {
		k.Problem = "its tools are a map, as opencode writes them; write tools and disallowedTools as lists"
	}
	if named && !k.tools.all && len(k.tools.only) == 0 {
		k.note("it has no tools")
	}
}

func (k *Kind) deny(names ...string) { k.tools.deny = append(k.tools.deny, names...) }

// adzes maps tool names of other assistants to adze's; it sets all for *. An unknown name stays: it
// may be a declared tool.
func (k *Kind) adzes(names []string, all *bool) (out []string) {
	for _, name := range names {
		if name = strings.TrimSpace(name); name == "*" || name == "all" {
			if all != nil {
				*all = true
			}
			continue
		}
		base, pattern, narrowed := strings.Cut(name, "(")
		means := toolsNamed(base)
		switch {
		case len(means) == 0:
			k.strange = append(k.strange, base)
			means = []string{base}
		case narrowed && pattern != ")" && pattern != "*)":
			k.note("%s: your rules decide about single calls", name)
		}
		out = append(out, means...)
	}
	return out
}

// IgnoredSettings lists the settings in the file that a run with these tools does not follow.
func (k Kind) IgnoredSettings(has func(tool string) bool) []string {
	notes := slices.Clone(k.Notes)
	var missing []string
	for _, name := range k.strange {
		if !has(name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		notes = append(notes, "there are no tools "+strings.Join(missing, ", "))
	}
	return notes
}
