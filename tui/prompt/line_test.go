package prompt

import (
	"strings"
	"testing"

	"adze/tui/draw"
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
