package recorder

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"adze/internal/undo"
	"adze/session"
)

// Sessions is where the logs are that name states.
type Sessions interface {
	Loader
	List(ctx context.Context) ([]session.Head, error)
}

// Named are the states of a folder that sessions name. Of a log that cannot be read nobody knows
// what it names: then it fails, and nothing may be dropped.
func Named(ctx context.Context, from Sessions, root string) (out []undo.Named, err error) {
	heads, err := from.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		if h.Info().Cwd != root {
			continue
		}
		entries, err := from.Load(ctx, h.ID)
		if errors.Is(err, session.ErrNotFound) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		for _, s := range Marks(entries) {
			if m, err := undo.ParseMark(s.Mark); err == nil && s.Root == root {
				out = append(out, undo.Named{Mark: m, At: time.Unix(0, s.At)})
			}
		}
	}
	return out, nil
}

// Forget drops what is kept of paths in all states of the folder, and how many contents that were.
func (d Manager) Forget(ctx context.Context, paths []string) (int, error) {
	named, err := d.Named(ctx)
	if err != nil {
		return 0, err
	}
	marks := make([]undo.Mark, len(named))
	for i, n := range named {
		marks[i] = n.Mark
	}
	return d.Files.Forget(ctx, paths, marks...)
}

// Times of dropping old states: how often, and how long the end of a run may wait for it. What is
// not done is done next time.
const (
	pruneEvery = 24 * time.Hour
	pruneTime  = 2 * time.Second
)

// prune drops once a day what no session needs any more.
func (k *Keeper) prune() {
	done := filepath.Join(k.o.State, "pruned")
	info, err := os.Stat(done)
	if k.o.Named == nil || err == nil && time.Since(info.ModTime()) < pruneEvery {
		return
	}
	if errors.Is(err, fs.ErrNotExist) { // it begins now: nothing is old
		_ = os.WriteFile(done, nil, 0o600) // it is tried again at the next end
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), pruneTime)
	defer cancel()
	named, err := k.o.Named(ctx)
	if err != nil {
		return
	}
	if _, err := k.ws.Prune(ctx, undo.Retention{}, named...); err == nil || errors.Is(err, undo.ErrInUse) {
		now := time.Now()
		_ = os.Chtimes(done, now, now)
	}
}

// About is what undo has of a folder.
type About struct {
	Store string // where it is kept
	Bytes int64  // that this takes
	Count int    // paths that were left out when the folder was last worked in
	First []string
	Size  int64 // bytes of those
}

func about(state string) string { return filepath.Join(state, "left.json") }

// note writes down what is left out, for who asks when nothing is open.
func (k *Keeper) note() {
	a := About{}
	for _, l := range k.ws.LeftOut() {
		a.Count++
		a.Size += l.Size
		if len(a.First) < 3 {
			a.First = append(a.First, l.Path)
		}
	}
	if data, err := json.Marshal(a); err == nil {
		_ = os.WriteFile(about(k.o.State), data, 0o600) // it is only told
	}
}

// Look says what undo has of a folder; it opens and makes nothing. An error says why the folder is
// not covered.
func Look(o undo.Options) (About, error) {
	a := About{}
	if data, err := os.ReadFile(about(o.State)); err == nil {
		_ = json.Unmarshal(data, &a) // a damaged one tells nothing
	}
	a.Store = o.State
	err := filepath.WalkDir(o.State, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				a.Bytes += info.Size()
			}
		}
		return nil //nolint:nilerr // what is not there takes nothing
	})
	return a, errors.Join(err, undo.Covers(o))
}
