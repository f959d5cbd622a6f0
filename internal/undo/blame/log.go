package blame

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"

	"adze/session"
	"adze/tool"
)

// Paths are the values that a Log reads of an entry, in this order.
func Paths() []string {
	return []string{"$.role", "$.note", "$.own", "$.summary", "$.parts[0].text", "$.status", "$.call", "$.tool", "$.metadata.path", "$.metadata.diff",
		"$.metadata.created", "$.record.message", "$.record.agent", "$.record.args.command", "$.undo.changes", "$.id", "$.to"}
}

// Types are the entries that a Log reads.
func Types() []session.EntryType {
	return []session.EntryType{session.MessageEntry, session.OutcomeEntry, session.RewindEntry, session.ImportEntry}
}

// pickedValues is the values at Paths.
type pickedValues struct {
	role                            session.Role
	note, summary, created          any
	own, text                       string
	status                          tool.Status
	call                            tool.CallID
	tool, path, diff                string
	message, agent, command, id, to string
	changes                         []session.FileChange
}

// UnmarshalJSON reads the array that a scan with Paths yields.
func (p *pickedValues) UnmarshalJSON(raw []byte) error {
	into := []any{&p.role, &p.note, &p.own, &p.summary, &p.text, &p.status, &p.call, &p.tool, &p.path, &p.diff, &p.created, &p.message, &p.agent, &p.command, &p.changes, &p.id, &p.to}
	return json.Unmarshal(raw, &into)
}

// Log gathers what calls did to one file. Names are what it may be called: relative to the folder
// of the sessions, and absolute.
type Log struct {
	Names     []string
	Elsewhere bool // what is added happened in another work tree

	changes []Change
	turns   []*turn // of each change
	session session.ID
	open    []*turn // of the session, those that were taken back not counted
}

// turn is one that a user began.
type turn struct {
	message, prompt string
	number          int // if 0, it was taken back, or nobody began it
}

// Add takes the next entry, of Types and with the values at Paths as its data. Entries of one
// session come one after the other, in the order of its log. What cannot be read changed nothing
// that is known.
func (l *Log) Add(id session.ID, e session.Entry) {
	if id != l.session {
		l.session, l.open = id, nil
	}
	var p pickedValues
	if json.Unmarshal(e.Data, &p) != nil {
		return
	}
	if e.Type == session.MessageEntry {
		if p.role == session.User && p.own == "" && !is(p.note) && !is(p.summary) {
			l.open = append(l.open, &turn{p.id, session.TitleOf(p.text), len(l.open) + 1})
		}
		return
	}
	switch e.Type {
	case session.RewindEntry:
		l.rewind(p.to)
		return
	case session.ImportEntry: // what was read from a file did not happen here
		for n := len(l.changes); n > 0 && l.changes[n-1].Session == id; n-- {
			l.changes, l.turns = l.changes[:n-1], l.turns[:n-1]
		}
		return
	}
	c := Change{Session: id, Message: p.message, Call: p.call, Tool: p.tool, Agent: p.agent, Command: p.command, Time: e.Time, Elsewhere: l.Elsewhere}
	touched := l.named(p.path) && p.diff != ""
	if touched {
		c.Diff, c.Created = p.diff, is(p.created)
	}
	for _, f := range p.changes {
		if !f.Git && l.named(f.Path) && f.Before != f.After {
			touched = true
			c.Before, c.After, c.Created = f.Before.SHA256, f.After.SHA256, f.Before.Kind == "absent"
		}
	}
	if touched {
		at := &turn{}
		if len(l.open) > 0 {
			at = l.open[len(l.open)-1]
		}
		l.changes, l.turns = append(l.changes, c), append(l.turns, at)
	}
}

// rewind takes turns back; what they did to files stays done.
func (l *Log) rewind(to string) {
	at := slices.IndexFunc(l.open, func(t *turn) bool { return t.message == to })
	if at < 0 {
		return
	}
	for _, t := range l.open[at:] {
		t.number = 0
	}
	l.open = l.open[:at]
}

// is reads what SQLite makes of true.
func is(v any) bool { return v == true || v == 1.0 }

func (l *Log) named(name string) bool {
	return name != "" && slices.Contains(l.Names, path.Clean(filepath.ToSlash(name)))
}

// Changes are those of the file, oldest first. A copied session tells again what was done before:
// once is enough.
func (l *Log) Changes() (out []Change) {
	sorted := slices.Clone(l.changes)
	for i, t := range l.turns {
		sorted[i].Turn, sorted[i].Prompt = t.number, t.prompt
	}
	slices.SortStableFunc(sorted, func(a, b Change) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Session, b.Session)) })
	for _, c := range sorted {
		again := slices.ContainsFunc(out, func(o Change) bool {
			return o.Time.Equal(c.Time) && o.Call == c.Call && o.Message == c.Message && o.Diff == c.Diff && o.After == c.After
		})
		if !again {
			out = append(out, c)
		}
	}
	return out
}
