package batch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/files/filelock"
)

// UsualQuota is how many bytes mirrors may have together, where nothing else is said.
const UsualQuota = 10 << 30

// sweepEvery is how often the mirrors are measured at most.
const sweepEvery = 10 * time.Minute

// sweep removes mirrors until the rest is within the quota, the least recently used first, and
// never one that a task uses. What cannot be removed stays. It does nothing when the last time was
// a moment ago.
func (b *Batch) sweep() {
	last := filepath.Join(b.mirrors.dir, "swept")
	if info, err := os.Stat(last); err == nil && time.Since(info.ModTime()).Abs() < sweepEvery {
		return
	}
	_ = os.WriteFile(last, nil, 0o600) // without it the next task measures again
	most := b.Quota
	if most == 0 {
		most = UsualQuota
	}
	_ = Sweep(b.mirrors.dir, most)
}

// Sweep removes mirrors of a folder until the others have at most so many bytes together.
func Sweep(dir string, most int64) error {
	all, err := measure(dir)
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, m := range all {
		sum += m.size
	}
	for _, m := range all {
		if sum <= most {
			break
		}
		unlock, err := filelock.Try(m.path + ".used")
		if err != nil { // a task uses it
			continue
		}
		if drop(m.path) == nil {
			sum -= m.size
		}
		unlock()
	}
	return nil
}

// drop removes a mirror in one step, and then its files: one of which only a part is left would be
// taken for a whole one. The files of its locks stay, as who waits for one has it open.
func drop(path string) error {
	gone := path + ".gone"
	if err := os.RemoveAll(gone); err != nil {
		return err
	}
	if err := os.Rename(path, gone); err != nil {
		return err
	}
	return os.RemoveAll(gone)
}

// measured is a mirror with its size and when a task has used it last.
type measured struct {
	path string
	size int64
	used time.Time
}

// measure lists the mirrors of a folder, the least recently used first, and removes what is left of
// those whose removal was cut off.
func measure(dir string) (all []measured, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasSuffix(path, ".gone") {
			_ = os.RemoveAll(path) // it is tried again
		}
		if !e.IsDir() || !strings.HasSuffix(path, ".git") {
			continue
		}
		m := measured{path: path}
		if info, err := os.Stat(path + ".used"); err == nil {
			m.used = info.ModTime()
		}
		_ = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what is not there takes nothing
			}
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				m.size += info.Size()
			}
			return nil
		})
		all = append(all, m)
	}
	slices.SortFunc(all, func(x, y measured) int { return x.used.Compare(y.used) })
	return all, nil
}
