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

// Paths returns the values a Log reads from an entry, in order.
func Paths() []string {
	return []string{"$.role", "$.note", "$.own", "$.summary", "$.parts[0].text", "$.status", "$.call", "$.tool", "$.metadata.path", "$.metadata.diff",
		"$.metadata.created", "$.record.message", "$.record.agent", "$.record.args.command", "$.undo.changes", "$.id", "$.to"}
}

// Types returns the entry types a Log reads.
func Types() []session.EntryType {
	return []session.EntryType{session.MessageEntry, session.OutcomeEntry, session.RewindEntry, session.ImportEntry}
}

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

// UnmarshalJSON decodes the array returned by a scan with Paths.
func (p *pickedValues) UnmarshalJSON(raw []byte) error {
	into := []any{&p.role, &p.note, &p.own, &p.summary, &p.text, &p.status, &p.call, &p.tool, &p.path, &p.diff, &p.created, &p.message, &p.agent, &p.command, &p.changes, &p.id, &p.to}
	return json.Unmarshal(raw, &into)
}

// A Log collects the calls' changes to one file. Names are the file's possible names: relative to
// the sessions' folder, and absolute.
type Log struct {
	Names         []string
	OtherWorktree bool // the following entries come from another worktree

	changes []Change
	turns   []*turn // of each change
	session session.ID
	open    []*turn // of the session, without reverted ones
}

// turn is a turn started by a user.
type turn struct {
	message, prompt string
	number          int // 0 if reverted or not started by a user
}

// Add adds the next entry, which must have one of Types and the values at Paths as its data. A
// session's entries must be added in the log's order, without others in between. Unreadable entries
// are ignored.
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
	case session.ImportEntry: // imported entries did not happen here
		for n := len(l.changes); n > 0 && l.changes[n-1].Session == id; n-- {
			l.changes, l.turns = l.changes[:n-1], l.turns[:n-1]
		}
		return
	}
	c := Change{Session: id, Message: p.message, Call: p.call, Tool: p.tool, Agent: p.agent, Command: p.command, Time: e.Time, OtherWorktree: l.OtherWorktree}
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

// rewind reverts turns. Their changes to files remain.
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

// is accepts both true and SQLite's 1.
func is(v any) bool { return v == true || v == 1.0 }

func (l *Log) named(name string) bool {
	return name != "" && slices.Contains(l.Names, path.Clean(filepath.ToSlash(name)))
}

// Changes returns the file's changes, oldest first, without the duplicates of copied sessions.
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
