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

// A Record describes a work tree that adze made.
type Record struct {
	Name      string   `json:"name"`
	Path      string   `json:"path"` // absolute, without links
	Branch    string   `json:"branch"`
	Base      string   `json:"base"` // its first commit
	Main      string   `json:"main"` // main checkout
	Common    string   `json:"common"`
	OwnBranch bool     `json:"own_branch,omitempty"` // adze made the branch too
	Ready     bool     `json:"ready,omitempty"`      // complete
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

// write replaces a record atomically.
func (r *repository) write(slug string, rec Record) error {
	raw, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return atomicfile.Write(r.file(slug), raw)
}

func (r *repository) lock(slug string) string { return filepath.Join(r.dir, slug+lockEnd) }

// enter waits for the exclusive lock to create the work tree, or for a shared one once it exists.
// alone reports which.
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
			unlock() // its creator is not done
		}
		select {
		case <-ctx.Done():
			return false, nil, usage.Mistake("try again", "the work tree %s is being made, removed or worked in", slug)
		case <-time.After(lockPoll):
		}
	}
}

func within(ctx context.Context) context.Context {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// hold prevents the work tree's removal.
func (r *repository) hold(slug string) (release func(), err error) {
	release, err = filelock.Share(within(context.Background()), r.lock(slug))
	if err != nil {
		return nil, usage.Mistake("try again", "the work tree %s is being removed", slug)
	}
	return release, nil
}

// Hold prevents the removal of dir's work tree until release. Elsewhere it does nothing.
func Hold(state, dir string) (release func(), err error) {
	path, rec, ok := find(state, dir)
	if !ok || !rec.Ready {
		return func() {}, nil
	}
	r := &repository{dir: filepath.Dir(path)}
	return r.hold(strings.TrimSuffix(filepath.Base(path), recordEnd))
}

// find returns the record of the work tree that contains dir.
func find(state, dir string) (path string, rec Record, ok bool) {
	all := records(state)
	if len(all) == 0 {
		return "", Record{}, false // usual case: skip resolving dir
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

// records returns all valid records of all repositories by their files.
func records(state string) map[string]Record {
	names, _ := filepath.Glob(filepath.Join(root(state), "*", "*"+recordEnd)) // the pattern is valid
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

// Names returns a function from a folder to the name of its work tree, or "" if adze made none
// there.
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

// Lookup returns the name of dir's work tree and dir's counterpart in the main checkout, if adze
// made it and the files on both sides confirm it. Otherwise both are "".
func Lookup(state, dir string) (name, main string) {
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

// small returns a short file's trimmed content.
func small(path string) (string, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRecord {
		return "", false
	}
	raw, err := os.ReadFile(path)
	return strings.TrimSpace(string(raw)), err == nil
}
