// Package hypertext writes answers in Markdown, code, changes and the blocks of calls as HTML, as
// package draw shows them in a terminal.
//
// The one rule: foreign text goes through escape alone, and every tag and attribute is a constant
// of this package. The address of a link is the exception: it leads to the web and is escaped. So
// no text becomes markup, whoever wrote it.
//
// Start reading at Options.Blocks, then prose.go (Markdown), stream.go (Markdown that arrives in
// pieces), code.go, diff.go and output.go. The classes are those that the sheets of the page of
// adze serve and of an exported session colour.
//
// Known limits: those of package markdown.
package hypertext

import (
	"html"
	"strings"

	"adze/internal/text/safeterm"
)

// Options say how it is written. The zero value is for a page without a script.
type Options struct {
	// Page is for one with a script: code has a button that copies it, the middle of what is long is
	// folded, the keyboard reaches what scrolls, and links open beside it.
	Page bool
}

// Mark is a remark about a clause of an answer. Text stands behind Quote; Against says that it
// contradicts it.
type Mark struct {
	Quote, Text string
	Against     bool
}

// writer is HTML that grows.
type writer struct {
	strings.Builder
	Options
}

// escape writes a text that is safe to be seen.
func (w *writer) escape(t safeterm.Text) { w.WriteString(html.EscapeString(t.String())) }

// open writes a tag whose element may scroll.
func (w *writer) open(tag, attributes string) {
	w.WriteString("<" + tag + attributes)
	if w.Page {
		w.WriteString(` tabindex="0"`)
	}
	w.WriteString(">")
}

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
