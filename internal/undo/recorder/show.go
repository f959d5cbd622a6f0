package recorder

import (
	"strings"

	"adze/internal/files/diff"
	"adze/internal/undo"
	"adze/session"
)

// Limits of a window's display: number of diffs, and bytes of each side.
const (
	mostDiffs = 30
	mostDiff  = 32 << 10
)

// show adds diffs to the shown changes if both sides are small texts. changes starts with those of
// shown.
func (k *Keeper) show(changes []undo.Change, shown []session.FileChange) {
	if k.o.Mask == nil {
		return
	}
	for i := range shown[:min(len(shown), mostDiffs)] {
		c := changes[i]
		before, ok := k.text(c.Before)
		if !ok || c.Group == undo.GroupGit {
			continue
		}
		after, ok := k.text(c.After)
		if !ok || before == after {
			continue
		}
		from, to := diff.Side{Name: c.Path, Text: k.o.Mask(before)}, diff.Side{Name: c.Path, Text: k.o.Mask(after)}
		if c.Before.Kind == undo.Absent {
			from.Name = ""
		}
		if c.After.Kind == undo.Absent {
			to.Name = ""
		}
		shown[i].Diff = diff.Unified(from, to).Text
	}
}

// text returns a small text file's content, or "" for an absent file.
func (k *Keeper) text(e undo.Entry) (string, bool) {
	switch {
	case e.Kind == undo.Absent:
		return "", true
	case e.Kind != undo.File || e.Size > mostDiff:
		return "", false
	}
	text, ok := textOf(k.ws, e)
	return strings.ReplaceAll(text, "\r\n", "\n"), ok
}
