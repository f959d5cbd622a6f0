package tui

// happened is what a key led to that the prompt cannot do itself.
type happened struct {
	say   string // to the person
	files bool   // the files of the workspace are wanted, for completion
	send  bool   // what is written is to be sent
}

// press gives a key to vim's keys, where they are on. What is not taken goes on to the key table.
func (p *prompt) press(s stroke, w int) (h happened, taken bool) {
	v, e := &p.vim, &p.editor
	if !v.on || s.text == "?" && e.empty() { // help
		return h, false
	}
	if s.text == "/" && v.mode == vimNormal && e.empty() && len(v.pending) == 0 {
		v.enterInsert(e) // a command
		return h, false
	}
	taken, browse := v.press(e, w, s)
	switch {
	case browse < 0:
		h = p.up(w)
	case browse > 0:
		h = p.down(w)
	}
	if taken {
		p.menu.kind, p.menu.seen = noMenu, e.text[:e.at]
		v.settle(e)
	}
	return h, taken
}

// settle is after every key: vim keeps the cursor on a character.
func (p *prompt) settle() { p.vim.settle(&p.editor) }

// toggleVim turns vim's keys on or off, and reports which.
func (p *prompt) toggleVim() (on bool) {
	p.vim.reset(&p.editor)
	p.vim.on = !p.vim.on
	return p.vim.on
}

// up moves a row up; from the first one it takes back what waits, then what was written before.
func (p *prompt) up(w int) (h happened) {
	if p.vertical(w, -1) || p.takeBack() || p.older() {
		return h
	}
	if p.loading {
		p.wanted++
		return h
	}
	h.say = "nothing older"
	if p.draft != "" {
		h.say = "nothing older begins like this"
	}
	return h
}

// down moves a row down; from the last one it goes back towards what was being written.
func (p *prompt) down(w int) (h happened) {
	if !p.vertical(w, 1) && !p.newer() {
		h.say = "nothing newer"
	}
	return h
}
