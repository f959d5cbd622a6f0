// Package firstrun is the screen of who has no model yet: what was looked for, and what to do next.
//
// The one rule: it only tells and marks; where a step leads is done by who shows it.
//
// Start reading at Offer, then Screen.Render. key.go is the line in which a key is written.
//
// Known limits: none that are known.
package firstrun

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/ui"
)

// Offer is what the interface opens with when no model can be used: what was looked for, and what
// to do next.
type Offer struct {
	Version string // of adze
	// Problem says in one line why no model can be used.
	Problem string
	// Known is drawn at once: what is known without asking anybody.
	Known Found
	// Look asks. It is called in the background when the screen opens, and whenever the user
	// wants it.
	Look func(ctx context.Context) (Found, error)
	// Keys are the providers whose keys Keep checks and keeps; it says where. None: keys are not
	// taken here.
	Keys []KeyOf
	// KeepAddress keeps the address of a server of the user's own; it says where.
	KeepAddress func(ctx context.Context, address string) (where string, err error)
	Keep        func(ctx context.Context, provider, key string) (where string, err error)
}

// KeyOf is a provider that wants a key, and the page where one is had; the page may be empty.
type KeyOf struct{ Provider, Page string }

// Found is what there is, and what a user can do about it.
type Found struct {
	Steps    []Step // the most likely one first
	Findings []Finding
}

// Step is something to do next.
type Step struct {
	// Do is what it is: a command line to run, or a word.
	Do    string
	Means string
	// Next is where choosing it leads; the zero value: Do is copied, to be run in a shell.
	Next api.Next
	// Key: choosing it asks for a key. Provider is whose; if empty, the user is asked.
	Key      bool
	Provider string
	// Address: choosing it asks for the address of a server.
	Address bool
	// Look: choosing it looks again. List: it lists the models.
	Look, List bool
}

// Finding is one thing that was looked at.
type Finding struct {
	State FindingState
	Name  string
	Text  string
}

// FindingState is how it was found.
type FindingState uint8

// States of a finding.
const (
	Fact    FindingState = iota // neither good nor bad
	Usable                      // a model could be used with it
	Missing                     // something is lacking
)

// Screen is the screen of who has no model yet. It stands in place of the conversation.
type Screen struct {
	Offer
	theme   *draw.Theme
	keys    Labels
	found   Found
	at      int    // in steps
	entry   *entry // if nil, no key is being written
	top     int
	follow  bool // the marked step is to be in sight
	h       int  // of the window, as last drawn
	total   int  // rows, likewise
	looking bool
	failed  string
}

// lookTime bounds how long a look may take: the user waits for it.
const lookTime = 10 * time.Second

// Labels are how the screen names its keys.
type Labels struct{ Give, Back, Up, Down string }

// New is the screen of an offer; nil without one.
func New(f *Offer, t *draw.Theme, keys Labels) *Screen {
	if f == nil {
		return nil
	}
	return &Screen{Offer: *f, theme: t, keys: keys, found: f.Known}
}

// steps are those that were found, and what can always be done.
func (f *Screen) steps() []Step {
	return append(slices.Clip(f.found.Steps), Step{Do: "list the models", Means: "and why others cannot be used", List: true},
		Step{Do: "look again", Means: "after a change", Look: true})
}

// Again looks again and marks what can be done then.
func (f *Screen) Again() tea.Cmd {
	f.at = 0
	return f.Search()
}

// Search looks in the background, one look at a time.
func (f *Screen) Search() tea.Cmd {
	if f.looking || f.Look == nil {
		return nil
	}
	f.looking, f.failed = true, ""
	return async.Try(func() (Found, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		return f.Look(ctx)
	}, f.looked)
}

// looked takes the answer.
func (f *Screen) looked(found Found, err error) tea.Cmd {
	f.looking = false
	if err != nil {
		f.failed = err.Error()
		return nil
	}
	chosen := ""
	if f.at > 0 {
		chosen = f.steps()[f.at].Do
	}
	f.found, f.at = found, 0
	for i, s := range f.steps() {
		if s.Do == chosen {
			f.at = i // what the user marked stays marked
		}
	}
	return nil
}

