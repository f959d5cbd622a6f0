package tui

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// foldLines and foldBytes are from where on a pasted text is shown as one word.
const (
	foldLines = 8
	foldBytes = 1500
)

// prompt is the pane where the person writes.
type prompt struct {
	editor
	vim   vim
	theme *draw.Theme
	menu  *menu // of completions
	past
	queue []Prompt
	// steering are messages that the agent has but has not read yet.
	steering []Prompt
	folded   map[string]string // pasted texts by the word that stands for them
	attached map[string]string // files by the word that stands for them
}

// newPrompt is an empty line; commands lists those that begin alike, for completion.
func newPrompt(t *draw.Theme, vimKeys bool, commands func(start string) []choice) *prompt {
	return &prompt{theme: t, vim: vim{on: vimKeys}, menu: &menu{theme: t, commands: commands}}
}

// paste inserts a text; a long one is folded to a word that is unfolded when sent. It never sends.
func (p *prompt) paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n") // tmux pastes CR
	lines := strings.Count(text, "\n") + 1
	if lines < foldLines && len(text) < foldBytes {
		p.insert(text)
		return
	}
	if p.folded == nil {
		p.folded = map[string]string{}
	}
	word := fmt.Sprintf("[pasted %d: %d lines, %s]", len(p.folded)+1, lines, size(len(text)))
	p.folded[word] = safeterm.Clean(text).String()
	p.addUnit(word)
	p.insert(word)
}

// attach puts the word for a file at the cursor; the file goes along when it is sent.
func (p *prompt) attach(path string) (word string) {
	if p.attached == nil {
		p.attached = map[string]string{}
	}
	word = fmt.Sprintf("[attached %d: %s]", len(p.attached)+1, safeterm.Name(filepath.Base(path)))
	p.attached[word] = path
	p.addUnit(word)
	return word
}

// put shows a text that comes from elsewhere in the place of what is there.
func (p *prompt) put(text string) {
	if len(text) < longText {
		p.set(text)
		return
	}
	p.set("")
	p.paste(text)
}

// continues makes a backslash at the end of the line a new line: enter behind one does not send.
func (p *prompt) continues() bool {
	if !strings.HasSuffix(p.text[:p.at], "\\") || p.at != p.lineEnd() {
		return false
	}
	p.replace(p.at-1, p.at, "\n")
	return true
}

// take empties the prompt and returns what was written, pasted texts unfolded.
func (p *prompt) take() Prompt {
	out := Prompt{Text: strings.TrimSpace(p.unfolded()), Draft: p.text}
	for _, word := range slices.Sorted(maps.Keys(p.attached)) {
		if strings.Contains(p.text, word) {
			out.Attach = append(out.Attach, p.attached[word])
		}
	}
	p.clear()
	p.sent = out.Text
	return out
}

// unfolded is what was written with pasted texts in the place of their words.
func (p *prompt) unfolded() string {
	var pairs []string
	for word, full := range p.folded {
		pairs = append(pairs, word, full)
	}
	return strings.NewReplacer(pairs...).Replace(p.text)
}

// promptSign stands before the text.
const promptSign = "❯ "

// inner is how wide the text is where the pane is w wide.
func (p *prompt) inner(w int) int { return max(w-len([]rune(promptSign))-1, 1) }

// Want is how many rows the pane would like.
func (p *prompt) Want(w int) int {
	return 1 + min(len(p.queue)+len(p.steering), 2) + len(p.places(p.inner(w)))
}

// Render draws the pane and says where the cursor is.
func (p *prompt) Render(w, h int) (rows []draw.Row, x, y int) {
	pen := p.theme.Pen()
	if mode := p.vim.name(); mode != "" {
		pen.Fixed(draw.Border, "── ").Put(draw.Dim, safeterm.Name(mode)).Fixed(draw.Plain, " ")
	}
	rows = append(rows, pen.Rule(draw.Border, w).Done().Fit(w))
	from, to, _ := p.vim.chosen(&p.editor)
	p.mark(from, to)
	lead, texts := p.waiting()
	for i, q := range texts[:min(len(texts), 2)] {
		text, _, _ := strings.Cut(q, "\n")
		text = shorten(text)
		if i == 1 && len(texts) > 2 {
			text = fmt.Sprintf("… %d more", len(texts)-1)
		}
		rows = append(rows, p.theme.Pen().Fixed(draw.Dim, lead[i]).Put(draw.Dim, safeterm.Clean(text)).Done().Fit(w))
	}
	sign := p.theme.Pen().Fixed(draw.Accent, promptSign).Done()
	own, x, y := p.Rows(p.theme, w-sign.Width())
	top := 0
	if room := max(h-len(rows), 1); len(own) > room {
		top = min(max(y-room+1, 0), len(own)-room)
		own = own[top : top+room]
	}
	y += len(rows) - top
	for i, r := range own {
		pen := p.theme.Pen()
		if i+top == 0 {
			pen.Row(sign)
		}
		rows = append(rows, pen.Pad(sign.Width()).Row(r).Done())
	}
	if p.empty() {
		rows[len(rows)-1] = p.theme.Pen().Row(sign).Fixed(draw.Dim, "Ask, or say what to do").Done()
	}
	return rows, x + sign.Width(), y
}
