package prompt

import "adze/tui/vim"

// KeyEffect is a key's effect outside the prompt.
type KeyEffect struct {
	Message string // message for the user
	Files   bool   // list the workspace's files for completion
	Folder  string // list this folder for completion
	Send    bool   // send the prompt
}

// Press passes a key to vim, if enabled. Otherwise the key table handles it.
func (p *Line) Press(s vim.Stroke, w int) (h KeyEffect, taken bool) {
	v, e := &p.vim, &p.Editor
	if !v.Enabled || s.Text == "?" && e.Empty() { // ? opens help
		return h, false
	}
	if s.Text == "/" && v.BeginCommand(e) {
		return h, false
	}
	taken, browse := v.Press(e, w, s)
	switch {
	case browse < 0:
		h = p.Up(w)
	case browse > 0:
		h = p.Down(w)
	}
	if taken {
		p.Menu.kind, p.Menu.seen = noMenu, e.Text[:e.Cursor]
		v.FixCursor(e)
	}
	return h, taken
}

// FixCursor must be called after every key: vim keeps the cursor on a character.
func (p *Line) FixCursor() { p.vim.FixCursor(&p.Editor) }

// ToggleVim turns vim keys on or off and returns the new state.
func (p *Line) ToggleVim() (on bool) {
	p.vim.Reset(&p.Editor)
	p.vim.Enabled = !p.vim.Enabled
	return p.vim.Enabled
}

// Up moves a row up. From the first row it takes back a queued message, then shows older ones.
func (p *Line) Up(w int) (h KeyEffect) {
	if p.Vertical(w, -1) || p.takeBack() || p.older() {
		return h
	}
	if p.loading {
		p.wanted++
		return h
	}
	h.Message = "nothing older"
	if p.draft != "" {
		h.Message = "no earlier message begins like this"
	}
	return h
}

// Down moves a row down. From the last row it shows newer messages, then the draft.
func (p *Line) Down(w int) (h KeyEffect) {
	if !p.Vertical(w, 1) && !p.newer() {
		h.Message = "nothing newer"
	}
	return h
}
