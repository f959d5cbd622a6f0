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

// menuRows is how many completions are shown at once.
const menuRows = 8

// filesAge is how old the list of files may be before a new completion looks again.
const filesAge = 3 * time.Second

// kind says what is being completed.
type kind uint8

const (
	noMenu kind = iota
	commandMenu
	fileMenu
)

// Menu is the pane of completions over the prompt: commands after a slash, files after an @.
type Menu struct {
	theme *draw.Theme
	// commands lists the commands that begin alike.
	commands func(start string) []list.Choice
	kind     kind
	items    []list.Choice
	at       int
	from     int // where in the prompt the completed word begins, its mark included
	// closed is the beginning of a word that the user does not want completed, plus one.
	closed int
	seen   string // the text up to the cursor when completions were looked for

	// Agents are who a prompt can be addressed to; their mark is part of their name.
	Agents []list.Choice
	// Root is the workspace; touched are files of it that calls read or changed, newest first.
	Root     string
	touched  []string
	changed  []string // as the program said
	near     near
	folder   Folder // that was written out
	files    *candidates
	whole    bool // files are all that there are
	loading  bool
	loadedAt time.Time
	failed   error
}

// Listed is the list of files for completion.
type Listed struct {
	files *candidates
	near  []string
	err   error
	part  bool // more is looked for
}

// NewListed makes paths ready to be searched at every key: all, or a part of them.
func NewListed(f api.Files, err error, part bool) Listed {
	return Listed{newCandidates(f.Paths), f.Near, err, part}
}

func (u *Menu) open() bool { return u.kind != noMenu && (len(u.items) > 0 || u.note() != "") }

// Move marks another completion; after the last comes the first.
func (u *Menu) Move(by int) {
	if n := len(u.items); n > 0 {
		u.at = (u.at + by + n) % n
	}
}

// word finds the word before the cursor that can be completed.
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
		return noMenu, 0 // ann@example.org
	}
	return fileMenu, at
}

// Stale reports whether the prompt changed since completions were looked for.
func (u *Menu) Stale(e *edit.Editor) bool { return u.seen != e.Text[:e.At] }

// Complete follows the line after a change; it reports whether the files are wanted, for a word
// that was begun.
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

// addressed are the agents whose names begin so; only a prompt as a whole is addressed to one.
func (u *Menu) addressed(query string) (out []list.Choice) {
	for _, a := range u.Agents {
		if u.from == 0 && strings.HasPrefix(a.ID[1:], query) {
			out = append(out, a)
		}
	}
	return out[:min(len(out), menuRows/2)]
}

// agent reports a completion that is an agent.
func (u *Menu) agent(c list.Choice) bool {
	return u.from == 0 && slices.ContainsFunc(u.Agents, func(a list.Choice) bool { return a.ID == c.ID && c.Label == c.ID })
}

// Look reports whether the files should be listed now, unless that is being done or was just now;
// what was known before is shown meanwhile.
func (u *Menu) Look(now time.Time) bool {
	if u.loading || u.files != nil && now.Sub(u.loadedAt) < filesAge {
		return false
	}
	u.loading = true
	return true
}

// Listed takes the list of files; with an error what was known before stays, unless there are some
// all the same. It reports whether more is to come.
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

// note says why there are no files.
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

// Want is how many rows the pane would like.
func (u *Menu) Want(w int) int {
	if !u.open() {
		return 0
	}
	return len(u.Render(w, menuRows))
}

// Render draws the completions around the chosen one.
func (u *Menu) Render(w, h int) []draw.Row {
	if u.note() == "" {
		return list.Rows(u.theme, u.items, u.at, w, h)
	}
	lead := u.theme.Pen().Pad(2).Done()
	return u.theme.Wrap(nil, w, draw.Margins{First: lead, Rest: lead}, draw.Span{Style: draw.Dim, Text: safeterm.Name(u.note())})
}

// Choosable says why there is no completion to choose.
func (u *Menu) Choosable() string {
	return ui.Why(!u.open() || len(u.items) == 0, "nothing to complete: write / for commands, @ for files")
}

// Shown says why there are no completions to close.
func (u *Menu) Shown() string { return ui.Why(!u.open(), "no completions are shown") }

// Accept puts the chosen completion into the line.
func (p *Line) Accept() Happened {
	u, e := p.Menu, &p.Editor
	c := u.items[u.at]
	if u.kind == commandMenu {
		e.Set("/" + c.ID + " ")
	} else if u.agent(c) {
		e.Replace(u.from, e.At, c.ID+" ")
	} else if strings.HasSuffix(c.ID, "/") { // a folder is a step: a space behind it takes it as it is
		e.Replace(u.from+1, e.At, c.Label)
	} else {
		e.Replace(u.from+1, e.At, quotedPath(c.ID)+" ")
	}
	return p.Complete()
}

// quotedPath is a path as it stands in a prompt: in quotes where a space would end it, or where its
// first letter would make a command, a note or an agent of what begins with it; with escapes where
// a quote or what nobody sees is in it.
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

// AcceptOrRun is enter on a completion: a command that needs nothing more runs.
func (p *Line) AcceptOrRun() Happened {
	if p.Menu.kind != commandMenu {
		return p.Accept()
	}
	p.Set("/" + p.Menu.items[p.Menu.at].ID)
	p.Menu.kind = noMenu
	return Happened{Send: true}
}

// Close ends the completions of the word that is being written.
func (u *Menu) Close() { u.closed, u.kind = u.from+1, noMenu }
