package hypertext

import (
	"html"
	"strconv"
	"strings"

	"adze/internal/text/safeterm"
)

// A text of more than foldFrom lines shows its first and last ones; the folded middle is laid out
// in chunks.
const (
	foldFrom  = 28
	headLines = 8
	tailLines = 12
	chunk     = 200
)

// folded writes lines, and hides the middle of many; write writes some of them.
func (w *writer) folded(n int, write func(from, to int)) {
	if !w.Page || n <= foldFrom {
		write(0, n)
		return
	}
	write(0, headLines)
	w.WriteString(`<details class="fold"><summary>` + strconv.Itoa(n-headLines-tailLines) + ` more lines</summary>`)
	for from := headLines; from < n-tailLines; from += chunk {
		w.WriteString(`<span class="chunk">`)
		write(from, min(from+chunk, n-tailLines))
		w.WriteString("</span>")
	}
	w.WriteString("</details>")
	write(n-tailLines, n)
}

// output writes the output of a command. Total counts its lines; text may be only the last of
// them.
func (w *writer) output(text string, total int) {
	text = strings.TrimRight(safeterm.Output(text).String(), "\n")
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	if missing := total - len(lines); missing > 0 && w.Page {
		w.WriteString(`<p class="dim cut">` + strconv.Itoa(missing) + " earlier lines are not shown here</p>\n")
	}
	w.open("pre", ` class="out" data-lines="`+strconv.Itoa(len(lines))+`"`)
	w.folded(len(lines), func(from, to int) {
		for _, line := range lines[from:to] {
			w.WriteString(html.EscapeString(line))
			w.WriteByte('\n')
		}
	})
	w.WriteString("</pre>\n")
}

// Output is what a command printed.
func (o Options) Output(text string, total int) string {
	w := &writer{Options: o}
	w.output(text, total)
	return w.String()
}
