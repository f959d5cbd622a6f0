package overview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"adze/internal/testkit/golden"
	"adze/internal/text/safeterm"
	"adze/tui/draw"
	"adze/tui/tty"
)

// stored is a port over rows of a test. It writes down what is asked of it.
type stored struct {
	rows  []Row
	peeks map[string]Peek
	log   []string
	fails error
}

func (s *stored) port() Port {
	note := func(format string, args ...any) error {
		s.log = append(s.log, fmt.Sprintf(format, args...))
		return s.fails
	}
	return Port{
		Rows: func(_ context.Context, most int) ([]Row, bool, error) {
			return slices.Clone(s.rows[:min(most, len(s.rows))]), len(s.rows) > most, s.fails
		},
		Peek: func(_ context.Context, id string) (Peek, error) { return s.peeks[id], s.fails },
		Answer: func(_ context.Context, id, question string, a Answer) error {
			return note("answer %s %s: %+v", id, question, a)
		},
		Begin: func(_ context.Context, prompt string) (string, error) {
			return "began s9 in the background", note("begin %q", prompt)
		},
		Stop:     func(_ context.Context, id string) error { return note("stop %s", id) },
		Rename:   func(_ context.Context, id, name string) error { return note("rename %s %q", id, name) },
		Tag:      func(_ context.Context, id, tag string) error { return note("tag %s %q", id, tag) },
		Pin:      func(_ context.Context, id string, pinned bool) error { return note("pin %s %v", id, pinned) },
		Reviewed: func(_ context.Context, id string) error { return note("reviewed %s", id) },
	}
}

// player plays keys on the screen.
type player struct {
	t     *testing.T
	m     *model
	s     *stored
	rests int // how often it was waited before a look
}

func play(t *testing.T, s *stored) *player {
	t.Helper()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	p := &player{t: t, s: s}
	p.m = newModel(t.Context(), Options{Port: s.port(), Folder: "/home/ann/calc", Theme: draw.Bare(), Now: func() time.Time { return now },
		After: func(_ time.Duration, msg tea.Msg) tea.Cmd { p.rests++; return func() tea.Msg { return msg } }})
	p.run(p.m.Init())
	return p
}

// run does what a command says, and what follows from it.
func (p *player) run(c tea.Cmd) {
	if c == nil {
		return
	}
	switch msg := c().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			p.run(c)
		}
	case tea.QuitMsg:
		p.s.log = append(p.s.log, fmt.Sprintf("quit, open %+v", p.m.open))
	case nil:
	default:
		_, next := p.m.Update(msg)
		p.run(next)
	}
}

func (p *player) press(names ...string) {
	p.t.Helper()
	codes := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "right": tea.KeyRight, "space": tea.KeySpace,
		"end": tea.KeyEnd, "home": tea.KeyHome, "pgdown": tea.KeyPgDown, "f1": tea.KeyF1, "tab": tea.KeyTab, "backspace": tea.KeyBackspace}
	for _, name := range names {
		k := tea.Key{Code: codes[name]}
		if k.Code == 0 {
			k = tea.Key{Code: []rune(name)[0], Text: name}
		}
		_, cmd := p.m.Update(tea.KeyPressMsg(k))
		p.run(cmd)
	}
}

