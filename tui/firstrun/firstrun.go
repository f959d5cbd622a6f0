// Package firstrun is the setup screen for a user without a model: detected providers and next
// steps.
//
// The one rule: it only displays and selects; the caller carries out a step.
//
// Start reading at Offer, then Screen.Render. key.go is the input line for a key.
//
// Known limits: none known.
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

// Offer describes the setup screen: detected providers and next steps.
type Offer struct {
	Version string // adze version
	// Problem explains in one line why no model is available.
	Problem string
	// Initial is drawn at once, without any lookup.
	Initial Setup
	// Look detects providers. It is called in the background when the screen opens, and again on
	// request.
	Look func(ctx context.Context) (Setup, error)
	// Keys lists the providers whose keys Keep checks and stores; it returns the place. If empty,
	// keys are not accepted.
	Keys []KeyOf
	// KeepAddress stores a server's address and returns the place.
	KeepAddress func(ctx context.Context, address string) (where string, err error)
	Keep        func(ctx context.Context, provider, key string) (where string, err error)
}

// KeyOf is a provider that needs a key, and the page to get one, which may be empty.
type KeyOf struct{ Provider, Page string }

// Setup holds the detected providers and possible steps.
type Setup struct {
	Steps    []Step // most likely first
	Findings []Finding
}

// Step is a next step.
type Step struct {
	// Do is the step: a shell command or a word.
	Do    string
	Means string
	// Next is the action for a choice; with the zero value, Do is copied for a shell.
	Next api.Next
	// Key means that the step asks for a key; an empty Provider means that the user chooses one.
	Key      bool
	Provider string
	// Address means that the step asks for a server's address.
	Address bool
	// Look repeats the detection; List lists the models.
	Look, List bool
}

// Finding is one detected fact.
type Finding struct {
	State FindingState
	Name  string
	Text  string
}

// FindingState classifies a finding.
type FindingState uint8

// Finding states.
const (
	Fact    FindingState = iota // neutral
	Usable                      // could provide a model
	Missing                     // something is missing
)

// Screen is the setup screen. It replaces the conversation.
type Screen struct {
	Offer
	theme    *draw.Theme
	keys     Labels
	found    Setup
	selected int    // index in steps
	entry    *entry // nil unless a key is being entered
	top      int
	follow   bool // scroll to the selected step
	h        int  // window height when last drawn
	total    int  // row count when last drawn
	looking  bool
	failed   string
}

// lookTime limits a detection, because the user waits for it.
const lookTime = 10 * time.Second

// Labels name the screen's keys.
type Labels struct{ Give, Back, Up, Down string }

// New returns a screen, or nil if f is nil.
func New(f *Offer, t *draw.Theme, keys Labels) *Screen {
	if f == nil {
		return nil
	}
	return &Screen{Offer: *f, theme: t, keys: keys, found: f.Initial}
}

// steps returns the detected steps and those always available.
func (f *Screen) steps() []Step {
	return append(slices.Clip(f.found.Steps), Step{Do: "list the models", Means: "and why others cannot be used", List: true},
		Step{Do: "look again", Means: "after a change", Look: true})
}

// Redetect repeats the detection and selects the first step.
func (f *Screen) Redetect() tea.Cmd {
	f.selected = 0
	return f.Search()
}

// Search runs the detection in the background, once at a time.
func (f *Screen) Search() tea.Cmd {
	if f.looking || f.Look == nil {
		return nil
	}
	f.looking, f.failed = true, ""
	return async.Try(func() (Setup, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookTime)
		defer cancel()
		return f.Look(ctx)
	}, f.looked)
}

// looked handles the result.
func (f *Screen) looked(found Setup, err error) tea.Cmd {
	f.looking = false
	if err != nil {
		f.failed = err.Error()
		return nil
	}
	chosen := ""
	if f.selected > 0 {
		chosen = f.steps()[f.selected].Do
	}
	f.found, f.selected = found, 0
	for i, s := range f.steps() {
		if s.Do == chosen {
			f.selected = i // keep the user's selection
		}
	}
	return nil
}

// Render draws the steps above the findings, beginning at the scroll position.
func (f *Screen) Render(w, h int) (rows []draw.Row, x, y int) {
	t := f.theme
	head := t.Pen().Fixed(draw.Heading, "adze").Put(draw.Dim, safeterm.Name(" "+f.Version)).Fixed(draw.Plain, "  ")
	rows = t.Wrap(nil, w, draw.Margins{First: head.Done()}, draw.Span{Style: draw.Warn, Text: safeterm.Name(f.Problem)})
	if f.entry != nil {
		own, x, y := f.entry.rows(t, w, f.keys)
		at := len(rows)
		if over := at + len(own) - h; over > 0 && over <= at { // the input line stays visible
			rows, at = rows[over:], at-over
		}
		return append(rows, own...), x, at + y
	}
	rows = append(rows, ui.Title(t, w, "what to do next"))
	var from, to int // rows of the selected step
	for i, s := range f.steps() {
		before := len(rows)
		if rows = f.step(rows, s, i == f.selected, w); i == f.selected {
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
	if f.follow { // the window's last row shows the position
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
	margins := draw.Margins{First: t.Pen().Fixed(draw.Accent, mark).Done(), Continuation: t.Pen().Pad(4).Done()}
	return t.Wrap(rows, w, margins, draw.Span{Style: style, Text: safeterm.Name(s.Do)},
		draw.Span{Style: draw.Dim, Text: safeterm.Name("  – " + s.Means)})
}

// findingColumn is the column of a finding's text.
const findingColumn = 17

func (f *Screen) finding(rows []draw.Row, x Finding, w int) []draw.Row {
	t := f.theme
	mark := map[FindingState]string{Fact: "· ", Usable: "✓ ", Missing: "– "}[x.State]
	style := map[FindingState]draw.Style{Fact: draw.Dim, Usable: draw.Good, Missing: draw.Dim}[x.State]
	first := t.Pen().Fixed(style, mark).Put(draw.Plain, safeterm.Name(x.Name)).Fixed(draw.Plain, " ").Pad(findingColumn).Done()
	margins := draw.Margins{First: first, Continuation: t.Pen().Pad(findingColumn).Done()}
	return t.Wrap(rows, w, margins, draw.Span{Style: draw.Plain, Text: safeterm.Name(x.Text)})
}

// window returns the visible rows; the last one shows the position.
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

// Move moves the selection and wraps around.
func (f *Screen) Move(by int) {
	n := len(f.steps())
	f.selected, f.top, f.follow = (f.selected+by+n)%n, 0, true
}

// Scroll moves the window.
func (f *Screen) Scroll(by int) { f.top, f.follow = max(min(f.top+by, f.total-f.h+1), 0), false }

// Marked returns the selected step.
func (f *Screen) Marked() Step { return f.steps()[f.selected] }
