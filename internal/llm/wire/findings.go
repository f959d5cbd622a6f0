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
	findingAge      = 30 * 24 * time.Hour // a server may have learned more since
	findingsWait    = 2 * time.Second     // for another process that writes
)

// Findings keep what refusals say of models at servers in one file that all processes of a user
// share. A file that cannot be read counts as empty and is written anew; where it cannot be
// written, the next process learns again. A nil value keeps nothing. It is safe for concurrent use.
type Findings struct {
	path  string
	clock func() time.Time

	mu    sync.Mutex
	known map[string]finding // as the file was when it was first wanted; if nil, not read yet
}

// finding is what is known, and since when.
type finding struct {
	Since time.Time       `json:"since"`
	Says  json.RawMessage `json:"says"`
}

// NewFindings keeps findings in a file. Nothing is read before the first request.
func NewFindings(path string, clock func() time.Time) *Findings {
	return &Findings{path: path, clock: clock}
}

// subject names a model at a server. An address may hold a secret beside the server.
func subject(address, model string) string { return model + " at " + Shown(address) }

// Get reads a finding of a kind into a value, if there is one.
func (f *Findings) Get(address, model, kind string, into any) bool {
	return f.Fresh(address, model, kind, findingAge, into)
}

// Fresh is Get for a finding that is not older than an age.
func (f *Findings) Fresh(address, model, kind string, age time.Duration, into any) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = f.read()
	}
	found, ok := f.known[kind+" of "+subject(address, model)]
	return ok && f.clock().Sub(found.Since) <= age && json.Unmarshal(found.Says, into) == nil
}

// Keep adds a finding of a kind.
func (f *Findings) Keep(address, model, kind string, value any) {
	says := JSON(value)
	if f == nil || len(says) > maxFindingBytes {
		return
	}
	f.change(func(known map[string]finding) {
		known[kind+" of "+subject(address, model)] = finding{Since: f.clock().UTC(), Says: says}
	})
}

// Forget drops all findings of a model.
func (f *Findings) Forget(address, model string) {
	if f == nil {
		return
	}
	f.change(func(known map[string]finding) {
		maps.DeleteFunc(known, func(key string, _ finding) bool { return strings.HasSuffix(key, " of "+subject(address, model)) })
	})
}

// change reads and writes the file under its lock. Best effort: a request never fails for it.
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
	f.known = f.read()
	change(f.known)
	byAge := slices.SortedFunc(maps.Keys(f.known), func(a, b string) int { return f.known[b].Since.Compare(f.known[a].Since) })
	for _, key := range byAge[min(len(byAge), maxFindings):] {
		delete(f.known, key)
	}
	_ = atomicfile.WriteCache(f.path, JSON(f.known))
}

// read is the file, without what is too old or from a clock that ran ahead.
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
		age := now.Sub(found.Since)
		return age > findingAge || age < -findingAge/30
	})
	return known
}

// memory is what an adapter knows of one model.
type memory struct {
	fit
	earlier bool // an earlier process learned it
}

// fitKind names what is kept of a model.
const fitKind = "wire.fit"

// recall is what is known of a model; first says that nobody asked for it in this process yet.
func (a *Adapter) recall(model string) (f fit, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.known[model]
	if first = m == nil; first {
		m = &memory{}
		if m.earlier = a.Options.Findings.Get(a.Options.BaseURL, model, fitKind, &m.fit); !m.earlier {
			m.fit = fit{}
		}
		a.remember(model, m)
	}
	return m.clone(), first
}

// remember is called under a.mu.
func (a *Adapter) remember(model string, m *memory) {
	if a.known == nil {
		a.known = map[string]*memory{}
	}
	a.known[model] = m
}

// know holds for the next requests of this process, and for the next processes without what may be
// the fault of one conversation.
func (a *Adapter) know(model string, f fit) {
	a.mu.Lock()
	a.remember(model, &memory{fit: f, earlier: a.known[model].earlier})
	a.mu.Unlock()
	f = f.clone()
	for _, q := range append(a.Quirks, Quirk{Name: unread, Once: true}) {
		if q.Once {
			delete(f.Quirks, q.Name)
		}
	}
	a.Options.Findings.Keep(a.Options.BaseURL, model, fitKind, f)
}

// forget drops what earlier processes knew of a model; if false, they knew nothing.
func (a *Adapter) forget(model string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.known[model].earlier {
		return false
	}
	a.remember(model, &memory{})
	a.Options.Findings.Forget(a.Options.BaseURL, model)
	return true
}
