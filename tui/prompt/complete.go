package prompt

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/draw"
	"adze/tui/edit"
	"adze/tui/list"
	"adze/tui/ui"
)

// menuRows is the maximum number of shown completions.
const menuRows = 8

// filesAge is the maximum age of the file list for a new completion.
const filesAge = 3 * time.Second

// kind is the kind of completion.
type kind uint8

const (
	noMenu kind = iota
	commandMenu
	fileMenu
)

// Menu shows completions above the prompt: commands after a slash, files after an @.
type Menu struct {
	theme *draw.Theme
	// commands returns the completions for a command's beginning.
	commands  func(start string) []list.Choice
	kind      kind
	items     []list.Choice
	selected  int
	wordStart int // offset of the completed word, including / or @
	// closed is the offset, plus one, of a word whose completion the user has closed.
	closed int
	seen   string // text up to the cursor at the last completion

	// Agents are the agents that can be addressed; the @ is part of their name.
	Agents []list.Choice
	// Root is the workspace; touched lists its files that calls have read or changed, newest first.
	Root     string
	touched  []string
	changed  []string // from the program
	near     pathRanking
	folder   Folder // folder named in the prompt
	files    *candidates
	whole    bool // files is complete
	loading  bool
	loadedAt time.Time
	failed   error
}

// Listed is the list of files for completion.
type Listed struct {
	files *candidates
	near  []string
	err   error
	part  bool // a longer list follows
}

// NewListed prepares paths for the search; part means that more follow.
func NewListed(f api.Files, err error, part bool) Listed {
	return Listed{newCandidates(f.Paths), f.Recent, err, part}
}

func (u *Menu) open() bool { return u.kind != noMenu && (len(u.items) > 0 || u.note() != "") }

// Move moves the selection and wraps around.
func (u *Menu) Move(by int) {
	if n := len(u.items); n > 0 {
		u.selected = (u.selected + by + n) % n
	}
}

// word returns the completable word before the cursor.
func word(e *edit.Editor) (kind kind, from int) {
	before := e.Text[:e.Cursor]
	if strings.HasPrefix(before, "/") && !strings.ContainsAny(before[1:], " \n\t/") {
		return commandMenu, 0
	}
	at := strings.LastIndexByte(before, '@')
	if at < 0 || strings.ContainsAny(before[at:], " \n\t") {
		return noMenu, 0
	}
	if at > 0 && strings.IndexByte(" \n\t([\"'`", before[at-1]) < 0 {
		return noMenu, 0
	}
	return fileMenu, at
}

// Stale reports whether the prompt has changed since the last completion.
func (u *Menu) Stale(e *edit.Editor) bool { return u.seen != e.Text[:e.Cursor] }

// Complete updates the completions after a change. Its result requests the file list for a new
// word.
func (p *Line) Complete() KeyEffect {
	u, e := p.Menu, &p.Editor
	u.seen = e.Text[:e.Cursor]
	kind, from := word(e)
	fresh := kind == fileMenu && (u.kind != fileMenu || u.wordStart != from)
	u.kind, u.wordStart, u.selected, u.items = kind, from, 0, nil
	if kind == noMenu {
		u.closed = 0
		return KeyEffect{}
	}
	if u.closed == from+1 {
		u.kind = noMenu
		return KeyEffect{}
	}
	query := e.Text[from+1 : e.Cursor]
	if kind == commandMenu {
		u.items = u.commands(query)
		return KeyEffect{}
	}
	if dir, start, is := outside(query); is {
		return KeyEffect{Folder: u.findOutside(dir, start)}
	}
	if fresh {
		u.near = newNear(append(slices.Clone(u.touched), u.changed...)...)
	}
	u.findFiles(query)
	return KeyEffect{Files: fresh}
}

func (u *Menu) findFiles(query string) {
	u.items, u.selected = u.addressed(query), 0
	if u.files == nil {
		return
	}
	for _, path := range u.files.best(query, menuRows, u.near) {
		u.items = append(u.items, list.Choice{ID: path, Label: path})
	}
}

// addressed returns the matching agents; only the first word of a prompt can address one.
func (u *Menu) addressed(query string) (out []list.Choice) {
	for _, a := range u.Agents {
		if u.wordStart == 0 && strings.HasPrefix(a.ID[1:], query) {
			out = append(out, a)
		}
	}
	return out[:min(len(out), menuRows/2)]
}

