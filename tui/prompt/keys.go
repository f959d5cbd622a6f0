package prompt

import "adze/tui/vim"

// Happened is what a key led to that the prompt cannot do itself.
type Happened struct {
	Say    string // to the user
	Files  bool   // the files of the workspace are wanted, for completion
	Folder string // the names in this folder are
	Send   bool   // what is written is to be sent
}

// Press gives a key to vim's keys, where they are on. What is not taken goes on to the key table.
func (p *Line) Press(s vim.Stroke, w int) (h Happened, taken bool) {
	v, e := &p.vim, &p.Editor
	if !v.On || s.Text == "?" && e.Empty() { // help
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
		p.Menu.kind, p.Menu.seen = noMenu, e.Text[:e.At]
		v.Settle(e)
	}
	return h, taken
}

// Settle is after every key: vim keeps the cursor on a character.
func (p *Line) Settle() { p.vim.Settle(&p.Editor) }

// ToggleVim turns vim's keys on or off, and reports which.
func (p *Line) ToggleVim() (on bool) {
	p.vim.Reset(&p.Editor)
	p.vim.On = !p.vim.On
	return p.vim.On
}

// Up moves a row up; from the first one it takes back what waits, then what was written before.
func (p *Line) Up(w int) (h Happened) {
	if p.Vertical(w, -1) || p.takeBack() || p.older() {
		return h
	}
	if p.loading {
		p.wanted++
		return h
	}
	h.Say = "nothing older"
	if p.draft != "" {
		h.Say = "no earlier message begins like this"
	}
	return h
}

// Down moves a row down; from the last one it goes back towards what was being written.
func (p *Line) Down(w int) (h Happened) {
	if !p.Vertical(w, 1) && !p.newer() {
		h.Say = "nothing newer"
	}
	return h
}
