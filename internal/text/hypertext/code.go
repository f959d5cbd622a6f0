package hypertext

import (
	"html"
	"slices"
	"strconv"
	"strings"

	"adze/internal/text/highlight"
	"adze/internal/text/safeterm"
)

// maxHighlight is the size in bytes above which code is not highlighted.
const maxHighlight = 256 << 10

func (w *writer) code(lang highlight.Language, name, text string) {
	w.WriteString(`<div class="code"><div class="codehead"><span>`)
	w.plain(name)
	w.WriteString("</span></div><pre><code>")
	w.tokens(lang, text)
	w.WriteString("</code></pre></div>\n")
}

var classes = [...]string{highlight.Keyword: "k", highlight.String: "s", highlight.Comment: "c", highlight.Number: "n", highlight.Function: "f", highlight.Type: "t",
	highlight.Property: "p", highlight.Heading: "h", highlight.Added: "add", highlight.Removed: "del", highlight.Hunk: "at"}

func (w *writer) tokens(lang highlight.Language, text string) {
	if len(text) > maxHighlight {
		lang = highlight.Language{}
	}
	for _, t := range lang.Tokens(text) {
		class := classes[t.Kind]
		if class == "" {
			w.plain(t.Text)
			continue
		}
		w.WriteString(`<span class="` + class + `">`)
		w.plain(t.Text)
		w.WriteString("</span>")
	}
}

func (w *writer) line(lang highlight.Language, class string, number int, text string) {
	w.WriteString(`<div class="l` + class + `" data-n="` + strconv.Itoa(number) + `">`)
	w.tokens(lang, text)
	w.WriteString("\n</div>")
}

func (w *writer) numbered(path, text string, first int) {
	w.WriteString(`<div class="code"><pre class="lines">`)
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		w.line(highlight.ForFile(path), "", first+i, line)
	}
	w.WriteString("</pre></div>\n")
}

// diff writes a unified diff; each line has its number in the old or new file.
func (w *writer) diff(path, unified string) {
	lang, old, new, hunks := highlight.ForFile(path), 1, 1, 0
	lines := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "@@") }) {
		hunks = 1 // lines without a position
	}
	w.WriteString(`<div class="diff">`)
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "@@"):
			old, new = hunkStarts(line)
			if hunks++; hunks > 1 {
				w.between(line)
			}
		case strings.HasPrefix(line, `\`):
			w.between(strings.TrimPrefix(line, `\ `))
		case hunks == 0: // before the first hunk
			if !strings.HasPrefix(line, "---") && !strings.HasPrefix(line, "+++") && line != "" {
				w.between(line)
			}
		case strings.HasPrefix(line, "-"):
			w.line(lang, " del", old, line[1:])
			old++
		case strings.HasPrefix(line, "+"):
			w.line(lang, " add", new, line[1:])
			new++
		default:
			w.line(lang, " same", new, strings.TrimPrefix(line, " "))
			old, new = old+1, new+1
		}
	}
	w.WriteString("</div>\n")
}

// between writes a line that belongs to no file.
func (w *writer) between(line string) {
	w.WriteString(`<div class="at">`)
	w.plain(line)
	w.WriteString("</div>")
}

// hunkStarts parses "@@ -12,5 +14,6 @@"; on failure it starts at line 1.
func hunkStarts(line string) (old, new int) {
	start := func(sign string) int {
		_, after, _ := strings.Cut(line, " "+sign)
		n, _ := strconv.Atoi(after[:len(after)-len(strings.TrimLeft(after, "0123456789"))])
		return max(n, 1)
	}
	return start("-"), start("+")
}

// Hunks splits a unified diff into hunks, each with its header.
func Hunks(unified string) (out []string) {
	for line := range strings.SplitAfterSeq(unified, "\n") {
		switch {
		case strings.HasPrefix(line, "@@"):
			out = append(out, line)
		case len(out) > 0:
			out[len(out)-1] += line
		}
	}
	return out
}

// output writes a command's output. Total counts its lines; text may be only the last of them.
func (w *writer) output(text string, total int) {
	text = strings.TrimRight(safeterm.Output(text).String(), "\n")
	if text == "" {
		return
	}
	lines := strings.Count(text, "\n") + 1
	if missing := total - lines; missing > 0 {
		w.WriteString(`<p class="dim cut">` + strconv.Itoa(missing) + " earlier lines are not shown here</p>\n")
	}
	w.WriteString(`<pre class="out" data-lines="` + strconv.Itoa(lines) + `">` + html.EscapeString(text) + "\n</pre>\n")
}
