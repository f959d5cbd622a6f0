package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/tool"
)

// spillAge is how long whole outputs of cut calls are kept.
const spillAge = 14 * 24 * time.Hour

// maxSpilled bounds what the outputs of one session may take on the disk, in bytes.
const maxSpilled = 1 << 30

// spiller saves whole outputs of one session.
type spiller struct {
	dir   string
	most  int64 // bytes
	swept *sync.Once
}

func newSpiller(dir string) spiller { return spiller{dir: dir, most: maxSpilled, swept: &sync.Once{}} }

// save writes one output and returns its path.
func (s spiller) save(_ context.Context, call tool.CallID, whole string) (string, error) {
	f, path, err := s.open(call)
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(f, whole)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// open makes the file of one output, mode 0600. The first one of a run removes what is too old.
func (s spiller) open(call tool.CallID) (io.WriteCloser, string, error) {
	s.swept.Do(func() { sweep(filepath.Dir(s.dir), time.Now().Add(-spillAge)) })
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, "", err
	}
	if used := sizeOf(s.dir); used >= s.most {
		return nil, "", fmt.Errorf("the outputs of this session take %d MiB in %s already, which is the most", used>>20, s.dir)
	}
	f, err := os.CreateTemp(s.dir, fileName(call)+"-*.txt") // 0600, and never an existing file
	if err != nil {
		return nil, "", err
	}
	return f, f.Name(), nil
}

// sizeOf is what the files of a folder take together.
func sizeOf(dir string) (size int64) {
	files, _ := os.ReadDir(dir) // what cannot be read cannot be counted
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}

// sweep removes the folders of sessions that spilled last before the given time. What cannot be removed
// stays for the next time.
func sweep(dir string, before time.Time) {
	folders, _ := os.ReadDir(dir)
	for _, f := range folders {
		if info, err := f.Info(); err == nil && f.IsDir() && info.ModTime().Before(before) {
			os.RemoveAll(filepath.Join(dir, f.Name()))
		}
	}
}

// fileName keeps of a provider's call id what is safe in a file name.
func fileName(call tool.CallID) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, string(call))
	return clean[:min(len(clean), 64)]
}
