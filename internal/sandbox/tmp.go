//go:build unix

package sandbox

import (
	"os"
	"slices"
	"sync"
	"syscall"

	"adze/internal/sandbox/visibility"
)

// tmpFolders makes the folders for temporary files of commands whose means cannot hide the
// machine's. One that a command leaves as it got it is the next one's: to make a folder and to
// remove it takes longer than to see that nothing is in it.
type tmpFolders struct {
	mu   sync.Mutex
	free []string
}

// take is a folder below dir that nobody else uses. It is made where none is free.
func (t *tmpFolders) take(g *visibility.Glance, dir string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.free) > 0 {
		path := t.free[len(t.free)-1]
		t.free = t.free[:len(t.free)-1]
		if pristine(path) {
			return path, nil
		}
		_ = os.RemoveAll(path)
	}
	if !g.Mark(dir).Is(syscall.S_IFDIR) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(dir, "tmp-")
}

// giveBack takes a folder when its command has ended.
func (t *tmpFolders) giveBack(path string) {
	if !pristine(path) {
		_ = os.RemoveAll(path)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.free, path) {
		t.free = append(t.free, path)
	}
}

// pristine reports an empty folder that only this user may enter.
func pristine(path string) bool {
	var seen visibility.Sight
	g := seen.Glance()
	if g.Mark(path).Mode != syscall.S_IFDIR|0o700 {
		return false
	}
	names, ok := g.Names(path)
	return ok && len(names) == 0
}

// close removes what is free.
func (t *tmpFolders) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range t.free {
		_ = os.RemoveAll(path)
	}
	t.free = nil
}
