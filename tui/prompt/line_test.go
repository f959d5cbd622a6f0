package prompt

import (
	"strings"
	"testing"
	"time"

	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/list"
)

// TestLargePaste shows that ten megabytes neither fill the prompt nor get lost.
func TestLargePaste(t *testing.T) {
	p := New(draw.Bare(), false, nil)
	text := strings.Repeat("a line of a log\r\n", 10<<20/17)
	p.Paste(text)
	if rows, _, _ := p.Render(80, 5); len(rows) != 2 {
		t.Errorf("%d rows", len(rows))
	}
	if got := p.Take(); got.Text != strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) {
		t.Errorf("%d bytes came out of %d", len(got.Text), len(text))
	}
}

// TestRestoreAfterCommands: what comes back is the message as it was written, whatever was written
// since.
func TestRestoreAfterCommands(t *testing.T) {
	p := New(draw.Bare(), false, func(string) []list.Choice { return nil })
	p.Paste(strings.Repeat("a line\n", 20))
	p.Insert(" why?")
	written := p.Text
	sent := p.Take().Text
	for _, since := range []string{"/context", "!ls", "/rewind"} {
		p.Set(since)
		p.Clear()
	}
	if p.Restore(sent); p.Text != written {
		t.Errorf("%q came back, want %q", p.Text, written)
	}
	p.Set("more")
	if p.Restore(sent); p.Text != written+"\nmore" {
		t.Errorf("%q came back before what is being written", p.Text)
	}
	p.Set("")
	if p.Restore("an earlier one"); p.Text != "an earlier one" {
		t.Errorf("%q came back", p.Text)
	}
}

// TestFirstFilesAreShownBeforeAll: a first part is shown until all are there, never in the place of
// all, and the marked row stays marked.
func TestFirstFilesAreShownBeforeAll(t *testing.T) {
	p := New(draw.Bare(), false, nil)
	p.Set("@")
	p.Complete()
	if !p.Listed(NewListed(api.Files{Paths: []string{"b.go", "cc.go"}}, nil, true), time.Time{}) {
		t.Error("nothing more is awaited")
	}
	p.Menu.Move(1)
	if p.Listed(NewListed(api.Files{Paths: []string{"a", "b.go", "cc.go"}}, nil, false), time.Time{}) {
		t.Error("more than all is awaited")
	}
	p.Listed(NewListed(api.Files{Paths: []string{"a"}}, nil, true), time.Time{})
	if len(p.Menu.items) != 3 || p.Menu.items[p.Menu.selected].ID != "cc.go" {
		t.Errorf("row %d of %v", p.Menu.selected, p.Menu.items)
	}
}
