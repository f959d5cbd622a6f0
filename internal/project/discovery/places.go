package discovery

import (
	"path"
	"path/filepath"
)

// place is a folder that may hold items of a kind.
type place struct {
	base    string // absolute; a project's links must not leave it
	dir     string // relative to base
	display string // for display
	origin  Origin
	dialect string
}

// home is an assistant's folder with its subfolders by kind; a name stands for its singular and
// plural.
type home struct {
	dialect  string
	project  string // in a project, or ""
	userPath string // below the user's home, or ""
	commands string // folder, or ""
	agents   string
}

// homes returns the table, by precedence within an origin. Skills have agentskills.io's layout
// everywhere.
func homes() []home {
	return []home{
		{dialect: "adze", project: ".adze", commands: "command", agents: "agent"},
		{dialect: "agents", project: ".agents", userPath: ".agents", commands: "command", agents: "agent"},
		{dialect: "claude", project: ".claude", userPath: ".claude", commands: "command", agents: "agent"},
		{dialect: "opencode", project: ".opencode", userPath: ".config/opencode", commands: "command"},
		{dialect: "gemini", project: ".gemini", userPath: ".gemini"},
		{dialect: "codex", project: ".codex", userPath: ".codex", commands: "prompt"},
		{dialect: "cursor", project: ".cursor", userPath: ".cursor", commands: "command"},
		{dialect: "copilot", project: ".github"},
	}
}

// of returns a kind's folder, or "".
func (h home) of(kind Kind) string {
	switch kind {
	case Command:
		return h.commands
	case Agent:
		return h.agents
	}
	return "skill"
}

// Folders returns the project folders that may hold a kind.
func Folders(kind Kind) (out []string) {
	for _, h := range homes() {
		if h.project != "" && h.of(kind) != "" {
			out = append(out, h.project)
		}
	}
	return out
}

const ending = ".md"

// skillFile is a skill's file (agentskills.io).
const skillFile = "SKILL.md"

func (f *Finder) places(kind Kind) (out []place) {
	add := func(p place, folder string) {
		for _, name := range []string{folder + "s", folder} {
			q := p
			q.dir, q.display = path.Join(p.dir, name), path.Join(p.display, name)
			out = append(out, q)
		}
	}
	for _, h := range homes() {
		folder := h.of(kind)
		switch {
		case folder == "":
		case h.dialect == "adze":
			add(place{base: f.AdzeDir, dir: ".", display: f.homely(f.AdzeDir), origin: Person, dialect: h.dialect}, folder)
		case h.userPath != "":
			add(place{base: f.Home, dir: h.userPath, display: "~/" + h.userPath, origin: Person, dialect: h.dialect}, folder)
		}
	}
	for _, at := range f.folders() {
		for _, h := range homes() {
			folder := h.of(kind)
			if folder == "" || h.project == "" {
				continue
			}
			shown := h.project
			if rel, err := filepath.Rel(f.Dir, at); err == nil {
				shown = path.Join(filepath.ToSlash(rel), h.project)
			}
			within, _ := filepath.Rel(f.top(), at) // at is below it
			add(place{base: f.top(), dir: path.Join(filepath.ToSlash(within), h.project), display: shown, origin: Project, dialect: h.dialect}, folder)
		}
	}
	return out
}

func (f *Finder) top() string {
	if f.Top == "" {
		return f.Dir
	}
	return f.Top
}

// folders returns the current folder and its parents up to the repository's root, nearest first,
// without the user's home, which is no project.
func (f *Finder) folders() (out []string) {
	if f.Dir == "" {
		return nil
	}
	for at := f.Dir; ; at = filepath.Dir(at) {
		if at != f.Home {
			out = append(out, at)
		}
		if at == f.top() || at == filepath.Dir(at) {
			return out
		}
	}
}

func (f *Finder) homely(dir string) string {
	if rel, err := filepath.Rel(f.Home, dir); f.Home != "" && err == nil && filepath.IsLocal(rel) {
		return "~/" + filepath.ToSlash(rel)
	}
	return dir
}
