package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// In pixels.
const (
	cellW  = 8.4
	cellH  = 18.0
	font   = 14
	margin = 14.0
	bar    = 30.0 // the title bar
)

type palette struct {
	fg, bg, frame string
	behind        string // COLORFGBG of such a terminal
	sixteen       [16]string
}

// Black and white are near the background and the text, as in most terminals.
var (
	dark = palette{fg: "#d4d7dd", bg: "#16191f", frame: "#2b303a", behind: "15;0", sixteen: [16]string{
		"#20242c", "#e06c6c", "#7fc98f", "#dcb56a", "#6ea8e8", "#c58be0", "#63c5c9", "#c9ccd3",
		"#7d8492", "#f08a8a", "#9adfa8", "#ecca88", "#8fc0f5", "#d9a7f0", "#86dcdf", "#f2f4f8"}}
	light = palette{fg: "#24292f", bg: "#ffffff", frame: "#d8dce2", behind: "0;15", sixteen: [16]string{
		"#24292f", "#b3261e", "#1a6b35", "#7a5200", "#0b57a8", "#7a2e9e", "#0b6b70", "#6b7280",
		"#57606a", "#c5332b", "#1f7a3e", "#8a5d00", "#1565c0", "#8e3bb5", "#0d7a80", "#24292f"}}
)

func parse(s string, w, h int) []uv.Line {
	window := uv.NewScreenBuffer(w, h)
	uv.NewStyledString(s).Draw(window, window.Bounds())
	for y, row := range window.Lines {
		row = slices.DeleteFunc(row, func(c uv.Cell) bool { return c.Width == 0 }) // follows a wide cell
		for len(row) > 0 && row[len(row)-1].Equal(&uv.EmptyCell) {
			row = row[:len(row)-1]
		}
		window.Lines[y] = row
	}
	return window.Lines
}

func svg(rows []uv.Line, cols int, title string, p palette) []byte {
	w, h := float64(cols)*cellW+2*margin, float64(len(rows))*cellH+bar+margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="%d">`+"\n", w, h, w, h, font)
	fmt.Fprintf(&b, `<rect x="0.5" y="0.5" width="%.0f" height="%.0f" rx="9" fill="%s" stroke="%s"/>`+"\n", w-1, h-1, p.bg, p.frame)
	fmt.Fprintf(&b, `<path d="M0.5 %.1fH%.1f" stroke="%s"/>`+"\n", bar-2, w-0.5, p.frame)
	for i := range 3 {
		fmt.Fprintf(&b, `<circle cx="%.0f" cy="14" r="5" fill="%s"/>`+"\n", margin+4+float64(i)*17, p.frame)
	}
	fmt.Fprintf(&b, `<text x="%.0f" y="19" fill="%s" text-anchor="middle" font-size="12">%s</text>`+"\n", w/2, p.sixteen[8], escaped(title))
	for y, r := range rows {
		drawRow(&b, r, bar+4+float64(y)*cellH, p)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func drawRow(b *bytes.Buffer, cells uv.Line, y float64, p palette) {
	col := 0
	for i := 0; i < len(cells); {
		from, text, start := i, strings.Builder{}, col
		for i < len(cells) && together(cells[from], cells[i]) {
			text.WriteString(cells[i].Content)
			col += cells[i].Width
			i++
		}
		drawRun(b, text.String(), cells[from].Style, margin+float64(start)*cellW, y, float64(col-start)*cellW, p)
	}
}

// together reports whether b continues a's run. Fonts disagree about the width of non-ASCII
// characters, so those continue only with the same one.
func together(a, b uv.Cell) bool {
	ascii := a.Content < "\x7f" && b.Content < "\x7f"
	return a.Style.Equal(&b.Style) && (ascii || a.Content == b.Content)
}

func drawRun(b *bytes.Buffer, text string, l uv.Style, x, y, w float64, p palette) {
	fg, bg := p.hex(l.Fg, p.fg), p.hex(l.Bg, "")
	if l.Attrs&uv.AttrReverse != 0 {
		fg, bg = p.hex(l.Bg, p.bg), p.hex(l.Fg, p.fg)
	}
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.0f" fill="%s"/>`+"\n", x, y, w, cellH, bg)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" fill="%s"%s xml:space="preserve">%s</text>`+"\n",
		x, y+cellH-5, w, fg, attributes(l), escaped(text))
}

func attributes(l uv.Style) string {
	var a strings.Builder
	if l.Attrs&uv.AttrBold != 0 {
		a.WriteString(` font-weight="bold"`)
	}
	if l.Attrs&uv.AttrItalic != 0 {
		a.WriteString(` font-style="italic"`)
	}
	if l.Attrs&uv.AttrFaint != 0 {
		a.WriteString(` opacity="0.6"`)
	}
	switch {
	case l.Underline != 0:
		a.WriteString(` text-decoration="underline"`)
	case l.Attrs&uv.AttrStrikethrough != 0:
		a.WriteString(` text-decoration="line-through"`)
	}
	return a.String()
}

// hex returns a color for SVG; other replaces the default.
func (p palette) hex(c color.Color, other string) string {
	switch c := c.(type) {
	case nil:
		return other
	case ansi.BasicColor:
		return p.sixteen[c]
	case ansi.IndexedColor:
		if int(c) < len(p.sixteen) {
			return p.sixteen[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder never fails
	return b.String()
}
