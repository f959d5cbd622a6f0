package wire

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
)

const (
	maxFindings     = 200 // models and formats in the file
	maxFindingBytes = 16 << 10
	findingAge      = 30 * 24 * time.Hour // servers may have been updated since
	findingsWait    = 2 * time.Second     // for another process's lock
)

// Findings stores what servers refused for models, in a file shared by all of a user's processes.
// An unreadable file counts as empty and is rewritten; if it cannot be written, the next process
// learns again. A nil value stores nothing. It is safe for concurrent use.
type Findings struct {
	path  string
	clock func() time.Time

	mu      sync.Mutex
	entries map[string]finding // as first read; nil before
}

// finding is a value and its time.
type finding struct {
	FoundAt time.Time       `json:"since"`
	Value   json.RawMessage `json:"says"`
}

// NewFindings stores findings in a file, which is read at the first request.
func NewFindings(path string, clock func() time.Time) *Findings {
	return &Findings{path: path, clock: clock}
}

// subject identifies a model at a server, without secrets from the address.
func subject(address, model string) string { return model + " at " + DisplayURL(address) }

// Get decodes a finding into a value and reports whether it exists.
func (f *Findings) Get(address, model, kind string, into any) bool {
	return f.Fresh(address, model, kind, findingAge, into)
}

// Fresh is Get for a finding not older than age.
func (f *Findings) Fresh(address, model, kind string, age time.Duration, into any) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries == nil {
		f.entries = f.read()
	}
	found, ok := f.entries[kind+" of "+subject(address, model)]
	return ok && f.clock().Sub(found.FoundAt) <= age && json.Unmarshal(found.Value, into) == nil
}

// Keep stores a finding.
func (f *Findings) Keep(address, model, kind string, value any) {
	says := JSON(value)
	if f == nil || len(says) > maxFindingBytes {
		return
	}
	f.change(func(known map[string]finding) {
		known[kind+" of "+subject(address, model)] = finding{FoundAt: f.clock().UTC(), Value: says}
	})
}

// Forget deletes all findings for a model.
func (f *Findings) Forget(address, model string) {
	if f == nil {
		return
	}
	f.change(func(known map[string]finding) {
		maps.DeleteFunc(known, func(key string, _ finding) bool { return strings.HasSuffix(key, " of "+subject(address, model)) })
	})
}

// change updates the file under its lock. Best effort: errors never fail a request.
func (f *Findings) change(change func(map[string]finding)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), findingsWait)
	defer cancel()
	if os.MkdirAll(filepath.Dir(f.path), 0o700) != nil {
		return
	}
	unlock, err := filelock.Wait(ctx, f.path+".lock")
	if err != nil {
		return
	}
	defer unlock()
	f.entries = f.read()
	change(f.entries)
	byAge := slices.SortedFunc(maps.Keys(f.entries), func(a, b string) int { return f.entries[b].FoundAt.Compare(f.entries[a].FoundAt) })
	for _, key := range byAge[min(len(byAge), maxFindings):] {
		delete(f.entries, key)
	}
	_ = atomicfile.WriteCache(f.path, JSON(f.entries))
}

// read returns the file's findings, except old ones and those from the future.
func (f *Findings) read() map[string]finding {
	known := map[string]finding{}
	file, err := os.Open(f.path)
	if err != nil {
		return known
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxFindings*(maxFindingBytes+1<<10)))
	if err != nil || json.Unmarshal(raw, &known) != nil || known == nil {
		return map[string]finding{}
	}
	now := f.clock()
	maps.DeleteFunc(known, func(_ string, found finding) bool {
		age := now.Sub(found.FoundAt)
		return age > findingAge || age < -findingAge/30
	})
	return known
}

// memory is an adapter's knowledge about one model.
type memory struct {
	fit
	earlier bool // learned by an earlier process
}

const fitKind = "wire.fit"

// recall returns the knowledge about a model; first reports the first query in this process.
func (a *Adapter) recall(model string) (f fit, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.memories[model]
	if first = m == nil; first {
		m = &memory{}
		if m.earlier = a.Options.Findings.Get(a.Options.BaseURL, model, fitKind, &m.fit); !m.earlier {
			m.fit = fit{}
		}
		a.remember(model, m)
	}
	return m.clone(), first
}

// remember caches a model's memory. The caller holds a.mu.
func (a *Adapter) remember(model string, m *memory) {
	if a.memories == nil {
		a.memories = map[string]*memory{}
	}
	a.memories[model] = m
}

// know stores f for this process, and without conversation-specific quirks for later ones.
func (a *Adapter) know(model string, f fit) {
	a.mu.Lock()
	a.remember(model, &memory{fit: f, earlier: a.memories[model].earlier})
	a.mu.Unlock()
	f = f.clone()
	for _, q := range append(a.Quirks, Quirk{Name: unread, PerConversation: true}) {
		if q.PerConversation {
			delete(f.Quirks, q.Name)
		}
	}
	a.Options.Findings.Keep(a.Options.BaseURL, model, fitKind, f)
}

// forget drops the knowledge from earlier processes. It returns false if there was none.
func (a *Adapter) forget(model string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.memories[model].earlier {
		return false
	}
	a.remember(model, &memory{})
	a.Options.Findings.Forget(a.Options.BaseURL, model)
	return true
}
