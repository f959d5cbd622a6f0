// Package outputs saves the whole of an output that was cut for the model, in files of its session.
//
// The one rule: nobody else can read them, they hold no secrets, they are bounded, and they do not
// stay for ever.
//
// Start reading at Into. Known limits: the size of a session's outputs is counted before each file,
// not while one is written.
package outputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"adze/internal/text/redact"
	"adze/tool"
)

// age is how long whole outputs of cut calls are kept.
const age = 14 * 24 * time.Hour

// maxSpilled bounds what the outputs of one session may take on the disk, in bytes.
const maxSpilled = 1 << 30

// Files saves whole outputs of one session.
type Files struct {
	Dir string
	// Mask hides secrets in what is kept; if nil, only those that are known by their look.
	Mask  func() *redact.Masker
	most  int64 // bytes
	swept *sync.Once
}

// Into saves below a folder, which is made with the first output.
func Into(dir string) Files { return Files{Dir: dir, most: maxSpilled, swept: &sync.Once{}} }

// Save writes one output and returns its path.
func (s Files) Save(_ context.Context, call tool.CallID, whole string) (string, error) {
	f, path, err := s.create(call)
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(f, s.mask().Text(whole))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

func (s Files) mask() *redact.Masker {
	if s.Mask == nil {
		return &redact.Masker{}
	}
	return s.Mask()
}

// Open makes the file of one output that comes in pieces.
func (s Files) Open(call tool.CallID) (io.WriteCloser, string, error) {
	f, path, err := s.create(call)
	if err != nil {
		return nil, "", err
	}
	return &maskedFile{f, s.mask().Stream()}, path, nil
}

// OpenMasked is Open for an output in which secrets are masked already, as they are for the model.
func (s Files) OpenMasked(call tool.CallID) (io.WriteCloser, string, error) {
	f, path, err := s.create(call)
	if err != nil {
		return nil, "", err
	}
	return f, path, nil
}

// maskedFile writes a file without secrets, also those that lie across two pieces.
type maskedFile struct {
	file *os.File
	text *redact.Stream
}

func (m *maskedFile) Write(p []byte) (int, error) {
	if _, err := io.WriteString(m.file, m.text.Write(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (m *maskedFile) Close() error {
	_, err := io.WriteString(m.file, m.text.End())
	return errors.Join(err, m.file.Close())
}

// create makes a file, mode 0600. The first one of a run removes what is too old.
func (s Files) create(call tool.CallID) (*os.File, string, error) {
	s.swept.Do(func() { sweep(filepath.Dir(s.Dir), time.Now().Add(-age)) })
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, "", err
	}
	if used := sizeOf(s.Dir); used >= s.most {
		return nil, "", fmt.Errorf("the outputs of this session take %d MiB in %s already, which is the most", used>>20, s.Dir)
	}
	f, err := os.CreateTemp(s.Dir, fileName(call)+"-*.txt") // 0600, and never an existing file
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

// sweep removes the folders of sessions that spilled last before the given time. What cannot be
// removed stays for the next time.
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
