// Package hypertext renders Markdown answers, code, diffs and tool call blocks as HTML, like
// package draw in a terminal.
//
// The one rule: foreign text is written only by escape, and every tag and attribute is a constant.
// The exception is a link's URL, which must be a web address and is escaped. So no text can become
// markup.
//
// Start reading at Block, then prose.go (Markdown), section.go (its parts) and code.go
// (code, diffs and output). The classes match the style sheets for adze serve and exported
// sessions.
//
// Known limits: those of package markdown.
package hypertext

import (
	"html"
	"strings"

	"adze/internal/text/safeterm"
)

// Mark is a remark on part of an answer. Text is placed after Quote; Against means that it
// contradicts the quote.
type Mark struct {
	Quote, Text string
	Against     bool
}

type writer struct{ strings.Builder }

func (w *writer) escape(t safeterm.Text) { w.WriteString(html.EscapeString(t.String())) }

// prose writes text without hidden characters.
func (w *writer) prose(text string) { w.escape(safeterm.Clean(text)) }

// plain writes text in which nothing may be hidden: code, names, commands.
func (w *writer) plain(text string) { w.escape(safeterm.Reveal(text)) }

// Escape renders a one-line text as HTML with hidden characters made visible.
func Escape(text string) string { return html.EscapeString(safeterm.Name(text).String()) }

// Plain renders a multi-line text as HTML with hidden characters made visible.
func Plain(text string) string { return html.EscapeString(safeterm.Reveal(text).String()) }

// Words renders prose without Markdown as HTML.
func Words(text string) string { return html.EscapeString(safeterm.Clean(text).String()) }

// Output renders a command's output.
func Output(text string, total int) string {
	w := &writer{}
	w.output(text, total)
	return w.String()
}
