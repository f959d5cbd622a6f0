// Package instructions is what the user and the project tell the model: files that the system
// prompt begins with, files of deeper folders that join when a call first reaches them, and the
// line that a user adds with #.
//
// The one rule: text of a project is data for the model, never for adze, and no link or import
// leads out of its repository.
//
// Start reading at Room.Render; find.go says which files are read and in which order, read.go how
// one is read, plain.go what of its text counts, rules.go what Cursor, Claude Code and Copilot keep
// beside them, late.go what joins later, add.go how a line is added.
//
// Known limits: what changes in a file of the system prompt is told in the next session, because
// the prompt of a session stays as it is; imports are looked for outside fenced blocks and code
// spans, not in code that is only indented; a file below node_modules, vendor or an environment of
// Python is nobody's instructions.
package instructions

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"adze/internal/files/workspace"
	"adze/internal/project/discovery"
	"adze/internal/text"
	"adze/internal/text/usage"
	"adze/prompts"
	"adze/session"
)

// Source is what the user says of the system prompt: files that take its place or follow it, and
// whether project files are left out.
type Source struct {
	System, Append string
	Bare           bool
	Skills         string // their index; if empty, there are none
}

// silent says that no files are read.
func (o Source) silent() bool { return o.Bare || o.System != "" }

// Place is where a run works, and where the user's own files are.
type Place struct {
	Own  string // adze's folder of the user
	Home string // the user's home, for what is theirs with other assistants; if empty, it is not looked at
	Dir  string // the folder that is worked in
	// Shell is what runs command lines; if empty, bash.
	Shell string
}

// Room reads the instructions of one run. It is safe for concurrent use; Close gives its folders
// back.
type Room struct {
	Source
	Place
	top  string // the repository's root, or Dir
	git  bool
	root *workspace.Root        // of top, once it is opened
	tree func() *workspace.Root // opens it; if nil, it cannot be opened
	file func() instructionSet  // reads what the system prompt holds, once
}

// New makes the room of a run. Nothing is read before it is asked.
func New(o Source, p Place) *Room {
	if real, err := filepath.EvalSymlinks(p.Dir); err == nil {
		p.Dir = real
	}
	r := &Room{Source: o, Place: p, top: p.Dir}
	if top, ok := discovery.Repository(p.Dir); ok {
		r.top, r.git = top, true
	}
	r.tree = sync.OnceValue(func() *workspace.Root {
		if root, err := workspace.Open(r.top); err == nil {
			r.root = root
		}
		return r.root
	})
	r.file = sync.OnceValue(r.find)
	return r
}

// Repository reports whether the workspace is in a git repository.
func (r *Room) Repository() bool { return r.git }

// Close gives back what was opened, when nobody asks any more.
func (r *Room) Close() error {
	if r.root == nil {
		return nil
	}
	return r.root.Close()
}

// Render makes the system prompt of a session once, from the named prompt and the instructions.
func (r *Room) Render(name string, now time.Time) (string, error) {
	extra, err := textOf("--append-system-prompt", r.Append)
	if err != nil {
		return "", err
	}
	if r.System != "" {
		text, err := textOf("--system-prompt", r.System)
		if err == nil && extra != "" {
			text += "\n\n" + extra
		}
		return text, err
	}
	var files []prompts.Instructions
	for _, f := range r.Files() {
		files = append(files, prompts.Instructions{Path: f.Shown, Text: f.Text})
	}
	return prompts.Render(name, files, strings.TrimPrefix(extra+"\n\n"+r.Skills, "\n\n"), prompts.Environment{
		Workspace: r.Dir, Cwd: r.Dir, System: runtime.GOOS + "/" + runtime.GOARCH, Shell: cmp.Or(r.Shell, "bash"),
		Git: r.git, Date: now.Format(time.DateOnly),
	})
}

// Files are those that the system prompt holds, in its order: the user's own first, the nearest
// last.
func (r *Room) Files() []File {
	if r.silent() {
		return nil
	}
	return r.file().files
}

// Pieces tells the parts of a system prompt apart, for the ledger, with the files that this run
// read them from.
func (r *Room) Pieces(system string) (out []session.Piece) {
	for _, p := range prompts.Split(system) {
		piece := session.Piece{Kind: p.Kind, Name: p.Name, Bytes: p.Bytes}
		for _, f := range r.Files() {
			if p.Kind == "instructions" && f.Shown == p.Name {
				piece.Path = f.Real
			}
		}
		out = append(out, piece)
	}
	return out
}

// Notices tell the user what was read in the place of AGENTS.md, cut, not readable, or holds what
// they cannot see.
func (r *Room) Notices() (notices []string) {
	if r.silent() {
		return nil
	}
	f := r.file()
	var instead []string
	for _, file := range f.files {
		if file.instead {
			instead = append(instead, file.Shown)
		}
	}
	if len(instead) > 0 {
		notices = append(notices, "read in the place of AGENTS.md: "+strings.Join(instead, ", "))
	}
	for _, file := range f.files {
		notices = append(notices, hidden(file.Shown, file.Text)...)
	}
	return append(notices, f.notices...)
}

// hidden tells of characters that nobody sees, which the model is shown spelled out.
func hidden(name, text string) []string {
	n := strings.Count(text, "<U+")
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s holds characters that nobody sees (%d); the model is shown them as %.8s", name, n, text[strings.Index(text, "<U+"):])}
}

func textOf(flag, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", usage.Mistake("check the path", "%s: %v", flag, err)
	}
	return text.Plain(raw), nil
}
