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

// Sessions loads the logs that refer to states.
type Sessions interface {
	Loader
	List(ctx context.Context) ([]session.Head, error)
}

// Named returns the folder's states sessions refer to. It fails at an unreadable log, whose states
// are unknown; then nothing may be deleted.
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
			continue // removed in the meantime
		}
		if err != nil {
			return nil, err
		}
		for _, s := range Marks(entries) {
			if m, err := undo.ParseMark(s.Mark); err == nil && s.Root == root {
				out = append(out, undo.Named{Mark: m, At: time.Unix(0, s.Time)})
			}
		}
	}
	return out, nil
}

// Forget deletes the stored contents of paths from all states and returns their number.
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

// Interval between deletions of old states, and the longest wait for one at the end of a run. The
// rest is done next time.
const (
	pruneEvery = 24 * time.Hour
	pruneTime  = 2 * time.Second
)

// prune deletes states no session needs, once a day.
func (k *Keeper) prune() {
	done := filepath.Join(k.o.State, "pruned")
	info, err := os.Stat(done)
	if k.o.Named == nil || err == nil && time.Since(info.ModTime()) < pruneEvery {
		return
	}
	if errors.Is(err, fs.ErrNotExist) { // first run: nothing is old
		_ = os.WriteFile(done, nil, 0o600) // else the next end tries again
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

// Look returns the bytes undo has stored for a folder, without creating anything. An error means
// the folder is not covered.
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
