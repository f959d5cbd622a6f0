package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
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
func subject(address, model string) string {
	if u, err := url.Parse(address); err == nil {
		address = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	return model + " at " + address
}

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

// memory is what an adapter knows of its models, by kind and model. The zero value is ready; it is
// safe for concurrent use.
type memory struct {
	mu      sync.Mutex
	known   map[string]any
	earlier map[string]bool // models of which an earlier process knew something
	unkept  map[string]bool // what no request went well with yet
}

// recall is what is known of a model; usual is what holds where nothing is.
func recall[T any](a *Adapter, model string, usual T) T {
	m, kind := &a.memory, fmt.Sprintf("%T", usual)
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known[kind+" "+model]; ok {
		return known.(T)
	}
	known := usual
	if !a.Options.Findings.Get(a.Options.BaseURL, model, kind, &known) {
		known = usual
	} else {
		if m.earlier == nil {
			m.earlier = map[string]bool{}
		}
		m.earlier[model] = true
	}
	m.set(kind+" "+model, known)
	return known
}

func (m *memory) set(key string, value any) {
	if m.known == nil {
		m.known = map[string]any{}
	}
	m.known[key] = value
}

// know holds for the next requests of this process.
func know[T any](a *Adapter, model string, value T) {
	m, key := &a.memory, fmt.Sprintf("%T", value)+" "+model
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(key, value)
	if m.unkept == nil {
		m.unkept = map[string]bool{}
	}
	m.unkept[key] = true
}

// keep holds for the next processes what a request went well with.
func keep[T any](a *Adapter, model string, value T) {
	m, kind := &a.memory, fmt.Sprintf("%T", value)
	m.mu.Lock()
	unkept := m.unkept[kind+" "+model]
	delete(m.unkept, kind+" "+model)
	m.mu.Unlock()
	if unkept {
		a.Options.Findings.Keep(a.Options.BaseURL, model, kind, value)
	}
}

// forget drops what earlier processes knew of a model; if false, they knew nothing.
func (a *Adapter) forget(model string) bool {
	m := &a.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.earlier[model] {
		return false
	}
	delete(m.earlier, model)
	maps.DeleteFunc(m.known, func(key string, _ any) bool { return strings.HasSuffix(key, " "+model) })
	a.Options.Findings.Forget(a.Options.BaseURL, model)
	return true
}

// Learn sends a request with what is known of a model, begins with usual, and asks again as long as
// learn draws something new from the refusal. M holds the parts of a request that not every model
// of a format accepts.
func Learn[M comparable](a *Adapter, model string, usual M, post func(M) (*Reply, error), learn func(M, error) M) (*Reply, error) {
	for {
		m := recall(a, model, usual)
		reply, err := post(m)
		if err == nil {
			keep(a, model, m)
			return reply, nil
		}
		after := learn(m, err)
		if after == m {
			return nil, err
		}
		know(a, model, after)
	}
}
