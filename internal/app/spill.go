package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/tool"
)

// spillAge is how long whole outputs of cut calls are kept.
const spillAge = 14 * 24 * time.Hour

// spiller saves whole outputs of one session.
type spiller struct {
	dir   string
	swept *sync.Once
}

func newSpiller(dir string) spiller { return spiller{dir: dir, swept: &sync.Once{}} }

// save writes one output, mode 0600, and returns its path. The first one of a run removes what is too old.
func (s spiller) save(_ context.Context, call tool.CallID, whole string) (string, error) {
	s.swept.Do(func() { sweep(filepath.Dir(s.dir), time.Now().Add(-spillAge)) })
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(s.dir, fileName(call)+"-*.txt") // 0600, and never an existing file
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(whole)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
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
