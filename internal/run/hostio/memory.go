package hostio

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/osfile/atomicfile"
	"adze/internal/text/lineread"
)

// Limits for a workspace's history.
const (
	maxMemories    = 500
	maxMemoryBytes = 1 << 20 // then the older half is dropped
	maxMemoryLine  = maxMemoryBytes / 4
)

// Memory stores the user's messages in one workspace: a file with one JSON string per line. It is
// optional, so errors are ignored.
type Memory struct{ path string }

// NewMemory returns a workspace's history, stored in the state folder.
func NewMemory(state, dir string) Memory {
	sum := sha256.Sum256([]byte(dir))
	return Memory{filepath.Join(state, "prompts", hex.EncodeToString(sum[:8])+".jsonl")}
}

// Messages returns the messages, oldest first.
func (m Memory) Messages() []string {
	f, err := os.Open(m.path)
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []string
	lines := lineread.New(f, maxMemoryLine)
	for {
		line, err := lines.Next()
		if err != nil && !errors.Is(err, lineread.ErrLong) {
			break
		}
		var text string
		if err == nil && json.Unmarshal(line, &text) == nil && text != "" {
			out = append(slices.DeleteFunc(out, func(s string) bool { return s == text }), text)
		}
	}
	return out[max(len(out)-maxMemories, 0):]
}

// Add appends a text, unless it is longer than maxMemoryLine. A line is written at once, so several
// processes may add.
func (m Memory) Add(text string) {
	line, err := json.Marshal(text)
	if err != nil || len(line) > maxMemoryLine || os.MkdirAll(filepath.Dir(m.path), 0o700) != nil {
		return
	}
	if info, err := os.Stat(m.path); err == nil && info.Size() > maxMemoryBytes {
		past := m.Messages()
		m.rewrite(past[len(past)/2:])
	}
	f, err := os.OpenFile(m.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n')) // optional, so errors are ignored
}

// Forget removes texts, as written or as sent.
func (m Memory) Forget(texts []string) {
	past := m.Messages()
	kept := slices.DeleteFunc(slices.Clone(past), func(s string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.TrimSpace(s) == strings.TrimSpace(t) })
	})
	if len(kept) < len(past) {
		m.rewrite(kept)
	}
}

func (m Memory) rewrite(texts []string) {
	var kept []byte
	for _, text := range texts {
		if line, err := json.Marshal(text); err == nil {
			kept = append(append(kept, line...), '\n')
		}
	}
	_ = atomicfile.WriteCache(m.path, kept) // otherwise the longer file stays
}
