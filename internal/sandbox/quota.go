//go:build unix

package sandbox

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
	"adze/internal/sandbox/overlay/entry"
)

// The private caches of all workspaces together have a quota. What they hold is measured beside a
// run, at most once a day, since that takes a look at each file; the next run that starts removes
// the oldest parts over the quota, a tool's part of a workspace at a time, before its first
// command. What another adze uses stays.

// usualQuota is what the caches of all workspaces may hold, in bytes.
const usualQuota = 10 << 30

// measuredEvery is how old a measurement may be.
const measuredEvery = 24 * time.Hour

// oldCaches begins the names of what is being removed.
const oldCaches = ".old-"

// caches are the private caches of all workspaces.
type caches struct {
	root  string // the folder of all of them
	own   string // the name of this workspace's
	quota int64
	now   func() time.Time
}

// cachePart is what one tool keeps of one workspace: its path below the root.
type cachePart struct {
	Path  string    `json:"path"`
	Bytes int64     `json:"bytes"`
	At    time.Time `json:"at"` // when it was measured
	used  time.Time
}

func (c caches) list() string            { return filepath.Join(c.root, "sizes.json") }
func (c caches) lock(name string) string { return filepath.Join(c.root, name+".lock") }

// begin takes the own cache into use until the file is closed, and removes what is over the quota
// first. If nil, it cannot be taken.
func (c caches) begin() *os.File {
	if os.MkdirAll(filepath.Join(c.root, c.own), 0o700) != nil {
		return nil
	}
	f, err := os.OpenFile(c.lock(c.own), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil
	}
	c.trim(f)
	_ = os.Chtimes(filepath.Join(c.root, c.own), time.Time{}, c.now())
	_ = unix.Flock(int(f.Fd()), unix.LOCK_SH)
	return f
}

// trim moves the oldest parts away until the rest fits.
func (c caches) trim(own *os.File) {
	var parts []cachePart
	data, err := os.ReadFile(c.list())
	if err != nil || json.Unmarshal(data, &parts) != nil {
		return
	}
	total := int64(0)
	for i := range parts {
		total += parts[i].Bytes
		parts[i].used = c.usedAt(parts[i].Path)
	}
	slices.SortFunc(parts, func(a, b cachePart) int { return a.used.Compare(b.used) })
	left := parts[:0]
	for _, p := range parts {
		if total > c.quota && filepath.IsLocal(p.Path) && c.away(p.Path, own) {
			total -= p.Bytes
			continue
		}
		left = append(left, p)
	}
	if len(left) < len(parts) {
		c.write(left)
	}
}

// usedAt is when a part was used last: when its workspace was, for one that is older than the part
// itself.
func (c caches) usedAt(path string) (at time.Time) {
	for _, name := range []string{path, filepath.Dir(path)} {
		if info, err := os.Lstat(filepath.Join(c.root, name)); err == nil && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at
}

// away moves a part to where it is removed, unless another adze uses the cache.
func (c caches) away(path string, own *os.File) bool {
	lock := own
	if name := filepath.Dir(path); name != c.own {
		f, err := os.OpenFile(c.lock(name), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return false
		}
		defer f.Close()
		lock = f
	}
	if filelock.TryFile(lock) != nil {
		return false
	}
	to, err := os.MkdirTemp(c.root, oldCaches)
	return err == nil && unix.Rename(filepath.Join(c.root, path), filepath.Join(to, "part")) == nil
}

// measure removes what was moved away, and writes down what each part holds whose last time is long
// ago. When it is told to stop it keeps what it has, and the next run goes on.
func (c caches) measure(over <-chan struct{}) {
	var known, parts []cachePart
	if data, err := os.ReadFile(c.list()); err == nil {
		_ = json.Unmarshal(data, &known) // else all is measured
	}
	stopped, changed := false, false
	for _, path := range c.parts() {
		i := slices.IndexFunc(known, func(p cachePart) bool { return p.Path == path })
		if i >= 0 && (stopped || c.now().Sub(known[i].At) < measuredEvery) {
			parts = append(parts, known[i])
			continue
		}
		if stopped {
			continue
		}
		bytes, ok := bytesBelow(filepath.Join(c.root, path), over)
		if stopped = !ok; ok {
			changed = true
			parts = append(parts, cachePart{Path: path, Bytes: bytes, At: c.now()})
		} else if i >= 0 {
			parts = append(parts, known[i])
		}
	}
	if changed || len(parts) != len(known) {
		c.write(parts)
	}
}

// parts lists what is there, and removes what was moved away.
func (c caches) parts() (out []string) {
	entries, _ := os.ReadDir(c.root)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), oldCaches) {
			_ = entry.RemoveAll(filepath.Join(c.root, e.Name()))
			continue
		}
		tools, _ := os.ReadDir(filepath.Join(c.root, e.Name())) // of a file there are none
		for _, t := range tools {
			out = append(out, filepath.Join(e.Name(), t.Name()))
		}
	}
	return out
}

func (c caches) write(parts []cachePart) {
	if data, err := json.Marshal(parts); err == nil {
		_ = atomicfile.WriteCache(c.list(), data)
	}
}

// bytesBelow is what a folder holds; if false, it was told to stop.
func bytesBelow(dir string, over <-chan struct{}) (bytes int64, ok bool) {
	ok = true
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		select {
		case <-over:
			ok = false
			return fs.SkipAll
		default:
		}
		if err != nil {
			return nil // what cannot be read counts as nothing
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes, ok
}
