// Package instructions reads the user's and the project's instructions for the model: files at the
// start of the system prompt, files of deeper folders that join when a call first reaches them, and
// lines that a user adds with #.
//
// The one rule: a project's text is data for the model, never for adze, and no link or import leads
// out of its repository.
//
// Start reading at Reader.Render; find.go selects the files and their order, read.go reads one,
// plain.go removes comments, rules.go reads rules of Cursor, Claude Code and Copilot, late.go adds
// files later, add.go adds a line.
//
// Known limits: changes to a file in the system prompt apply in the next session, because a
// session's prompt stays the same; imports are found outside fenced blocks and code spans, but also
// in indented code; files below node_modules, vendor or a Python environment are ignored.
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

// Source holds the user's options for the system prompt: files that replace or extend it, and
// whether to skip project files.
type Source struct {
	System, Append string
	Bare           bool
	Skills         string // index of skills, or ""
}

// silent reports whether no files are read.
func (o Source) silent() bool { return o.Bare || o.System != "" }

// A Place is a run's folder, with the user's folders.
type Place struct {
	AdzeDir string // the user's adze folder
	Home    string // user's home, for other assistants' files; "" to skip them
	Dir     string // current folder
	// Shell runs command lines; "" means bash.
	Shell string
}

// A Room reads the instructions of one run. It is safe for concurrent use and must be closed.
type Reader struct {
	Source
	Place
	top  string // repository root, or Dir
	git  bool
	root *workspace.Root        // opened top
	tree func() *workspace.Root // opens root; nil if it cannot be opened
	file func() instructionSet  // reads the system prompt's files, once
}

// New returns a run's Reader. It reads nothing yet.
func New(o Source, p Place) *Reader {
	if real, err := filepath.EvalSymlinks(p.Dir); err == nil {
		p.Dir = real
	}
	r := &Reader{Source: o, Place: p}
	r.top, r.git = discovery.Repository(p.Dir)
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
func (r *Reader) Repository() bool { return r.git }

// Close closes the folders. No other method may be running.
func (r *Reader) Close() error {
	if r.root == nil {
		return nil
	}
	return r.root.Close()
}

// Render builds a session's system prompt from the named prompt and the instructions.
func (r *Reader) Render(name string, now time.Time) (string, error) {
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
		files = append(files, prompts.Instructions{Path: f.DisplayPath, Text: f.Text})
	}
	return prompts.Render(name, files, strings.TrimPrefix(extra+"\n\n"+r.Skills, "\n\n"), prompts.Environment{
		Workspace: r.Dir, Cwd: r.Dir, System: runtime.GOOS + "/" + runtime.GOARCH, Shell: cmp.Or(r.Shell, "bash"),
		Git: r.git, Date: now.Format(time.DateOnly),
	})
}

// Files returns the system prompt's files in their order: the user's first, the nearest last.
func (r *Reader) Files() []File {
	if r.silent() {
		return nil
	}
	return r.file().files
}

// Pieces splits a system prompt for the ledger, with the source file of each part.
func (r *Reader) Pieces(system string) (out []session.Piece) {
	for _, p := range prompts.Split(system) {
		piece := session.Piece{Kind: p.Kind, Name: p.Name, Bytes: p.Bytes}
		for _, f := range r.Files() {
			if p.Kind == "instructions" && f.DisplayPath == p.Name {
				piece.Path = f.Real
			}
		}
		out = append(out, piece)
	}
	return out
}

// Notices reports files that replace AGENTS.md, were cut, are unreadable, or contain invisible
// characters.
func (r *Reader) Notices() (notices []string) {
	if r.silent() {
		return nil
	}
	f := r.file()
	var instead []string
	for _, file := range f.files {
		if file.fallback {
			instead = append(instead, file.DisplayPath)
		}
	}
	if len(instead) > 0 {
		notices = append(notices, "read in the place of AGENTS.md: "+strings.Join(instead, ", "))
	}
	for _, file := range f.files {
		notices = append(notices, hidden(file.DisplayPath, file.Text)...)
	}
	return append(notices, f.notices...)
}

// hidden reports invisible characters, which the model gets spelled out.
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
