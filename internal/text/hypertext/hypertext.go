// Package hypertext writes answers in Markdown, code, changes and the blocks of calls as HTML, as
// package draw shows them in a terminal.
//
// The one rule: foreign text goes through escape alone, and every tag and attribute is a constant
// of this package. The address of a link is the exception: it leads to the web and is escaped. So
// no text becomes markup, whoever wrote it.
//
// Start reading at Block, then prose.go (Markdown), stream.go (Markdown that arrives in pieces) and
// code.go (code, diffs and output). The classes are those that the sheets of the page of adze serve
// and of an exported session colour.
//
// Known limits: those of package markdown.
package hypertext

import (
	"html"
	"strings"

	"adze/internal/text/safeterm"
)

// Mark is a remark about a clause of an answer. Text stands behind Quote; Against says that it
// contradicts it.
type Mark struct {
	Quote, Text string
	Against     bool
}

// writer is HTML that grows.
type writer struct{ strings.Builder }

// escape writes a text that is safe to be seen.
func (w *writer) escape(t safeterm.Text) { w.WriteString(html.EscapeString(t.String())) }

// prose writes words without their hidden characters.
func (w *writer) prose(text string) { w.escape(safeterm.Clean(text)) }

// plain writes what nothing may be hidden in: code, names, commands.
func (w *writer) plain(text string) { w.escape(safeterm.Reveal(text)) }

// Escape is a text on one line as HTML, with all that is hidden in it written out.
func Escape(text string) string { return html.EscapeString(safeterm.Name(text).String()) }

// Plain is a text of several lines as HTML, with all that is hidden in it written out.
func Plain(text string) string { return html.EscapeString(safeterm.Reveal(text).String()) }

// Words is prose without marks as HTML.
func Words(text string) string { return html.EscapeString(safeterm.Clean(text).String()) }

// Output is what a command printed.
func Output(text string, total int) string {
	w := &writer{}
	w.output(text, total)
	return w.String()
}
