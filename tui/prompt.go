package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/safeterm"
	"adze/session"
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
	theme   *draw.Theme
	history []string
	browse  int    // how far back in history; 0: not
	draft   string // what was being written when browsing began
	queue   []Prompt
	// steering are messages that the agent has but has not read yet.
	steering []string
	sent     string
	folded   map[string]string // pasted texts by the word that stands for them
	attached map[string]string // files by the word that stands for them
}

// pastPrompts are what the person wrote in earlier sessions, oldest first.
type pastPrompts []string

// past puts them before what was written since.
func (p *prompt) past(texts pastPrompts) {
	p.history = append(slices.Clip([]string(texts)), p.history...)
}

// Apply remembers what the person said before, for a resumed session.
func (p *prompt) Apply(e session.Event) {
	done, ok := e.(session.MessageDone)
	if !ok || done.Message.Role != session.User || done.Message.Own != "" {
		return
	}
	text := strings.TrimSpace(done.Message.Text())
	if i := slices.Index(p.steering, text); i >= 0 {
		p.steering = slices.Delete(p.steering, i, i+1)
	} else if text != p.sent { // else it is there, pastes folded
		p.remember(text)
	}
}

func (p *prompt) remember(text string) {
	if n := len(p.history); text != "" && (n == 0 || p.history[n-1] != text) {
		p.history = append(p.history, text)
	}
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
	p.insert(word)
}

// take empties the prompt and returns what was written, pasted texts unfolded.
func (p *prompt) take() Prompt {
	out := Prompt{Text: strings.TrimSpace(p.unfolded())}
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

// clear empties the prompt; what was there is the newest of the history.
func (p *prompt) clear() {
	p.remember(p.text)
	p.set("")
	p.browse = 0
}

// older shows what was written before; newer goes back.
func (p *prompt) older() bool { return p.recall(p.browse + 1) }
func (p *prompt) newer() bool { return p.recall(p.browse - 1) }

func (p *prompt) recall(back int) bool {
	switch {
	case back < 0 || back > len(p.history):
		return false
	case p.browse == 0:
		p.draft = p.text
	}
	p.browse = back
	if back == 0 {
		p.set(p.draft)
	} else {
		p.set(p.history[len(p.history)-back])
	}
	return true
}

// unqueue puts the messages that wait back into the prompt.
func (p *prompt) unqueue() {
	if len(p.queue) == 0 {
		return
	}
	var parts []string
	for _, q := range p.queue {
		parts = append(parts, q.Text)
	}
	if !p.empty() {
		parts = append(parts, p.text)
	}
	p.set(strings.Join(parts, "\n"))
	p.queue = nil
}

// unsteer queues what the agent was given but did not read before its turn was over.
func (p *prompt) unsteer() {
	var unread []Prompt
	for _, text := range p.steering {
		unread = append(unread, Prompt{Text: text})
	}
	p.queue, p.steering = append(unread, p.queue...), nil
}

// next takes the first message that waits.
func (p *prompt) next() (Prompt, bool) {
	if len(p.queue) == 0 {
		return Prompt{}, false
	}
	first := p.queue[0]
	p.queue = p.queue[1:]
	return first, true
}

// waiting lists what was sent and not yet read, with what is said of it.
func (p *prompt) waiting() (lead, text []string) {
	for _, s := range p.steering {
		lead, text = append(lead, "before the next step: "), append(text, s)
	}
	for _, q := range p.queue {
		lead, text = append(lead, "next: "), append(text, q.Text)
	}
	return lead, text
}

// promptSign stands before the text.
const promptSign = "❯ "

// Want is how many rows the pane would like.
func (p *prompt) Want(w int) int {
	return 1 + min(len(p.queue)+len(p.steering), 2) + len(p.places(max(w-len([]rune(promptSign))-1, 1)))
}

// Render draws the pane and says where the cursor is.
func (p *prompt) Render(w, h int) (rows []draw.Row, x, y int) {
	rows = append(rows, p.theme.Pen().Rule(draw.Border, w).Done())
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
