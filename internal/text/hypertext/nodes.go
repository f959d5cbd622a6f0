package hypertext

import (
	"html"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"adze/internal/text/highlight"
	"adze/internal/text/markdown"
	"adze/internal/text/safeterm"
)

// safeWriter writes texts of a document without what is hidden in them.
type safeWriter struct{}

// Write writes words, whose entities and escapes are read.
func (safeWriter) Write(w util.BufWriter, source []byte) {
	source = util.UnescapePunctuations(source)
	source = util.ResolveEntityNames(util.ResolveNumericReferences(source))
	words(w, string(source), safeterm.Clean)
}

// RawWrite writes code of a line.
func (safeWriter) RawWrite(w util.BufWriter, source []byte) {
	words(w, string(source), safeterm.Reveal)
}

// SecureWrite writes HTML of others as text.
func (s safeWriter) SecureWrite(w util.BufWriter, source []byte) { s.RawWrite(w, source) }

// words writes a text between the places of remarks, which stay.
func words(w util.BufWriter, source string, clean func(string) safeterm.Text) {
	for source != "" {
		at := strings.IndexFunc(source, func(r rune) bool { return markdown.RemarkOf(r) > 0 })
		if at < 0 {
			at = len(source)
		}
		_, _ = w.WriteString(html.EscapeString(clean(markdown.Signless(source[:at])).String()))
		if source = source[at:]; source != "" {
			place := len("\uFDD0")
			_, _ = w.WriteString(source[:place])
			source = source[place:]
		}
	}
}

// nodes writes what goldmark's own renderer would write otherwise: code with its colours, links
// with their addresses beside their texts, and HTML as text.
type nodes struct{ Options }

// Extend implements goldmark.Extender.
func (n *nodes) Extend(m goldmark.Markdown) {
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(n, 100)))
}

// RegisterFuncs implements renderer.NodeRenderer.
func (n *nodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, n.heading)
	r.Register(ast.KindFencedCodeBlock, n.codeBlock)
	r.Register(ast.KindCodeBlock, n.codeBlock)
	r.Register(ast.KindHTMLBlock, n.htmlBlock)
	r.Register(ast.KindRawHTML, n.rawHTML)
	r.Register(ast.KindLink, n.link)
	r.Register(ast.KindImage, n.link)
	r.Register(ast.KindAutoLink, n.autoLink)
	r.Register(extast.KindTable, n.table)
	r.Register(extast.KindTableCell, n.cell)
	r.Register(extast.KindTaskCheckBox, n.task)
}

// heading writes h3 to h6. On a page the level is a class: an answer may begin with any level, and
// a page must not skip one.
func (n *nodes) heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := node.(*ast.Heading).Level
	tag, class := "h"+strconv.Itoa(min(6, level+2)), ""
	if n.Page {
		tag, class = "h3", ` class="level`+strconv.Itoa(level)+`"`
	}
	if entering {
		_, _ = w.WriteString("<" + tag + class + ">")
	} else {
		_, _ = w.WriteString("</" + tag + ">\n")
	}
	return ast.WalkContinue, nil
}

func (n *nodes) codeBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		name := ""
		if fenced, is := node.(*ast.FencedCodeBlock); is {
			name = string(fenced.Language(source))
		}
		b := &writer{Options: n.Options}
		b.code(highlight.Named(name), name, strings.TrimSuffix(string(node.Lines().Value(source)), "\n"))
		_, _ = w.WriteString(b.String())
	}
	return ast.WalkSkipChildren, nil
}

func (n *nodes) htmlBlock(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		block := node.(*ast.HTMLBlock)
		text := string(block.Lines().Value(source))
		if block.HasClosure() {
			text += string(block.ClosureLine.Value(source))
		}
		_, _ = w.WriteString("<pre>" + Plain(strings.TrimSuffix(text, "\n")) + "</pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

func (n *nodes) rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		safeWriter{}.Write(w, node.(*ast.RawHTML).Segments.Value(source))
	}
	return ast.WalkSkipChildren, nil
}

// link writes the address behind the text, so that nobody is led elsewhere than they read.
func (n *nodes) link(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	at, before := "", ""
	switch node := node.(type) {
	case *ast.Link:
		at = string(node.Destination)
	case *ast.Image:
		at, before = string(node.Destination), "image: "
	}
	same := false
	if text, is := node.FirstChild().(*ast.Text); is && node.ChildCount() == 1 {
		same = string(text.Segment.Value(source)) == at
	}
	switch {
	case entering && same:
		_, _ = w.WriteString(before + n.address(at))
		return ast.WalkSkipChildren, nil
	case entering:
		_, _ = w.WriteString(before)
	case !same:
		_, _ = w.WriteString(" (" + n.address(at) + ")")
	}
	return ast.WalkContinue, nil
}

func (n *nodes) autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(n.address(string(node.(*ast.AutoLink).Label(source))))
	}
	return ast.WalkSkipChildren, nil
}

// address is a link where it leads to the web, and text where it does not.
func (o Options) address(at string) string {
	web := strings.HasPrefix(at, "https://") || strings.HasPrefix(at, "http://")
	if !web || strings.ContainsFunc(at, func(r rune) bool { return r <= ' ' || r == '"' || r == '<' || r == '>' || r == '\\' }) {
		return Words(at)
	}
	beside := ""
	if o.Page {
		beside = `target="_blank" `
	}
	return `<a rel="noreferrer noopener" ` + beside + `href="` + Plain(at) + `">` + Plain(at) + "</a>"
}

func (n *nodes) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		b := &writer{Options: n.Options}
		b.open("div", ` class="wide"`)
		_, _ = w.WriteString(b.String() + "<table>\n")
	} else {
		_, _ = w.WriteString("</table></div>\n")
	}
	return ast.WalkContinue, nil
}

func (n *nodes) cell(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	tag, class := "td", ""
	if node.Parent().Kind() == extast.KindTableHeader {
		tag = "th"
	}
	if to := node.(*extast.TableCell).Alignment; to == extast.AlignRight || to == extast.AlignCenter {
		class = ` class="` + to.String() + `"`
	}
	if entering {
		_, _ = w.WriteString("<" + tag + class + ">")
	} else {
		_, _ = w.WriteString("</" + tag + ">")
	}
	return ast.WalkContinue, nil
}

func (n *nodes) task(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case !entering:
	case node.(*extast.TaskCheckBox).IsChecked:
		_, _ = w.WriteString(`<span class="task done" role="img" aria-label="done">☑</span> `)
	default:
		_, _ = w.WriteString(`<span class="task" role="img" aria-label="to do">☐</span> `)
	}
	return ast.WalkContinue, nil
}
