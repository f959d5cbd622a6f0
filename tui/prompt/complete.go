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
	commands func(start string) []list.Choice
	kind     kind
	items    []list.Choice
	at       int
	from     int // offset of the completed word, including / or @
	// closed is the offset, plus one, of a word whose completion the user has closed.
	closed int
	seen   string // text up to the cursor at the last completion

	// Agents are the agents that can be addressed; the @ is part of their name.
	Agents []list.Choice
	// Root is the workspace; touched lists its files that calls have read or changed, newest first.
	Root     string
	touched  []string
	changed  []string // from the program
	near     near
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
	return Listed{newCandidates(f.Paths), f.Near, err, part}
}

func (u *Menu) open() bool { return u.kind != noMenu && (len(u.items) > 0 || u.note() != "") }

// Move moves the selection and wraps around.
func (u *Menu) Move(by int) {
	if n := len(u.items); n > 0 {
		u.at = (u.at + by + n) % n
	}
}

// word returns the completable word before the cursor.
func word(e *edit.Editor) (kind kind, from int) {
	before := e.Text[:e.At]
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
func (u *Menu) Stale(e *edit.Editor) bool { return u.seen != e.Text[:e.At] }

// Complete updates the completions after a change. Its result requests the file list for a new
// word.
func (p *Line) Complete() Happened {
	u, e := p.Menu, &p.Editor
	u.seen = e.Text[:e.At]
	kind, from := word(e)
	fresh := kind == fileMenu && (u.kind != fileMenu || u.from != from)
	u.kind, u.from, u.at, u.items = kind, from, 0, nil
	if kind == noMenu {
		u.closed = 0
		return Happened{}
	}
	if u.closed == from+1 {
		u.kind = noMenu
		return Happened{}
	}
	query := e.Text[from+1 : e.At]
	if kind == commandMenu {
		u.items = u.commands(query)
		return Happened{}
	}
	if dir, start, is := outside(query); is {
		return Happened{Folder: u.findOutside(dir, start)}
	}
	if fresh {
		u.near = newNear(append(slices.Clone(u.touched), u.changed...)...)
	}
	u.findFiles(query)
	return Happened{Files: fresh}
}

func (u *Menu) findFiles(query string) {
	u.items, u.at = u.addressed(query), 0
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
		if u.from == 0 && strings.HasPrefix(a.ID[1:], query) {
			out = append(out, a)
		}
	}
	return out[:min(len(out), menuRows/2)]
}

// agent reports whether a completion is an agent.
func (u *Menu) agent(c list.Choice) bool {
	return u.from == 0 && slices.ContainsFunc(u.Agents, func(a list.Choice) bool { return a.ID == c.ID && c.Label == c.ID })
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
	if _, _, is := outside(p.Text[u.from+1 : p.At]); !is {
		var chosen string
		if u.at > 0 {
			chosen = u.items[u.at].ID
		}
		u.findFiles(p.Text[u.from+1 : p.At])
		u.at = max(0, slices.IndexFunc(u.items, func(c list.Choice) bool { return c.ID == chosen }))
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
		return list.Rows(u.theme, u.items, u.at, w, h)
	}
	lead := u.theme.Pen().Pad(2).Done()
	return u.theme.Wrap(nil, w, draw.Margins{First: lead, Rest: lead}, draw.Span{Style: draw.Dim, Text: safeterm.Name(u.note())})
}

// Choosable returns why there is no completion to choose, or "".
func (u *Menu) Choosable() string {
	return ui.Why(!u.open() || len(u.items) == 0, "nothing to complete: write / for commands, @ for files")
}

// Shown returns why there is no menu to close, or "".
func (u *Menu) Shown() string { return ui.Why(!u.open(), "no completions are shown") }

// Accept inserts the selected completion.
func (p *Line) Accept() Happened {
	u, e := p.Menu, &p.Editor
	c := u.items[u.at]
	if u.kind == commandMenu {
		e.Set("/" + c.ID + " ")
	} else if u.agent(c) {
		e.Replace(u.from, e.At, c.ID+" ")
	} else if strings.HasSuffix(c.ID, "/") { // a folder continues the path; a space after it ends the path
		e.Replace(u.from+1, e.At, c.Label)
	} else {
		e.Replace(u.from+1, e.At, quotedPath(c.ID)+" ")
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
func (p *Line) AcceptOrRun() Happened {
	if p.Menu.kind != commandMenu {
		return p.Accept()
	}
	p.Set("/" + p.Menu.items[p.Menu.at].ID)
	p.Menu.kind = noMenu
	return Happened{Send: true}
}

// Close closes the completions for the current word.
func (u *Menu) Close() { u.closed, u.kind = u.from+1, noMenu }
