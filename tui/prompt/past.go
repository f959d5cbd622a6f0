package prompt

import (
	"slices"
	"strings"

	"adze/session"
	"adze/session/api"
	"adze/tui/edit"
)

// past is what the user wrote before, and where in it they are.
type past struct {
	history  []string // oldest first
	browse   int      // how far back in history; if 0, not
	draft    string   // what was being written when browsing began
	recalled string   // what browsing shows
	sent     string   // the last message, pastes unfolded
	sentAs   string   // the same as it was written
	loading  bool     // what was written in earlier sessions is being read
	wanted   int      // how far back the user wanted to go meanwhile
	restored bool     // a message came back
}

// Earlier puts the messages of earlier sessions, oldest first, before those written since.
func (p *Line) Earlier(texts []string) {
	p.history = append(slices.Clip(texts), p.history...)
	p.loading = false
	for ; p.wanted > 0; p.wanted-- {
		p.older()
	}
}

// Apply remembers what the user said before, for a resumed session.
func (p *Line) Apply(e session.Event) {
	if e, ok := e.(session.ToolEnd); ok {
		p.Menu.touch(e)
	}
	done, ok := e.(session.MessageDone)
	if !ok || done.Message.Role != session.User || done.Message.Own != "" || done.Message.Summary || done.Message.Note {
		return
	}
	text := strings.TrimSpace(done.Message.Text())
	if i := slices.IndexFunc(p.steering, func(s api.Prompt) bool { return s.Text == text }); i >= 0 {
		p.steering = slices.Delete(p.steering, i, i+1)
	} else if text != p.sent && len(text) < edit.Long { // else it is there, pastes folded
		p.remember(text)
	}
}

func (p *Line) remember(text string) {
	if n := len(p.history); text != "" && (n == 0 || p.history[n-1] != text) {
		p.history = append(p.history, text)
	}
}

// Clear empties the prompt; what was there is the newest of the history.
func (p *Line) Clear() {
	p.remember(p.Text)
	p.vim.Reset(&p.Editor)
	p.Set("")
	p.browse = 0
}

// older shows what was written before; newer goes back. What was begun narrows it: only what begins
// alike is shown.
func (p *Line) older() bool { return p.recall(1) }
func (p *Line) newer() bool { return p.recall(-1) }

func (p *Line) recall(by int) bool {
	if p.browse > 0 && p.Text != p.recalled { // it was changed: a draft of its own
		p.browse = 0
	}
	if p.browse == 0 {
		p.draft = p.Text
	}
	for back := p.browse + by; back >= 0 && back <= len(p.history); back += by {
		text := p.draft
		if back > 0 {
			text = p.history[len(p.history)-back]
		}
		if back > 0 && (text == p.Text || !beginsWith(text, p.draft)) {
			continue
		}
		p.browse = back
		p.Set(text)
		p.recalled = p.Text
		return true
	}
	return false
}

// beginsWith is a prefix without regard to case.
func beginsWith(text, start string) bool {
	return len(text) >= len(start) && strings.EqualFold(text[:len(start)], start)
}

// Restore shows a message again that was sent: as it was written, when that is known.
func (p *Line) Restore(text string) {
	p.restored = true
	put := p.Put
	if text == p.sent && p.sentAs != "" {
		text, put = p.sentAs, p.Set
	}
	if !p.Empty() {
		text += "\n" + p.Text
	}
	put(text)
}

// Restored reports, once, that a message was restored.
func (p *Line) Restored() bool {
	restored := p.restored
	p.restored = false
	return restored
}

// Recent is what was written before, each once, newest first.
func (p *Line) Recent() (out []string) {
	seen := map[string]bool{}
	for _, text := range slices.Backward(p.history) {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// Await has up wait for what was written in earlier sessions; it comes by earlier.
func (p *Line) Await() { p.loading = true }
