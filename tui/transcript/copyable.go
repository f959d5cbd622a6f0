package transcript

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
	"adze/tui/ui"
)

// copyable is a part of the conversation to copy.
type copyable struct {
	Kind              string // answer, code or result
	Label, Note, Text string
}

// maxCopyables limits the list, newest first.
const maxCopyables = 60

// Copyables returns answers, their code blocks, and call results.
func (t *Pane) Copyables() []copyable {
	var out []copyable
	for i := len(t.entries) - 1; i >= 0 && len(out) < maxCopyables; i-- {
		switch e := t.entries[i].(type) {
		case *proseEntry:
			if text := strings.TrimSpace(e.String()); !e.reasoning && text != "" {
				out = append(out, copyable{"answer", "answer", head(text), text})
				code := codeBlocks(text)
				for n, c := range slices.Backward(code) {
					what := fmt.Sprintf("code %d of %d", n+1, len(code))
					if c.lang != "" {
						what += " " + c.lang
					}
					out = append(out, copyable{"code", what, head(c.text), c.text})
				}
			}
		case *callEntry:
			if text := e.text(t.draw); text != "" {
				out = append(out, copyable{"result", ui.Shorten(e.head().String()), "", text})
			}
		}
	}
	return out
}

// head returns the first nonblank line.
func head(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return ui.Shorten(strings.TrimSpace(first))
}

// text returns the call's result as plain text.
func (e *callEntry) text(d *ui.Drawing) string {
	if e.outcome == nil {
		return ""
	}
	var parts []string
	if e.metadata != nil {
		for _, b := range d.Blocks(e.name, e.metadata) {
			if b.Kind != tool.ChecklistBlock && b.Text != "" {
				parts = append(parts, b.Text)
			}
		}
	}
	if len(parts) == 0 && e.outcome.Status != tool.Completed {
		return e.outcome.Output
	}
	return strings.Join(parts, "\n")
}

// codeBlock is the text between two fences.
type codeBlock struct{ lang, text string }

// codeBlocks returns a text's complete code blocks.
func codeBlocks(text string) []codeBlock {
	var out []codeBlock
	var open []string
	fence, lang := "", ""
	for line := range strings.SplitSeq(text, "\n") {
		body := strings.TrimLeft(line, " ")
		switch {
		case fence == "" && (strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~")):
			fence, lang, open = body[:3], strings.Trim(body, "`~ "), nil
		case fence != "" && strings.HasPrefix(body, fence):
			out = append(out, codeBlock{lang, strings.Join(open, "\n")})
			fence = ""
		case fence != "":
			open = append(open, line)
		}
	}
	return out
}

// Answer returns the model's last answer, or "".
func (t *Pane) Answer() string {
	if p := t.lastAnswer(); p != nil {
		return p.String()
	}
	return ""
}
