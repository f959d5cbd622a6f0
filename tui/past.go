package tui

import (
	"slices"
	"strings"

	"adze/session"
)

// past is what the person wrote before, and where in it they are.
type past struct {
	history  []string // oldest first
	browse   int      // how far back in history; 0: not
	draft    string   // what was being written when browsing began
	recalled string   // what browsing shows
	sent     string   // the last message, pastes unfolded
	loading  bool     // what was written in earlier sessions is being read
	wanted   int      // how far back the person wanted to go meanwhile
}

// pastPrompts are what the person wrote in earlier sessions, oldest first.
type pastPrompts []string

// earlier puts them before what was written since.
func (p *prompt) earlier(texts pastPrompts) {
	p.history = append(slices.Clip([]string(texts)), p.history...)
	p.loading = false
	for ; p.wanted > 0; p.wanted-- {
		p.older()
	}
}

// Apply remembers what the person said before, for a resumed session.
func (p *prompt) Apply(e session.Event) {
	done, ok := e.(session.MessageDone)
	if !ok || done.Message.Role != session.User || done.Message.Own != "" || done.Message.Summary || done.Message.Note {
		return
	}
	text := strings.TrimSpace(done.Message.Text())
	if i := slices.IndexFunc(p.steering, func(s Prompt) bool { return s.Text == text }); i >= 0 {
		p.steering = slices.Delete(p.steering, i, i+1)
	} else if text != p.sent && len(text) < longText { // else it is there, pastes folded
		p.remember(text)
	}
}

func (p *prompt) remember(text string) {
	if n := len(p.history); text != "" && (n == 0 || p.history[n-1] != text) {
		p.history = append(p.history, text)
	}
}

// clear empties the prompt; what was there is the newest of the history.
func (p *prompt) clear() {
	p.remember(p.text)
	p.vim.reset(&p.editor)
	p.set("")
	p.browse = 0
}

// older shows what was written before; newer goes back. What was begun narrows it: only what begins alike is
// shown.
func (p *prompt) older() bool { return p.recall(1) }
func (p *prompt) newer() bool { return p.recall(-1) }

func (p *prompt) recall(by int) bool {
	if p.browse > 0 && p.text != p.recalled { // it was changed: a draft of its own
		p.browse = 0
	}
	if p.browse == 0 {
		p.draft = p.text
	}
	for back := p.browse + by; back >= 0 && back <= len(p.history); back += by {
		text := p.draft
		if back > 0 {
			text = p.history[len(p.history)-back]
		}
		if back > 0 && (text == p.text || !beginsWith(text, p.draft)) {
			continue
		}
		p.browse = back
		p.set(text)
		p.recalled = p.text
		return true
	}
	return false
}

// beginsWith is a prefix without regard to case.
func beginsWith(text, start string) bool {
	return len(text) >= len(start) && strings.EqualFold(text[:len(start)], start)
}

// restore shows a message again that was sent: as it was written, when that is known.
func (p *prompt) restore(text string) {
	n := len(p.history)
	if n > 0 && text == p.sent && !p.empty() {
		p.set(p.history[n-1] + "\n" + p.text)
	} else if n > 0 && text == p.sent {
		p.set(p.history[n-1])
	} else if p.empty() {
		p.put(text)
	} else {
		p.put(text + "\n" + p.text)
	}
}

// recent is what was written before, each once, newest first.
func (p *prompt) recent() (out []string) {
	seen := map[string]bool{}
	for _, text := range slices.Backward(p.history) {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// await has up wait for what was written in earlier sessions; it comes by earlier.
func (p *prompt) await() { p.loading = true }
