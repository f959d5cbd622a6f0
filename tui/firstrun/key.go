package firstrun

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/ui"
)

// entry is the input line for a key or an address. It shows only a key's length.
type entry struct {
	edit.Editor
	provider string // provider of the key; "" for an address
	page     string // where to get a key
	busy     bool
	failed   string
}

// keepTime limits the check by a provider and the unlocking of the user's key ring.
const keepTime = 30 * time.Second

// Ask opens the input line for a provider's key.
func (f *Screen) Ask(k KeyOf) { f.entry = &entry{provider: k.Provider, page: k.Page} }

// AskAddress opens the input line for a server's address.
func (f *Screen) AskAddress() { f.entry = &entry{} }

// Asks reports whether a key or an address is being entered.
func (f *Screen) Asks() bool { return f.entry != nil }

// Editor returns the input line's editor.
func (f *Screen) Editor() *edit.Editor { return &f.entry.Editor }

// Drop closes the input line and forgets its text.
func (f *Screen) Drop() { f.entry = nil }

// CanKeep returns why the key cannot be submitted, or "".
func (f *Screen) CanKeep() string {
	switch {
	case f == nil || f.entry == nil:
		return "no key is asked for now"
	case f.entry.busy:
		return "checking the key"
	case strings.TrimSpace(f.entry.Text) == "" && f.entry.provider == "":
		return "write or paste the address first"
	case strings.TrimSpace(f.entry.Text) == "":
		return "write or paste the key first"
	}
	return ""
}

// Give stores the key in the background, reports the place, and repeats the detection.
func (f *Screen) Give(say func(string)) tea.Cmd {
	e, key := f.entry, f.entry.Text
	e.busy, e.failed = true, ""
	return async.Try(func() (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), keepTime)
		defer cancel()
		keep := func() (string, error) { return f.Keep(ctx, e.provider, key) }
		if e.provider == "" {
			keep = func() (string, error) { return f.KeepAddress(ctx, strings.TrimSpace(key)) }
		}
		return keep()
	}, func(where string, err error) tea.Cmd {
		e.busy = false
		if err != nil {
			e.failed = err.Error()
			return nil
		}
		if f.entry == e {
			f.entry = nil
		}
		if e.provider == "" {
			say("the address is in " + where)
		} else {
			say("the key for " + e.provider + " is in " + where)
		}
		return f.Redetect() // selects the first possible step
	})
}

// rows draws the input line and returns the cursor position.
func (e *entry) rows(t *draw.Theme, w int, keys Labels) (rows []draw.Row, x, y int) {
	title, name, help := "the key for "+e.provider, "key: ", keys.Give+": check it, and keep it in the key ring or a file that only you can read; "+keys.Back+": back"
	if e.provider == "" {
		title, name, help = "the address of your server", "address: ", "such as http://localhost:9000/v1; "+keys.Give+": keep it in your configuration, and look for its models; "+keys.Back+": back"
	}
	rows = append(rows, ui.Title(t, w, title))
	if e.page != "" {
		rows = t.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Dim, Text: safeterm.Name("get one at ")}, draw.Span{Style: draw.Plain, Text: safeterm.Name(e.page)})
	}
	lead := t.Pen().Put(draw.Key, safeterm.Name(name)).Done()
	room := max(w-lead.Width()-1, 1)
	n := min(utf8.RuneCountInString(e.Text[:e.Cursor]), room)
	shown := strings.Repeat("•", min(utf8.RuneCountInString(e.Text), room))
	if e.provider == "" {
		shown = e.Text
	}
	y = len(rows)
	rows = append(rows, t.Pen().Row(lead).Put(draw.Plain, safeterm.Name(shown)).Done().Fit(w))
	say := draw.Span{Style: draw.Dim, Text: safeterm.Name(help)}
	switch {
	case e.busy:
		say.Text = safeterm.Fixed("checking…")
	case e.failed != "":
		say = draw.Span{Style: draw.Bad, Text: safeterm.Name("error: " + e.failed)}
	}
	return t.Wrap(rows, w, draw.Margins{}, say), lead.Width() + n, y
}
