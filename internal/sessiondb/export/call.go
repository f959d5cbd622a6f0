package export

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"adze/internal/text/redact"
	"adze/session"
	"adze/tool"
)

// learn collects outcomes, and secrets from the log itself: values in secret files calls read.
func (g *gatherer) learn(e session.Entry) {
	if e.Type != session.OutcomeEntry {
		return
	}
	var o tool.Outcome
	if json.Unmarshal(e.Data, &o) != nil {
		return
	}
	if g.outcomes == nil {
		g.outcomes = map[key]storedOutcome{}
	}
	g.outcomes[key{o.Record.Message, o.Call}] = storedOutcome{o, e.Time}
	for _, name := range touched(o) {
		if dir, base := filepath.Split(name); redact.File(dir, base) {
			g.scrub.learn(redact.In(base, unnumbered(o.Output)))
		}
	}
}

// touched returns the names of files a call may have read: its needs, and a command's words.
func touched(o tool.Outcome) (names []string) {
	for _, n := range o.Record.Needs {
		names = append(names, n.Target)
		if n.Permission == tool.Execute {
			names = append(names, strings.FieldsFunc(n.Target, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;&|<>()=,:@", r) })...)
		}
	}
	return names
}

func unnumbered(output string) string {
	return regexp.MustCompile(`(?m)^\s*\d+(?:\t|:| {1,2})`).ReplaceAllString(output, "")
}

// call returns the exported part of a call. name is the model's name for the tool; the outcome's is
// preferred.
func (g *gatherer) call(k key, name string) *Call {
	c := &Call{ID: tool.CallID(cmp.Or(g.scrub.name(string(k.call)), "call"))}
	o, known := g.outcomes[k]
	if known {
		name = o.Tool
		c.Status, c.Time, c.Duration = o.Status, o.at, o.Duration
		if !ends(c.Status) {
			c.Status = tool.Failed
		}
		if o.Output != NoOutput {
			g.leave("output", len(o.Output))
		}
		for _, a := range o.Attachments {
			g.leave("picture or document that a call gave the model", len(a.Data))
		}
	}
	c.Tool = cmp.Or(g.scrub.name(name), "?")
	if g.options.Tools == nil || !known {
		return c
	}
	def, ok := g.options.Tools.Get(name)
	if !ok {
		if len(o.Record.Args) > len(`{}`) || len(o.Metadata) > len(`{}`) {
			g.leave("call of a tool that is not known here, all but its name", 0)
		}
		return c
	}
	c.Code = g.scrub.name(o.Code)
	c.Arguments = g.scrub.fields(g.options.Tools.Redact(name, o.Record.Args))
	c.Metadata = g.scrub.fields(g.options.Tools.Redact(name, o.Metadata))
	c.Changed = g.scrub.names(o.Changed)
	c.Heading = g.scrub.name(tool.HeadingOr(o.Heading, name, "", g.options.Tools.Redact(name, o.Record.Args)).String())
	if writes(def) {
		c.Diff = g.diff(o.Metadata)
	}
	return c
}

// ends reports whether a call can end with this status.
func ends(s tool.Status) bool {
	return slices.Contains([]tool.Status{tool.Completed, tool.Failed, tool.Invalid, tool.Denied, tool.Aborted}, s)
}

// writes reports whether a tool changes files itself, and so has a diff in its metadata.
func writes(d tool.Definition) bool {
	return slices.Contains(d.Permissions.Required, tool.Write) || slices.Contains(d.Permissions.Optional, tool.Write)
}

// diff returns a call's change of a file, or "" for a secret file.
func (g *gatherer) diff(metadata json.RawMessage) string {
	var m struct{ Path, Diff string }
	if json.Unmarshal(metadata, &m) != nil || m.Diff == "" {
		return ""
	}
	dir, base := path.Split(filepath.ToSlash(m.Path))
	if redact.File(dir, base) {
		g.leave("difference of a file that is known for its secrets", len(m.Diff))
		return ""
	}
	return g.scrub.code(m.Diff)
}
