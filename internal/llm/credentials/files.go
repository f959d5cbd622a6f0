package credentials

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"adze/internal/text/redact"
	"adze/tool"
)

// Files collects secrets from files that usually hold them: those at the top of a workspace when a
// run begins, and each one that a call may read, before the call does.
type Files struct {
	Ring *Ring
	Root string // absolute

	mu   sync.Mutex
	read map[string]int64 // modification time in nanoseconds, by path
}

// in bytes, per file
const maxFile = 256 << 10

// Begin reads the .env files at the top of the workspace: a program that a call starts may load
// them by itself.
func (f *Files) Begin() {
	for _, name := range []string{".env", ".env.local", ".env.development", ".env.production", ".env.test", ".envrc"} {
		f.learn(filepath.Join(f.Root, name))
	}
}

// learn reads one file and skips irregular or unreadable ones.
func (f *Files) learn(path string) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if when := info.ModTime().UnixNano(); f.read[path] == when {
		return
	} else if f.read == nil {
		f.read = map[string]int64{path: when}
	} else {
		f.read[path] = when
	}
	raw, _ := io.ReadAll(io.LimitReader(file, maxFile)) // data read before an error counts
	f.Ring.RedactValues(redact.In(path, string(raw))...)
}

// Gate wraps a gate and learns the files that a call may read before the call does.
func (f *Files) Gate(of tool.Gate) tool.Gate { return gate{of, f} }

type gate struct {
	tool.Gate
	files *Files
}

// Decide learns the files of a question and asks the wrapped gate.
func (g gate) Decide(ctx context.Context, q tool.Question) (tool.Decision, error) {
	d, err := g.Gate.Decide(ctx, q)
	if err == nil && d.Allow {
		g.files.before(q.Needs)
	}
	return d, err
}

// before learns the files that a call reads or that its command names.
func (f *Files) before(needs []tool.Need) {
	for _, n := range needs {
		names := []string{n.Target}
		if n.Permission == tool.Execute {
			names = strings.FieldsFunc(n.Target, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`;&|<>()=,:@", r) })
		}
		for _, name := range names {
			if home, ok := strings.CutPrefix(name, "~/"); ok {
				name = filepath.Join(os.Getenv("HOME"), home)
			}
			for _, path := range f.where(n.Dir, name) {
				if real, err := filepath.EvalSymlinks(path); err == nil && (redact.File(filepath.Split(path)) || redact.File(filepath.Split(real))) {
					f.learn(real)
				}
			}
		}
	}
}

// where returns the paths that a name may mean: below the command's folder and below the workspace.
func (f *Files) where(dir, name string) []string {
	if filepath.IsAbs(name) {
		return []string{name}
	}
	below, top := filepath.Join(f.Root, dir, name), filepath.Join(f.Root, name)
	if below == top {
		return []string{top}
	}
	return []string{below, top}
}
