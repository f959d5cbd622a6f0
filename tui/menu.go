package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

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
	kind  menuKind
	items []choice
	at    int
	from  int // where in the prompt the completed word begins, its mark included
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

// complete follows the prompt after a change.
func (m *model) complete() tea.Cmd {
	u, e := m.menu, &m.prompt.editor
	u.seen = e.text[:e.at]
	kind, from := word(e)
	fresh := kind == fileMenu && (u.kind != fileMenu || u.from != from)
	u.kind, u.from, u.at, u.items = kind, from, 0, nil
	if kind == noMenu {
		u.closed = 0
		return nil
	}
	if u.closed == from+1 {
		u.kind = noMenu
		return nil
	}
	query := e.text[from+1 : e.at]
	if kind == commandMenu {
		u.items = commandChoices(m, query)
		return nil
	}
	u.findFiles(query)
	if fresh {
		return m.listFiles()
	}
	return nil
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

// listFiles looks for files in the background, unless it was done just now; what was known before is shown meanwhile.
func (m *model) listFiles() tea.Cmd {
	u := m.menu
	if m.ports.Files == nil || u.loading || u.files != nil && m.now().Sub(u.loadedAt) < filesAge {
		return nil
	}
	u.loading = true
	return func() tea.Msg {
		paths, err := m.ports.Files(context.Background())
		return listed{newCandidates(paths), err}
	}
}

func (m *model) listed(l listed) {
	u := m.menu
	u.loading, u.failed, u.loadedAt = false, "", m.now()
	if l.err != nil {
		u.failed = l.err.Error()
	}
	if l.err == nil || len(l.files.paths) > 0 {
		u.files = l.files
	}
	if u.kind == fileMenu {
		u.findFiles(m.prompt.text[u.from+1 : m.prompt.at])
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
	p := picker{theme: u.theme, at: u.at}
	p.add(u.items)
	labels := p.labelWidth(w)
	top := max(min(u.at-h/2, len(u.items)-h), 0)
	var rows []draw.Row
	for i := top; i < min(top+h, len(u.items)); i++ {
		rows = append(rows, p.row(u.items[i], i == u.at, labels, w))
	}
	return rows
}

func needsMenu(m *model) string {
	if !m.menu.open() || len(m.menu.items) == 0 {
		return "nothing to complete: write / for commands, @ for files"
	}
	return ""
}

func menuIsOpen(m *model) string {
	if !m.menu.open() {
		return "no completions are shown"
	}
	return ""
}

// accept puts the chosen completion into the prompt.
func (m *model) accept() tea.Cmd {
	u, e := m.menu, &m.prompt.editor
	c := u.items[u.at]
	if u.kind == commandMenu {
		e.set("/" + c.id + " ")
		return m.complete()
	}
	e.replace(u.from, e.at, quotedPath(c.id)+" ")
	return m.complete()
}

// quotedPath is a path as it stands in a prompt: in quotes where a space would end it.
func quotedPath(path string) string {
	if strings.ContainsAny(path, " \t") {
		return `"` + path + `"`
	}
	return path
}

// acceptOrRun is enter on a completion: a command that needs nothing more runs.
func (m *model) acceptOrRun() tea.Cmd {
	if m.menu.kind != commandMenu {
		return m.accept()
	}
	m.prompt.set("/" + m.menu.items[m.menu.at].id)
	m.menu.kind = noMenu
	return m.send()
}

func (m *model) closeMenu() tea.Cmd {
	m.menu.closed, m.menu.kind = m.menu.from+1, noMenu
	return nil
}

func moveMenu(by int) func(*model) tea.Cmd {
	return func(m *model) tea.Cmd { m.menu.move(by); return nil }
}

// menuKeys come before the prompt's own: while completions are shown, these keys are theirs.
func menuKeys() []binding {
	return []binding{
		{action: choose, scope: inPrompt, part: completing, keys: []string{"tab"}, help: "complete the / command or @ file", can: needsMenu, do: (*model).accept},
		{action: choose, scope: inPrompt, part: completing, keys: []string{"enter"}, help: "on a completion: take it", can: needsMenu, do: (*model).acceptOrRun},
		{action: closePane, scope: inPrompt, part: completing, keys: []string{"esc"}, help: "close the completions", can: menuIsOpen, do: (*model).closeMenu},
		{action: lineUp, scope: inPrompt, part: completing, keys: []string{"up", "ctrl+p"}, help: "the completion above", can: needsMenu, do: moveMenu(-1)},
		{action: lineDown, scope: inPrompt, part: completing, keys: []string{"down", "ctrl+n"}, help: "the completion below", can: needsMenu, do: moveMenu(1)},
	}
}
