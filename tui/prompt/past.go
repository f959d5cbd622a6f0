package prompt

import (
	"slices"
	"strings"

	"adze/session"
	"adze/session/api"
	"adze/tui/edit"
)

// past is the message history and the position in it.
type past struct {
	history  []string // oldest first
	browse   int      // steps back in history; 0 if not browsing
	draft    string   // text when browsing began
	recalled string   // text shown by browsing
	sent     string   // last message, pastes unfolded
	sentAs   string   // last message as written
	loading  bool     // earlier sessions are being read
	wanted   int      // steps back requested meanwhile
	restored bool     // a message was restored
}

// Earlier adds earlier sessions' messages, oldest first, before the current ones.
func (p *Line) Earlier(texts []string) {
	p.history = append(slices.Clip(texts), p.history...)
	p.loading = false
	for ; p.wanted > 0; p.wanted-- {
		p.older()
	}
}

// Apply adds a resumed session's messages to the history.
func (p *Line) Apply(e session.Event) {
	if e, ok := e.(session.ToolEnd); ok {
		p.Menu.touch(e)
	}
	done, ok := e.(session.MessageDone)
	if !ok || done.Message.Role != session.User || done.Message.OwnCall != "" || done.Message.Summary || done.Message.Note {
		return
	}
	text := strings.TrimSpace(done.Message.Text())
	if i := slices.IndexFunc(p.steering, func(s api.Prompt) bool { return s.Text == text }); i >= 0 {
		p.steering = slices.Delete(p.steering, i, i+1)
	} else if text != p.sent && len(text) < edit.Long { // otherwise it is already in the history, with pastes folded
		p.remember(text)
	}
}

func (p *Line) remember(text string) {
	if n := len(p.history); text != "" && (n == 0 || p.history[n-1] != text) {
		p.history = append(p.history, text)
	}
}

// Clear empties the prompt and adds its text to the history.
func (p *Line) Clear() {
	p.remember(p.Text)
	p.vim.Reset(&p.Editor)
	p.Set("")
	p.browse = 0
}

// older shows the previous message, newer the next one. If the user has begun a text, only messages
// with this beginning are shown.
func (p *Line) older() bool { return p.recall(1) }
func (p *Line) newer() bool { return p.recall(-1) }

func (p *Line) recall(by int) bool {
	if p.browse > 0 && p.Text != p.recalled { // the user edited it: a new draft
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

// beginsWith reports a case-insensitive prefix.
func beginsWith(text, start string) bool {
	return len(text) >= len(start) && strings.EqualFold(text[:len(start)], start)
}

// Restore shows a sent message again, as written if known.
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

// Restored reports whether a message was restored since the last call.
func (p *Line) Restored() bool {
	restored := p.restored
	p.restored = false
	return restored
}

// Recent returns earlier messages without duplicates, newest first.
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

// Await makes Up wait until Earlier provides earlier sessions' messages.
func (p *Line) Await() { p.loading = true }