// agent reports whether a completion is an agent.
func (u *Menu) agent(c list.Choice) bool {
	return u.wordStart == 0 && slices.ContainsFunc(u.Agents, func(a list.Choice) bool { return a.ID == c.ID && c.Label == c.ID })
}

// Look reports whether the caller should list the files now. It returns false if a listing is
// running or recent.
func (u *Menu) Look(now time.Time) bool {
	if u.loading || u.files != nil && now.Sub(u.loadedAt) < filesAge {
		return false
	}
	u.loading = true
	return true
}

// Listed sets the list of files. After an error with no files the old list stays. It reports
// whether more follow.
func (p *Line) Listed(l Listed, now time.Time) (more bool) {
	u := p.Menu
	if l.part && u.whole {
		return true
	}
	u.loading, u.failed, u.loadedAt = l.part, l.err, now
	if l.err == nil || len(l.files.paths) > 0 {
		u.files, u.changed, u.whole = l.files, l.near, !l.part
		u.near = newNear(append(slices.Clone(u.touched), u.changed...)...)
	}
	if u.kind != fileMenu {
		return l.part
	}
	if _, _, is := outside(p.Text[u.wordStart+1 : p.Cursor]); !is {
		var chosen string
		if u.selected > 0 {
			chosen = u.items[u.selected].ID
		}
		u.findFiles(p.Text[u.wordStart+1 : p.Cursor])
		u.selected = max(0, slices.IndexFunc(u.items, func(c list.Choice) bool { return c.ID == chosen }))
	}
	return l.part
}

// note returns why there are no files.
func (u *Menu) note() string {
	switch {
	case u.kind != fileMenu || len(u.items) > 0:
		return ""
	case u.failed != nil:
		return "error: " + u.failed.Error()
	case u.loading:
		return "looking for files…"
	case u.files == nil:
		return ""
	}
	return "no file matches"
}

// Want returns the preferred height.
func (u *Menu) Want(w int) int {
	if !u.open() {
		return 0
	}
	return len(u.Render(w, menuRows))
}

// Render draws the completions around the selected one.
func (u *Menu) Render(w, h int) []draw.Row {
	if u.note() == "" {
		return list.Rows(u.theme, u.items, u.selected, w, h)
	}
	lead := u.theme.Pen().Pad(2).Done()
	return u.theme.Wrap(nil, w, draw.Margins{First: lead, Continuation: lead}, draw.Span{Style: draw.Dim, Text: safeterm.Name(u.note())})
}

// Choosable returns why there is no completion to choose, or "".
func (u *Menu) Choosable() string {
	return ui.ReasonIf(!u.open() || len(u.items) == 0, "nothing to complete: write / for commands, @ for files")
}

// HiddenReason returns why there is no menu to close, or "".
func (u *Menu) HiddenReason() string { return ui.ReasonIf(!u.open(), "no completions are shown") }

// Accept inserts the selected completion.
func (p *Line) Accept() KeyEffect {
	u, e := p.Menu, &p.Editor
	c := u.items[u.selected]
	if u.kind == commandMenu {
		e.Set("/" + c.ID + " ")
	} else if u.agent(c) {
		e.Replace(u.wordStart, e.Cursor, c.ID+" ")
	} else if strings.HasSuffix(c.ID, "/") { // a folder continues the path; a space after it ends the path
		e.Replace(u.wordStart+1, e.Cursor, c.Label)
	} else {
		e.Replace(u.wordStart+1, e.Cursor, quotedPath(c.ID)+" ")
	}
	return p.Complete()
}

// quotedPath returns a path for the prompt. It adds quotes if the path contains a space or begins
// with a sign for a command, a note or an agent, and escapes if it contains both kinds of quotes or
// invisible characters.
func quotedPath(path string) string {
	switch {
	case !utf8.ValidString(path), strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }), strings.Contains(path, `"`) && strings.Contains(path, "'"):
		return strconv.Quote(path)
	case strings.Contains(path, `"`):
		return "'" + path + "'"
	case strings.Contains(path, " "), path != "" && strings.Contains("!#@", path[:1]):
		return `"` + path + `"`
	}
	return path
}

// AcceptOrRun handles Enter: it runs a command, or accepts another completion.
func (p *Line) AcceptOrRun() KeyEffect {
	if p.Menu.kind != commandMenu {
		return p.Accept()
	}
	p.Set("/" + p.Menu.items[p.Menu.selected].ID)
	p.Menu.kind = noMenu
	return KeyEffect{Send: true}
}

// Close closes the completions for the current word.
func (u *Menu) Close() { u.closed, u.kind = u.wordStart+1, noMenu }
