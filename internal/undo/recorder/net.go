package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"adze/internal/files/diff"
	"adze/internal/undo"
	"adze/session"
)

// A Net is a file's net change.
type Net struct {
	Path          string
	Before, After undo.Kind
	Mode          uint32 // permission bits before
	Diff          string // unified; Note holds the rest
	Note          string
}

// Limits of the net changes: number of diffs, and bytes of each side.
const (
	mostNet     = 300
	mostNetText = 1 << 20
)

// ErrUnchanged means no call could have changed a file yet.
var ErrUnchanged = errors.New("no call of this session could change a file")

// ErrNotCompared means the folder, such as a home, is too wide: only files named by calls are
// stored, and states are not comparable.
var ErrNotCompared = errors.New("this folder is too wide to be compared as a whole; these are the changes of each call")

// Net compares the present files with those before the session's first call that could change some,
// or with turn before the newest such turn's first call. It returns each change once, sorted by
// path, whoever made it.
func (d Manager) Net(ctx context.Context, turn bool) ([]Net, error) {
	if d.Files.Named() {
		return nil, ErrNotCompared
	}
	past, err := d.History(ctx)
	if err != nil {
		return nil, err
	}
	from, ok := past.first(d.Root, turn)
	if !ok {
		return nil, ErrUnchanged
	}
	before, err := undo.ParseMark(from.Mark)
	if err != nil {
		return nil, err
	}
	now, err := d.present(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := d.Files.Diff(ctx, before, now)
	if err != nil {
		return nil, fmt.Errorf("the files as they were are not kept any more: %w", err)
	}
	var out []Net
	for _, c := range changes {
		shows := func(k undo.Kind) bool { return k == undo.File || k == undo.Symlink }
		if c.Group != undo.GroupFiles || !shows(c.Before.Kind) && !shows(c.After.Kind) {
			continue
		}
		out = append(out, d.net(c, len(out) < mostNet))
	}
	slices.SortStableFunc(out, func(a, b Net) int { return strings.Compare(a.Path, b.Path) })
	return out, ctx.Err()
}

// first returns the state before the session's first call, or that of its newest turn with one.
func (p *History) first(root string, newest bool) (from session.State, ok bool) {
	for _, t := range p.Turns {
		begun := false
		for _, w := range t.Windows {
			if w.Before.Root != root || len(w.Before.Only) > 0 {
				continue
			}
			if !ok || newest && !begun || begun && w.Before.Time < from.Time {
				from, ok = w.Before, true
			}
			begun = newest
		}
	}
	return from, ok
}

func (d Manager) net(c undo.Change, show bool) Net {
	n := Net{Path: c.Path, Before: c.Before.Kind, After: c.After.Kind, Mode: c.Before.Mode}
	before, ok := d.side(c.Path, c.Before)
	after, too := d.side(c.Path, c.After)
	both := c.Before.Kind == undo.File && c.After.Kind == undo.File
	if both && c.Before.Mode != c.After.Mode {
		n.Note = fmt.Sprintf("mode %o → %o", c.Before.Mode, c.After.Mode)
	}
	switch {
	case both && c.Before.Hash == c.After.Hash:
	case c.Before.Kind == undo.Symlink || c.After.Kind == undo.Symlink:
		n.Note = "link to " + strings.Trim(c.Before.Target+" → "+c.After.Target, " →")
	case !show:
		n.Note = "too many files to show a diff of each"
	case !ok || !too:
		n.Note = "not a text, or too large"
	default:
		if n.Diff = diff.Unified(before, after).Text; n.Diff == "" {
			n.Note = "an empty file"
		}
	}
	return n
}

// side returns a text file's content for a diff.
func (d Manager) side(path string, e undo.Entry) (diff.Side, bool) {
	if e.Kind == undo.Absent {
		return diff.Side{}, true
	}
	if e.Kind != undo.File || e.Size > mostNetText {
		return diff.Side{}, false
	}
	text, ok := textOf(d.Files, e)
	return diff.Side{Name: path, Text: text}, ok
}

// textOf returns a file's content if it is text.
func textOf(files *undo.Workspace, e undo.Entry) (string, bool) {
	content, err := files.Content(e.Hash)
	return string(content), err == nil && utf8.Valid(content) && bytes.IndexByte(content, 0) < 0
}
