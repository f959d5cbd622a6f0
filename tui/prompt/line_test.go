package prompt

import (
	"strings"
	"testing"

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