func (p *player) dump() string {
	f := p.m.Frame()
	var b strings.Builder
	for _, r := range f.Rows {
		text := ansi.Strip(r.String())
		if w := ansi.StringWidth(text); w > f.W || w != r.Width() {
			p.t.Errorf("a row of %d cells says %d, on a screen of %d: %q", w, r.Width(), f.W, text)
		}
		if clean := safeterm.Clean(text).String(); clean != text {
			p.t.Errorf("a row is not clean: %q", text)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	if len(f.Rows) != f.H {
		p.t.Errorf("%d rows on a screen of %d", len(f.Rows), f.H)
	}
	if f.Cursor {
		fmt.Fprintf(&b, "(cursor at column %d of row %d)\n", f.CursorX+1, f.CursorY+1)
	}
	fmt.Fprintf(&b, "(title: %s)\n", f.Title)
	for _, l := range p.s.log {
		b.WriteString("(" + l + ")\n")
	}
	return b.String()
}

// TestOverview draws the screen for sessions that a case lists as JSON. A case's input is one step
// a line: size WxH | press KEY... | type TEXT | rows JSON | screen NAME.
func TestOverview(t *testing.T) {
	golden.Cases(t, "../../testdata/overview", func(t *testing.T, c *golden.Case) {
		s := &stored{}
		rows, _ := c.Section("rows")
		peeks, _ := c.Section("peeks")
		if err := json.Unmarshal([]byte(rows), &s.rows); err != nil {
			t.Fatal(err)
		}
		if peeks != "" {
			if err := json.Unmarshal([]byte(peeks), &s.peeks); err != nil {
				t.Fatal(err)
			}
		}
		p := play(t, s)
		for step := range strings.SplitSeq(strings.TrimSpace(c.Input), "\n") {
			verb, rest, _ := strings.Cut(step, " ")
			switch verb {
			case "size":
				var w, h int
				if _, err := fmt.Sscanf(rest, "%dx%d", &w, &h); err != nil {
					t.Fatal(err)
				}
				p.m.Update(tea.WindowSizeMsg{Width: w, Height: h})
			case "press":
				p.press(strings.Fields(rest)...)
			case "type":
				for _, r := range rest {
					p.m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
				}
			case "screen":
				c.Demand(t, "want."+rest, p.dump())
			default:
				t.Fatalf("there is no step %q", step)
			}
		}
	})
}

func TestAnAnswerIsGivenOnce(t *testing.T) {
	s := &stored{rows: []Row{{ID: "s1", State: NeedsYou}}, peeks: map[string]Peek{"s1": {Question: &Question{ID: "q1", Lines: []string{"make"}}}}}
	p := play(t, s)
	p.press("y")
	if len(s.log) != 0 {
		t.Fatalf("a question was answered that nobody saw: %q", s.log)
	}
	p.press("space")
	answer := p.m.answer(Answer{Allow: true}) // it is on its way
	if again := p.m.answer(Answer{}); again != nil {
		t.Error("it is answered a second time")
	}
	p.run(answer)
	if len(s.log) != 1 || !strings.HasPrefix(s.log[0], "answer s1 q1") {
		t.Errorf("%q", s.log)
	}
}

// TestAQuestionThatCameMeanwhileIsNotAnswered: a key answers the question that stands on the screen.
func TestAQuestionThatCameMeanwhileIsNotAnswered(t *testing.T) {
	s := &stored{rows: []Row{{ID: "s1", State: NeedsYou, Updated: time.Unix(2, 0)}, {ID: "s2", State: NeedsYou, Updated: time.Unix(1, 0)}},
		peeks: map[string]Peek{"s1": {Question: &Question{ID: "q1"}}, "s2": {Question: &Question{ID: "q2"}}}}
	p := play(t, s)
	p.press("space")
	p.m.rowKey("down") // the look into s2 has not come back
	p.press("y")
	if len(s.log) != 0 {
		t.Errorf("%q", s.log)
	}
}

func TestFailuresAreSaid(t *testing.T) {
	s := &stored{rows: []Row{{ID: "s1", Live: true}}}
	p := play(t, s)
	s.fails = errors.New("the store is gone")
	for _, keys := range [][]string{{"space"}, {"s"}, {"p"}, {"n", "x", "enter"}, {"r", "x", "enter"}} {
		p.press(keys...)
		if !strings.Contains(p.dump(), "the store is gone") {
			t.Errorf("%q says nothing:\n%s", keys, p.dump())
		}
		p.m.note, p.m.peekErr, p.m.peeked = "", "", ""
	}
}

// TestHostileSessionsAreDrawn: names, tags and last words are anybody's.
func TestHostileSessionsAreDrawn(t *testing.T) {
	bad := "\x1b[31m日本\u202e\n\x00" + strings.Repeat("x", 5000)
	s := &stored{rows: []Row{{ID: "s1", Title: bad, Folder: bad, Doing: bad, Model: bad, Tags: []string{bad}}},
		peeks: map[string]Peek{"s1": {Said: bad, Change: bad, Question: &Question{ID: "q", Lines: []string{bad}, Choices: []string{bad, bad}}}}}
	p := play(t, s)
	p.press("space")
	for _, size := range [][2]int{{80, 24}, {40, 12}, {120, 40}, {20, 5}, {10, 3}, {1, 1}} {
		p.m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		if size[0] >= 20 {
			p.dump()
		} else {
			p.m.Frame()
		}
		p.press("r")
		p.m.Frame()
		p.press("esc")
	}
}

// TestChangesAreGathered: however often something changes, it is looked once at a time, and not again
// before a while has passed; where nothing changed meanwhile, nothing waits.
func TestChangesAreGathered(t *testing.T) {
	s := &stored{rows: []Row{{ID: "s1", State: Working}}}
	p := play(t, s)
	if p.rests != 0 {
		t.Fatal("it waits although nothing changed")
	}
	looks := 0
	rows := p.m.Port.Rows
	p.m.Port.Rows = func(ctx context.Context, most int) ([]Row, bool, error) { looks++; return rows(ctx, most) }
	_, first := p.m.Update(stirred{})
	for range 100 {
		if _, cmd := p.m.Update(stirred{}); cmd != nil {
			t.Fatal("it is looked a second time meanwhile")
		}
	}
	p.run(first)
	if looks != 2 || p.rests != 1 || p.m.looking || p.m.stale {
		t.Errorf("%d looks and %d waits for a hundred changes", looks, p.rests)
	}
}

// BenchmarkThousand is a frame with a thousand sessions in the list.
func BenchmarkThousand(b *testing.B) {
	m := newModel(b.Context(), Options{Theme: draw.Color()})
	for i := range 1000 {
		m.rows = append(m.rows, Row{ID: fmt.Sprint(i), Title: "write the parser's tests", State: Done, Updated: time.Unix(int64(i), 0)})
	}
	m.mark()
	b.ReportAllocs()
	for b.Loop() {
		m.Frame()
	}
}

// BenchmarkStir is what a change of one of twelve sessions costs the screen: a look and a frame.
func BenchmarkStir(b *testing.B) {
	s := &stored{}
	for i := range 12 {
		s.rows = append(s.rows, Row{ID: fmt.Sprint(i), Title: "write the parser's tests", Doing: "$ go test ./...", State: Working, Updated: time.Unix(int64(i), 0)})
	}
	m := newModel(b.Context(), Options{Port: s.port(), Theme: draw.Color()})
	b.ReportAllocs()
	for b.Loop() {
		m.Update(m.look()())
		m.Frame()
	}
}

// TestKeysBehindOneThatLeavesAreForTheNextInterface: nothing typed before there are rows is lost.
func TestKeysBehindOneThatLeavesAreForTheNextInterface(t *testing.T) {
	s := &stored{rows: []Row{{ID: "s1"}}}
	ahead := &tty.PendingKeys{}
	m := newModel(t.Context(), Options{Port: s.port(), Folder: "/f", Theme: draw.Bare(), Now: time.Now, PendingKeys: ahead,
		After: func(time.Duration, tea.Msg) tea.Cmd { return nil }})
	first := m.Init()
	for _, msg := range []tea.Msg{tea.KeyPressMsg{Code: 'q', Text: "q"}, tea.KeyPressMsg{Code: 'h', Text: "h"}, tea.PasteMsg{Content: "i"}} {
		m.Update(msg)
	}
	m.Update(first())
	key, _ := ahead.Next().(uv.KeyPressEvent)
	paste, _ := ahead.Next().(uv.PasteEvent)
	if key.Text != "h" || paste.Content != "i" || ahead.Next() != nil {
		t.Errorf("%+v, then %+v", key, paste)
	}
}
