package prompt

import "adze/tui/vim"

// Happened is a key's effect outside the prompt.
type Happened struct {
	Say    string // message for the user
	Files  bool   // list the workspace's files for completion
	Folder string // list this folder for completion
	Send   bool   // send the prompt
}

// Press passes a key to vim, if enabled. Otherwise the key table handles it.
func (p *Line) Press(s vim.Stroke, w int) (h Happened, taken bool) {
	v, e := &p.vim, &p.Editor
	if !v.On || s.Text == "?" && e.Empty() { // ? opens help
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

// Settle must be called after every key: vim keeps the cursor on a character.
func (p *Line) Settle() { p.vim.Settle(&p.Editor) }

// ToggleVim turns vim keys on or off and returns the new state.
func (p *Line) ToggleVim() (on bool) {
	p.vim.Reset(&p.Editor)
	p.vim.On = !p.vim.On
	return p.vim.On
}

// Up moves a row up. From the first row it takes back a queued message, then shows older ones.
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

// Down moves a row down. From the last row it shows newer messages, then the draft.
func (p *Line) Down(w int) (h Happened) {
	if !p.Vertical(w, 1) && !p.newer() {
		h.Say = "nothing newer"
	}
	return h
}
