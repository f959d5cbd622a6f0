// Package outputs saves outputs that were truncated for the model, in full, in files of the
// session.
//
// The one rule: the files are private, contain no secrets, are limited in size, and are deleted in
// time.
//
// Start reading at NewFiles. Known limits: the size of a session's outputs is checked before each
// file, not while one is written.
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

// age is how long full outputs are kept.
const age = 14 * 24 * time.Hour

// maxSpilled limits one session's outputs on disk, in bytes.
const maxSpilled = 1 << 30

// Files saves one session's full outputs.
type Files struct {
	Dir string
	// Mask redacts secrets; nil redacts only those recognized by their shape.
	Mask  func() *redact.Masker
	most  int64 // bytes
	swept *sync.Once
}

// NewFiles returns a Files that saves below dir, created with the first output.
func NewFiles(dir string) Files { return Files{Dir: dir, most: maxSpilled, swept: &sync.Once{}} }

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

// Open creates the file of an output that comes in pieces.
func (s Files) Open(call tool.CallID) (io.WriteCloser, string, error) {
	f, path, err := s.create(call)
	if err != nil {
		return nil, "", err
	}
	return &maskedFile{f, s.mask().Stream()}, path, nil
}

// OpenMasked is like Open for an output that is already masked for the model.
func (s Files) OpenMasked(call tool.CallID) (io.WriteCloser, string, error) {
	f, path, err := s.create(call)
	if err != nil {
		return nil, "", err
	}
	return f, path, nil
}

// maskedFile masks secrets, also those split across two writes.
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

// create creates a file with mode 0600. The first one of a run deletes old outputs.
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

func sizeOf(dir string) (size int64) {
	files, _ := os.ReadDir(dir) // unreadable folders count as empty
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			size += info.Size()
		}
	}
	return size
}

// sweep removes the folders of sessions last used before the given time. Failed removals are
// retried the next time.
func sweep(dir string, before time.Time) {
	folders, _ := os.ReadDir(dir)
	for _, f := range folders {
		if info, err := f.Info(); err == nil && f.IsDir() && info.ModTime().Before(before) {
			os.RemoveAll(filepath.Join(dir, f.Name()))
		}
	}
}

// fileName keeps a call ID's characters that are safe in a file name.
func fileName(call tool.CallID) string {
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, string(call))
	return clean[:min(len(clean), 64)]
}
