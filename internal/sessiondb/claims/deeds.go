package claims

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// deed is what one call did.
type deed struct {
	tool      string
	call      tool.CallID
	output    string
	job       bool // it goes on beyond its call
	elsewhere bool // it ran in another folder than the session's
	succeeded bool
	now       bool // in the turn that the answer ends
	exit      bool // it ran to an end that it calls a failure
	ran       bool
	opaque    bool     // it may have done anything
	commands  []string // that it ran
	tried     []string // files that it was to change
	changed   []string
	read      []string
}

// deeds are those of the session, oldest first.
type deeds struct {
	all   []deed
	given string   // all that the model was given or wrote into calls
	asked string   // what the user said in this turn
	open  []string // todos that are not done
	fresh bool     // that list is of this turn
	// partial says that the beginning is summed up: what is not among the deeds may have been done.
	partial bool
}

func deedsOf(t Turn) (d deeds) {
	var given, asked strings.Builder
	given.WriteString(t.System)
	args := map[tool.CallID]string{}
	for i, m := range t.History {
		now := i >= t.Begin
		d.partial = d.partial || m.Summary
		switch m.Role {
		case session.User:
			given.WriteString("\n" + m.Text())
			if now && !m.Note {
				asked.WriteString("\n" + m.Text())
			}
			if m.Own != "" {
				d.all = append(d.all, deed{now: now, ran: true, opaque: true})
			}
		case session.Assistant:
			for _, c := range m.Calls() {
				args[c.ID] = c.Arguments
				given.WriteString("\n" + c.Arguments)
			}
		case session.ToolRole:
			for _, p := range m.Parts {
				if p.Outcome != nil {
					d.add(*p.Outcome, now, t.Delegates)
					given.WriteString("\n" + p.Outcome.Output)
				}
			}
		}
	}
	d.given, d.asked = given.String(), asked.String()
	return d
}

func (d *deeds) add(o tool.Outcome, now bool, delegates func(string) bool) {
	x := deed{tool: o.Tool, call: o.Call, output: o.Output, now: now, changed: o.Changed, succeeded: o.Status == tool.Completed}
	x.job, x.elsewhere = placeOf(o)
	x.ran = o.Status == tool.Completed || o.Status == tool.Failed
	x.exit = o.Status == tool.Failed && o.Code == tool.CodeExit
	x.opaque = x.ran && delegates != nil && delegates(o.Tool)
	for _, n := range o.Record.Needs {
		switch {
		case n.Reach == tool.Anything:
			x.opaque = x.opaque || x.ran && n.Permission != tool.Read
		case n.Reach != "" && n.Reach != tool.ServerTool:
		case n.Permission == tool.Execute && x.ran:
			x.commands = append(x.commands, n.Target)
		case n.Permission == tool.Write:
			x.tried = append(x.tried, n.Target)
		case n.Permission == tool.Read && x.ran:
			x.read = append(x.read, n.Target)
		case n.Permission == tool.Network:
			x.opaque = x.opaque || x.ran && len(o.Record.Needs) > 0 && strings.Contains(strings.ToLower(o.Output), "pass")
		}
	}
	d.all = append(d.all, x)
	d.todos(o, now)
}

// todos takes a list of todos that a call came to.
func (d *deeds) todos(o tool.Outcome, now bool) {
	var m struct {
		Todos *[]struct{ Content, Status string }
	}
	if o.Status != tool.Completed || json.Unmarshal(o.Metadata, &m) != nil || m.Todos == nil {
		return
	}
	d.open, d.fresh = nil, now
	for _, t := range *m.Todos {
		if t.Status == "pending" || t.Status == "in_progress" {
			d.open = append(d.open, t.Content)
		}
	}
}

// opaque reports that something ran of which nobody knows what it did.
func (d deeds) opaque() bool {
	return slices.ContainsFunc(d.all, func(x deed) bool { return x.opaque })
}

// sameFile reports names of which one is the end of the other, folder by folder.
func sameFile(a, b string) bool {
	a, b = path.Clean("/"+strings.TrimPrefix(a, "./")), path.Clean("/"+strings.TrimPrefix(b, "./"))
	return a == b || strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}

func anySame(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return sameFile(s, name) })
}

// simple are the simple commands of a shell text, as words. It only guesses: quotes are not read.
func simple(text string) (out [][]string) {
	split := func(r rune) bool { return strings.ContainsRune(";|&\n()", r) }
	text = strings.NewReplacer("2>&1", "", "&>", ">").Replace(text)
	for part := range strings.FieldsFuncSeq(text, split) {
		words := strings.Fields(part)
		for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "time" || words[0] == "env") {
			words = words[1:]
		}
		if len(words) > 0 {
			words[0] = path.Base(words[0])
			out = append(out, words)
		}
	}
	return out
}
