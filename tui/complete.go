package tui

import (
	"strings"
	"time"

	"adze/internal/safeterm"
	"adze/tui/draw"
)

// menuRows is how many completions are shown at once.
const menuRows = 8

// filesAge is how old the list of files may be before a new completion looks again.
const filesAge = 3 * time.Second

// menuKind says what is being completed.
type menuKind uint8

const (
	noMenu menuKind = iota
	commandMenu
	fileMenu
)

// menu is the pane of completions over the prompt: commands after a slash, files after an @.
type menu struct {
	theme *draw.Theme
	// commands lists the commands that begin alike.
	commands func(start string) []choice
	kind     menuKind
	items    []choice
	at       int
	from     int // where in the prompt the completed word begins, its mark included
	// closed is the beginning of a word that the person does not want completed, plus one.
	closed int
	seen   string // the text up to the cursor when completions were looked for

	files    *candidates
	loading  bool
	loadedAt time.Time
	failed   string
}

// listed is the list of files for completion.
type listed struct {
	files *candidates
	err   error
}

// newListed makes paths ready to be searched at every key.
func newListed(paths []string, err error) listed { return listed{newCandidates(paths), err} }

func (u *menu) open() bool { return u.kind != noMenu && (len(u.items) > 0 || u.note() != "") }

func (u *menu) move(by int) {
	if n := len(u.items); n > 0 {
		u.at = (u.at + by + n) % n
	}
}

// word finds the word before the cursor that can be completed.
func word(e *editor) (kind menuKind, from int) {
	before := e.text[:e.at]
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

// stale reports whether the prompt changed since completions were looked for.
func (u *menu) stale(e *editor) bool { return u.seen != e.text[:e.at] }

// complete follows the line after a change; it reports whether the files are wanted, for a word that was begun.
func (p *prompt) complete() (files bool) {
	u, e := p.menu, &p.editor
	u.seen = e.text[:e.at]
	kind, from := word(e)
	fresh := kind == fileMenu && (u.kind != fileMenu || u.from != from)
	u.kind, u.from, u.at, u.items = kind, from, 0, nil
	if kind == noMenu {
		u.closed = 0
		return false
	}
	if u.closed == from+1 {
		u.kind = noMenu
		return false
	}
	query := e.text[from+1 : e.at]
	if kind == commandMenu {
		u.items = u.commands(query)
		return false
	}
	u.findFiles(query)
	return fresh
}

func (u *menu) findFiles(query string) {
	if u.files == nil {
		return
	}
	u.items, u.at = nil, 0
	for _, path := range u.files.best(query, menuRows) {
		u.items = append(u.items, choice{id: path, label: path})
	}
}

// look reports whether the files should be listed now, unless that is being done or was just now; what was known
// before is shown meanwhile.
func (u *menu) look(now time.Time) bool {
	if u.loading || u.files != nil && now.Sub(u.loadedAt) < filesAge {
		return false
	}
	u.loading = true
	return true
}

// listed takes the list of files; with an error what was known before stays, unless there are some all the same.
func (p *prompt) listed(l listed, now time.Time) {
	u := p.menu
	u.loading, u.failed, u.loadedAt = false, "", now
	if l.err != nil {
		u.failed = l.err.Error()
	}
	if l.err == nil || len(l.files.paths) > 0 {
		u.files = l.files
	}
	if u.kind == fileMenu {
		u.findFiles(p.text[u.from+1 : p.at])
	}
}

// note says why there are no files.
func (u *menu) note() string {
	switch {
	case u.kind != fileMenu || len(u.items) > 0:
		return ""
	case u.failed != "":
		return "error: " + u.failed
	case u.loading:
		return "looking for files…"
	case u.files == nil:
		return ""
	}
	return "no file matches"
}

// Want is how many rows the pane would like.
func (u *menu) Want() int {
	if !u.open() {
		return 0
	}
	return max(min(len(u.items), menuRows), 1)
}

// Render draws the completions around the chosen one.
func (u *menu) Render(w, h int) []draw.Row {
	if text := u.note(); text != "" {
		return []draw.Row{u.theme.Line(draw.Dim, safeterm.Name("  "+text)).Fit(w)}
	}
	return choiceRows(u.theme, u.items, u.at, w, h)
}

// choosable says why there is no completion to choose.
func (u *menu) choosable() string {
	if !u.open() || len(u.items) == 0 {
		return "nothing to complete: write / for commands, @ for files"
	}
	return ""
}

func (u *menu) shown() string {
	if !u.open() {
		return "no completions are shown"
	}
	return ""
}

// accept puts the chosen completion into the line.
func (p *prompt) accept() happened {
	u, e := p.menu, &p.editor
	c := u.items[u.at]
	if u.kind == commandMenu {
		e.set("/" + c.id + " ")
	} else {
		e.replace(u.from, e.at, quotedPath(c.id)+" ")
	}
	return happened{files: p.complete()}
}

// quotedPath is a path as it stands in a prompt: in quotes where a space would end it.
func quotedPath(path string) string {
	if strings.ContainsAny(path, " \t") {
		return `"` + path + `"`
	}
	return path
}

// acceptOrRun is enter on a completion: a command that needs nothing more runs.
func (p *prompt) acceptOrRun() happened {
	if p.menu.kind != commandMenu {
		return p.accept()
	}
	p.set("/" + p.menu.items[p.menu.at].id)
	p.menu.kind = noMenu
	return happened{send: true}
}

func (u *menu) close() { u.closed, u.kind = u.from+1, noMenu }
