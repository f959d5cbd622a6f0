package markdown

import "strings"

// Align is a table column's alignment.
type Align uint8

// The alignments.
const (
	Left Align = iota
	Right
	Center
)

// maxColumns bounds a table: more columns fit on no screen, and every row is padded to their
// number.
const maxColumns = 64

// startTable turns the open paragraph's last line into a table header if s is a delimiter row with
// as many columns.
func (p *Parser) startTable(s string) bool {
	align := delimiters(s)
	at := p.leaf.lastLine()
	if align == nil || len(align) > maxColumns || len(Cells(string(p.leaf.Text[at:]))) != len(align) {
		return false
	}
	header := string(p.leaf.Text[at:])
	if at == 0 {
		p.leaf.Kind, p.leaf.Align = Table, align
		return true
	}
	p.leaf.Text = p.leaf.Text[:at-1]
	p.finish()
	p.begin(Table)
	p.leaf.Align = align
	p.leaf.add(header)
	return true
}

// delimiters parses "|---|:-:|", or returns nil.
func delimiters(s string) []Align {
	if strings.Trim(s, "|:- \t") != "" || strings.IndexByte(s, '-') < 0 || !strings.ContainsAny(s, "|:") {
		return nil
	}
	var all []Align
	for _, cell := range Cells(s) {
		dashes := strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return nil
		}
		switch left, right := cell[0] == ':', cell[len(cell)-1] == ':'; {
		case left && right:
			all = append(all, Center)
		case right:
			all = append(all, Right)
		default:
			all = append(all, Left)
		}
	}
	return all
}

// Cells splits a table row. A pipe after a backslash belongs to its cell.
func Cells(s string) []string {
	s = strings.Trim(s, " \t")
	s = strings.TrimPrefix(s, "|")
	var cells []string
	from := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '|':
			cells = append(cells, cell(s[from:i]))
			from = i + 1
		}
	}
	if rest := cell(s[from:]); rest != "" || len(cells) == 0 {
		cells = append(cells, rest)
	}
	return cells
}

func cell(s string) string {
	return strings.ReplaceAll(strings.Trim(s, " \t"), `\|`, "|")
}
