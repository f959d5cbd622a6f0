// Package prompt is the input line: its text and keys, history, queued messages, completion of
// commands and files, pasted texts and dropped files.
//
// The one rule: it handles keys and returns their effects (Happened); it does not know the model
// and sends nothing. The caller provides the file list and earlier sessions' messages.
//
// Start reading at Line, then keys.go. Known limits: a restored text of more than 64 KiB is folded
// to a word.
package prompt

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/list"
	"adze/tui/ui"
	"adze/tui/vim"
)

// foldLines and foldBytes are the sizes from which a pasted text is shown as one word.
const (
	foldLines = 8
	foldBytes = 1500
)

// Line is the prompt.
type Line struct {
	edit.Editor
	vim   vim.Keys
	theme *draw.Theme
	Menu  *Menu // completions
	past
	queue []api.Prompt
	// steering holds messages passed to the agent but not read yet.
	steering []api.Prompt
	folded   map[string]string // pasted texts by placeholder
	attached map[string]string // files by placeholder
	// Notice returns a line for the rule above the text; it may be nil or return "".
	Notice func() string
}

// New returns an empty prompt; commands returns completions for a command's beginning.
func New(t *draw.Theme, vimKeys bool, commands func(start string) []list.Choice) *Line {
	return &Line{theme: t, vim: vim.Keys{Enabled: vimKeys}, Menu: &Menu{theme: t, commands: commands}}
}

// Paste inserts text; a long one is folded to a placeholder, which Take unfolds. It never sends.
func (p *Line) Paste(text string) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n") // tmux pastes CR
	lines := strings.Count(text, "\n") + 1
	if lines < foldLines && len(text) < foldBytes {
		p.Insert(text)
		return
	}
	if p.folded == nil {
		p.folded = map[string]string{}
	}
	word := fmt.Sprintf("[pasted %d: %d lines, %s]", len(p.folded)+1, lines, ui.Size(len(text)))
	p.folded[word] = safeterm.Clean(text).String()
	p.AddUnit(word)
	p.Insert(word)
}

// Attach adds a file to the message and returns its placeholder; the caller inserts it.
func (p *Line) Attach(path string) (word string) {
	if p.attached == nil {
		p.attached = map[string]string{}
	}
	word = fmt.Sprintf("[attached %d: %s]", len(p.attached)+1, safeterm.Name(filepath.Base(path)))
	p.attached[word] = path
	p.AddUnit(word)
	return word
}

// Put replaces the text.
func (p *Line) Put(text string) {
	p.Menu.kind = noMenu // for the old text
	if len(text) < edit.Long {
		p.Set(text)
		return
	}
	p.Set("")
	p.Paste(text)
}

// Continues replaces a backslash at the end of the line by a newline and reports whether it did, so
// that Enter does not send.
func (p *Line) Continues() bool {
	if !strings.HasSuffix(p.Text[:p.Cursor], "\\") || p.Cursor != p.LineEnd() {
		return false
	}
	p.Replace(p.Cursor-1, p.Cursor, "\n")
	return true
}

// Take empties the prompt and returns its message, with pasted texts unfolded.
func (p *Line) Take() api.Prompt {
	out := api.Prompt{Text: strings.TrimSpace(p.Unfolded()), Draft: p.Text}
	for _, word := range slices.Sorted(maps.Keys(p.attached)) {
		if strings.Contains(p.Text, word) {
			out.Attach = append(out.Attach, p.attached[word])
		}
	}
	p.Clear()
	p.sent, p.sentAs = out.Text, out.Draft
	return out
}

// Unfolded returns the text with pasted texts in place of their placeholders.
func (p *Line) Unfolded() string {
	var pairs []string
	for word, full := range p.folded {
		pairs = append(pairs, word, full)
	}
	return strings.NewReplacer(pairs...).Replace(p.Text)
}

const promptSign = "❯ "

// Inner returns the text width in a pane of width w.
func (p *Line) Inner(w int) int { return max(w-len([]rune(promptSign))-1, 1) }

// Want returns the preferred height.
func (p *Line) Want(w int) int {
	return 1 + min(len(p.queue)+len(p.steering), 2) + len(p.Places(p.Inner(w)))
}

// Render draws the pane and returns the cursor position.
func (p *Line) Render(w, h int) (rows []draw.Row, x, y int) {
	pen := p.theme.Pen()
	words := []string{p.vim.Name()}
	if p.Notice != nil {
		words = append(words, p.Notice())
	}
	if text := strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " · "); text != "" {
		pen.Fixed(draw.Border, "── ").Row(p.theme.Line(draw.Dim, safeterm.Name(text)).Fit(w-6)).Fixed(draw.Plain, " ")
	}
	rows = append(rows, pen.Rule(draw.Border, w).Done().Fit(w))
	lead, texts := p.waiting()
	for i, q := range texts[:min(len(texts), 2)] {
		text, _, _ := strings.Cut(q, "\n")
		text = ui.Shorten(text)
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
	if p.Empty() {
		rows[len(rows)-1] = p.theme.Pen().Row(sign).Fixed(draw.Dim, "Ask, or say what to do").Done()
	}
	return rows, x + sign.Width(), y
}