// Render draws the steps above what was found, from the first row that the user scrolled to.
func (f *Screen) Render(w, h int) (rows []draw.Row, x, y int) {
	t := f.theme
	head := t.Pen().Fixed(draw.Heading, "adze").Put(draw.Dim, safeterm.Name(" "+f.Version)).Fixed(draw.Plain, "  ")
	rows = t.Wrap(nil, w, draw.Margins{First: head.Done()}, draw.Span{Style: draw.Warn, Text: safeterm.Name(f.Problem)})
	if f.entry != nil {
		own, x, y := f.entry.rows(t, w, f.keys)
		at := len(rows)
		if over := at + len(own) - h; over > 0 && over <= at { // what is asked stays in sight
			rows, at = rows[over:], at-over
		}
		return append(rows, own...), x, at + y
	}
	rows = append(rows, ui.Title(t, w, "what to do next"))
	var from, to int // of the marked step
	for i, s := range f.steps() {
		before := len(rows)
		if rows = f.step(rows, s, i == f.at, w); i == f.at {
			from, to = before, len(rows)
		}
	}
	what := "what was found"
	if f.looking {
		what += " · looking…"
	}
	rows = append(rows, draw.Row{}, ui.Title(t, w, what))
	if f.failed != "" {
		rows = t.Wrap(rows, w, draw.Margins{}, draw.Span{Style: draw.Bad, Text: safeterm.Name("error: " + f.failed)})
	}
	for _, x := range f.found.Findings {
		rows = f.finding(rows, x, w)
	}
	if f.follow { // the last row of the window says where it is
		f.top = min(max(f.top, to-h+1), from)
	}
	return f.window(rows, w, h), -1, -1
}

func (f *Screen) step(rows []draw.Row, s Step, here bool, w int) []draw.Row {
	mark, style := "  ", draw.Plain
	if here {
		mark, style = "▸ ", draw.Bold
	}
	t := f.theme
	margins := draw.Margins{First: t.Pen().Fixed(draw.Accent, mark).Done(), Rest: t.Pen().Pad(4).Done()}
	return t.Wrap(rows, w, margins, draw.Span{Style: style, Text: safeterm.Name(s.Do)},
		draw.Span{Style: draw.Dim, Text: safeterm.Name("  – " + s.Means)})
}

// findingColumn is where what was found begins.
const findingColumn = 17

func (f *Screen) finding(rows []draw.Row, x Finding, w int) []draw.Row {
	t := f.theme
	mark := map[FindingState]string{Fact: "· ", Usable: "✓ ", Missing: "– "}[x.State]
	style := map[FindingState]draw.Style{Fact: draw.Dim, Usable: draw.Good, Missing: draw.Dim}[x.State]
	first := t.Pen().Fixed(style, mark).Put(draw.Plain, safeterm.Name(x.Name)).Fixed(draw.Plain, " ").Pad(findingColumn).Done()
	margins := draw.Margins{First: first, Rest: t.Pen().Pad(findingColumn).Done()}
	return t.Wrap(rows, w, margins, draw.Span{Style: draw.Plain, Text: safeterm.Name(x.Text)})
}

// window cuts out what is shown; a last row says how much is not.
func (f *Screen) window(rows []draw.Row, w, h int) []draw.Row {
	f.h, f.total = h, len(rows)
	if len(rows) <= h {
		f.top = 0
		return rows
	}
	f.top = max(min(f.top, len(rows)-h+1), 0)
	end := f.top + h - 1
	where := fmt.Sprintf("rows %d–%d of %d (%s, %s)", f.top+1, end, len(rows), f.keys.Up, f.keys.Down)
	return append(rows[f.top:end:end], f.theme.Line(draw.Dim, safeterm.Name(where)).Fit(w))
}

// Move marks another step; the first follows the last.
func (f *Screen) Move(by int) {
	n := len(f.steps())
	f.at, f.top, f.follow = (f.at+by+n)%n, 0, true
}

// Scroll moves the window.
func (f *Screen) Scroll(by int) { f.top, f.follow = max(min(f.top+by, f.total-f.h+1), 0), false }

// Marked is the step that enter does.
func (f *Screen) Marked() Step { return f.steps()[f.at] }
