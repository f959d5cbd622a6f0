package firstrun

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// entry is the line in which a key is written; it shows how long the key is, and nothing else of
// it.
type entry struct {
	edit.Editor
	provider string
	busy     bool
	failed   string
}

// keepTime bounds how long a provider may take to look at a key, and the user to unlock their key
// ring.
const keepTime = 30 * time.Second

// Kept is the answer of Offer.Keep.
type Kept struct {
	entry *entry
	where string
	err   error
}

// Ask opens the line for the key of a provider.
func (f *Screen) Ask(provider string) { f.entry = &entry{provider: provider} }

// Asks reports that a key is being written; the editor is where.
func (f *Screen) Asks() bool { return f.entry != nil }

// Editor is where the key is written.
func (f *Screen) Editor() *edit.Editor { return &f.entry.Editor }

// Drop forgets what was written.
func (f *Screen) Drop() { f.entry = nil }

// CanKeep says why the key cannot be given; if empty, it can.
func (f *Screen) CanKeep() string {
	switch {
	case f.entry == nil:
		return "no key is asked for"
	case f.entry.busy:
		return "the key is being checked"
	case strings.TrimSpace(f.entry.Text) == "":
		return "write or paste the key first"
	}
	return ""
}

// Give hands the key over in the background; the answer comes as Kept.
func (f *Screen) Give() tea.Cmd {
	e, key := f.entry, f.entry.Text
	e.busy, e.failed = true, ""
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), keepTime)
		defer cancel()
		where, err := f.Keep(ctx, e.provider, key)
		return Kept{e, where, err}
	}
}

// Kept takes the answer. It says where the key is; if empty, it was not taken, or the user left
// meanwhile.
func (f *Screen) Kept(k Kept) (say string) {
	k.entry.busy = false
	if k.err != nil {
		k.entry.failed = k.err.Error()
		return ""
	}
	if f.entry == k.entry {
		f.entry = nil
	}
	f.at = 0 // what can be done now stands first
	return "the key for " + k.entry.provider + " is in " + k.where
}

// rows draw the line, and say where the cursor is.
func (e *entry) rows(t *draw.Theme, w int, keys Labels) (rows []draw.Row, x, y int) {
	rows = append(rows, ui.Title(t, w, "the key for "+e.provider))
	lead := t.Pen().Fixed(draw.Key, "key: ").Done()
	room := max(w-lead.Width()-1, 1)
	n := min(utf8.RuneCountInString(e.Text[:e.At]), room)
	dots := strings.Repeat("•", min(utf8.RuneCountInString(e.Text), room))
	rows = append(rows, t.Pen().Row(lead).Put(draw.Plain, safeterm.Name(dots)).Done().Fit(w))
	say := draw.Span{Style: draw.Dim, Text: safeterm.Name(keys.Give + ": it is checked, then kept by your system or in a file that only you can read; " + keys.Back + ": back")}
	switch {
	case e.busy:
		say.Text = safeterm.Fixed("it is being checked…")
	case e.failed != "":
		say = draw.Span{Style: draw.Bad, Text: safeterm.Name("error: " + e.failed)}
	}
	return t.Wrap(rows, w, draw.Margins{}, say), lead.Width() + n, 1
}
