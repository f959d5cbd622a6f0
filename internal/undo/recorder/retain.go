package recorder

import (
	"context"
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

// Look says how many bytes undo has of a folder; it opens and makes nothing. An error says why the
// folder is not covered.
func Look(o undo.Options) (bytes int64, err error) {
	err = filepath.WalkDir(o.State, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil //nolint:nilerr // what is not there takes nothing
	})
	return bytes, errors.Join(err, undo.Covers(o))
}
