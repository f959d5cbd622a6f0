package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
	"adze/internal/text/usage"
)

// Record is what is known of a work tree that adze made.
type Record struct {
	Name      string   `json:"name"`
	Path      string   `json:"path"` // absolute, free of links
	Branch    string   `json:"branch"`
	Base      string   `json:"base"` // the commit that it began at
	Main      string   `json:"main"` // the main checkout
	Common    string   `json:"common"`
	OwnBranch bool     `json:"own_branch,omitempty"` // it was made with the work tree
	Ready     bool     `json:"ready,omitempty"`      // all of it is there
	Copied    []string `json:"copied,omitempty"`
}

const (
	recordEnd = ".json"
	lockEnd   = ".lock"
	maxRecord = 64 << 10
	lockWait  = 2 * time.Minute
	lockPoll  = 20 * time.Millisecond
)

func (r *repository) file(slug string) string { return filepath.Join(r.dir, slug+recordEnd) }

func (r *repository) read(slug string) (rec Record, known bool, err error) {
	rec, err = readRecord(r.file(slug))
	if errors.Is(err, fs.ErrNotExist) {
		return rec, false, nil
	}
	return rec, err == nil, err
}

func readRecord(path string) (rec Record, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return rec, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return rec, fmt.Errorf("%s is no record of a work tree", path)
	}
	raw, err := os.ReadFile(path)
	if err == nil && json.Unmarshal(raw, &rec) != nil || err == nil && !filepath.IsAbs(rec.Path) {
		err = fmt.Errorf("%s is damaged; remove it when nothing of its work tree is needed", path)
	}
	return rec, err
}

// write replaces a record whole.
func (r *repository) write(slug string, rec Record) error {
	raw, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return atomicfile.Write(r.file(slug), raw)
}

func (r *repository) lock(slug string) string { return filepath.Join(r.dir, slug+lockEnd) }

// enter waits until the work tree is ours alone, so that it can be made, or until it is there and
// may be gone into.
func (r *repository) enter(ctx context.Context, slug string) (alone bool, unlock func(), err error) {
	ctx = within(ctx)
	for {
		unlock, err := filelock.Try(r.lock(slug))
		alone := err == nil
		if errors.Is(err, filelock.ErrHeld) {
			unlock, err = filelock.TryShare(r.lock(slug))
		}
		if err != nil && !errors.Is(err, filelock.ErrHeld) {
			return false, nil, fmt.Errorf("the work tree %s cannot be locked: %w", slug, err)
		}
		if err == nil {
			if r.list, err = r.Worktrees(ctx); err != nil {
				unlock()
				return false, nil, err
			}
			rec, known, _ := r.read(slug)
			if alone || known && rec.Ready && r.has(rec.Path) {
				return alone, unlock, nil
			}
			unlock() // who made it is not done
		}
		select {
		case <-ctx.Done():
			return false, nil, usage.Mistake("try again", "the work tree %s is being made, removed or worked in", slug)
		case <-time.After(lockPoll):
		}
	}
}

// within bounds a wait for a lock.
func within(ctx context.Context) context.Context {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// hold keeps the work tree from being removed.
func (r *repository) hold(slug string) (release func(), err error) {
	release, err = filelock.Share(within(context.Background()), r.lock(slug))
	if err != nil {
		return nil, usage.Mistake("try again", "the work tree %s is being removed", slug)
	}
	return release, nil
}

// Hold keeps the work tree that a folder lies in from being removed, for who works there; elsewhere
// it does nothing.
func Hold(state, dir string) (release func(), err error) {
	path, rec, ok := find(state, dir)
	if !ok || !rec.Ready {
		return func() {}, nil
	}
	r := &repository{dir: filepath.Dir(path)}
	return r.hold(strings.TrimSuffix(filepath.Base(path), recordEnd))
}

// find is the record of the work tree that a folder lies in.
func find(state, dir string) (path string, rec Record, ok bool) {
	all := records(state)
	if len(all) == 0 {
		return "", Record{}, false // as for nearly everybody: the folder's way need not be walked
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for name, rec := range all {
		if rec.holds(dir) {
			return name, rec, true
		}
	}
	return "", Record{}, false
}

// records are all there are, of all repositories, by their files; damaged ones are left out.
func records(state string) map[string]Record {
	names, _ := filepath.Glob(filepath.Join(root(state), "*", "*"+recordEnd)) // the pattern is sound
	var out map[string]Record
	for _, name := range names {
		if rec, err := readRecord(name); err == nil {
			if out == nil {
				out = map[string]Record{}
			}
			out[name] = rec
		}
	}
	return out
}

func (rec Record) holds(dir string) bool {
	return dir == rec.Path || strings.HasPrefix(dir, rec.Path+string(filepath.Separator))
}

// Names tells the name of the work tree that a folder lies in; if empty, in none that adze made.
func Names(state string) func(dir string) string {
	all := records(state)
	return func(dir string) string {
		for _, rec := range all {
			if rec.holds(dir) {
				return rec.Name
			}
		}
		return ""
	}
}

// Of names the work tree that a folder lies in, and the same folder of the main checkout, where
// adze made it and it still belongs to that repository: its own files say so on both sides. Else
// both are empty.
func Of(state, dir string) (name, main string) {
	_, rec, ok := find(state, dir)
	if !ok || !rec.Ready || rec.Common == "" || linkedTo(rec.Path) != rec.Common {
		return "", ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(rec.Path, dir)
	if err != nil {
		return "", ""
	}
	return rec.Name, filepath.Join(rec.Main, rel)
}

// small is what a short file holds, without blanks around it.
func small(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRecord {
		return "", false
	}
	raw, err := os.ReadFile(path)
	return strings.TrimSpace(string(raw)), err == nil
}
