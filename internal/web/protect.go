package web

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Placeholders for characters that the converter would wrongly escape or wrongly leave:
// noncharacters, which valid text does not contain (Unicode 23.7).
const (
	lessMark, moreMark, lineMark = '\uFDD0', '\uFDD1', '\uFDD2'
	openMark, shutMark, barMark  = '\uFDD3', '\uFDD4', '\uFDD5'
)

var unprotect = strings.NewReplacer(
	string(lessMark), "<", string(moreMark), ">", string(lineMark), "_", string(openMark), "[", string(shutMark), "]", string(barMark), `\|`,
)

var noteMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([\pL\pN]{1,4})\]`) })

// protect keeps text as displayed: a < b, snake_case and [1] outside code, and | inside code in a
// table cell, where it would end the cell.
func protect(root *html.Node) {
	for n := range root.Descendants() {
		if n.Type != html.TextNode {
			continue
		}
		switch {
		case !inside(n, atom.Pre) && !inside(n, atom.Code):
			n.Data = plainMarks(n.Data)
		case inside(n, atom.Td) || inside(n, atom.Th):
			n.Data = strings.ReplaceAll(n.Data, "|", string(barMark))
		}
	}
}

func plainMarks(text string) string {
	if !strings.ContainsAny(text, "<>_[") {
		return text
	}
	text = noteMark().ReplaceAllString(text, string(openMark)+"$1"+string(shutMark))
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '<' && !opensTag(text[i+1:]):
			r = lessMark
		case r == '>' && strings.TrimLeft(text[:i], " \t\n") != "":
			r = moreMark
		case r == '_' && withinWord(text, i):
			r = lineMark
		}
		b.WriteRune(r)
	}
	return b.String()
}

// opensTag reports whether the text after < could be read as markup.
func opensTag(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '/' || r == '!' || r == '?'
}

func withinWord(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+1:])
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	return i > 0 && i+1 < len(text) && word(before) && word(after)
}

// settleTables makes every table valid for Markdown: layout tables become blocks, and code blocks
// in cells become code lines.
func settleTables(root *html.Node) {
	var tables, blocks []*html.Node
	for n := range root.Descendants() {
		switch n.DataAtom {
		case atom.Table:
			tables = append(tables, n)
		case atom.Pre:
			blocks = append(blocks, n)
		}
	}
	for _, t := range tables {
		if laysOut(t) {
			takeApart(t)
		}
	}
	for _, pre := range blocks {
		if inside(pre, atom.Td) || inside(pre, atom.Th) {
			codeLines(pre)
		}
	}
}

// cellRunes is the cell length above which a table is taken for page layout.
const cellRunes = 800

// laysOut reports whether a table only lays out the page: one column, or cells with long text.
func laysOut(table *html.Node) bool {
	if attr(table, "role") == "presentation" || holds(table, atom.Table) {
		return true
	}
	columns, cells := 0, 0
	for n := range table.Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			columns, cells = max(columns, cells), 0
		case atom.Td, atom.Th:
			cells++
			if holds(n, atom.H1) || holds(n, atom.H2) || holds(n, atom.H3) || textOf([]*html.Node{n}) > cellRunes {
				return true
			}
		}
	}
	return max(columns, cells) <= 1
}

// takeApart converts a table to blocks. Nested tables are left alone; they are visited separately.
func takeApart(table *html.Node) {
	var own func(n *html.Node)
	own = func(n *html.Node) {
		for c := range n.ChildNodes() {
			switch c.DataAtom {
			case atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Colgroup:
				rename(c, atom.Div)
				own(c)
			}
		}
	}
	own(table)
	rename(table, atom.Div)
}

func codeLines(pre *html.Node) {
	text := &textWriter{code: true}
	text.node(pre)
	lines := strings.Split(strings.Trim(text.b.String(), "\n"), "\n")
	for i, line := range lines {
		if i > 0 {
			pre.Parent.InsertBefore(element(atom.Br), pre)
		}
		code := element(atom.Code)
		code.AppendChild(textNode(line))
		pre.Parent.InsertBefore(code, pre)
	}
	pre.Parent.RemoveChild(pre)
}
