package proc

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"adze/internal/osfile/atomicfile"
	"adze/internal/sandbox/proc/shim"
)

// A Ledger is a folder with one small file for every running shim. A shim ends its processes when
// adze dies; the ledger is for the case that both were killed, for example by the kernel for lack
// of memory. Methods of a nil Ledger do nothing.
type Ledger struct {
	dir  string
	self func() identity
}

// NewLedger stores records in dir, which is created with the first one.
func NewLedger(dir string) *Ledger {
	return &Ledger{dir: dir, self: sync.OnceValue(func() identity { return identify(os.Getpid()) })}
}

// identity distinguishes a process from a later one with the same id.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks after boot
	Boot  string `json:"boot"`
}

func identify(pid int) identity {
	st, ok := shim.ReadStat(pid)
	if !ok || st.State == 'Z' {
		return identity{}
	}
	return identity{PID: pid, Start: st.Start, Boot: bootID()}
}

func bootID() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(boot))
}

func (i identity) alive() bool { return i.PID > 0 && identify(i.PID) == i }

type entry struct {
	Tag   string   `json:"tag"`
	Owner identity `json:"owner"`
	Shim  identity `json:"shim"`
	Space string   `json:"space"` // both processes' namespace
}

const recordEnd = ".json"

// record writes a shim's record and returns a function to remove it. Errors are ignored: the shim
// alone covers everything but a double kill.
func (l *Ledger) record(pid int, tag string) (remove func()) {
	if l == nil {
		return nil
	}
	owner := l.self()
	e := entry{Tag: tag, Owner: owner, Shim: identity{PID: pid, Boot: owner.Boot}, Space: processSpace()}
	if st, ok := shim.ReadStat(pid); ok {
		e.Shim.Start = st.Start
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil
	}
	path := filepath.Join(l.dir, strconv.Itoa(pid)+recordEnd)
	err = atomicfile.WriteCache(path, data) // another adze must not read half a record
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(l.dir, 0o700) == nil {
		err = atomicfile.WriteCache(path, data)
	}
	if err != nil {
		return nil
	}
	return func() { _ = os.Remove(path) }
}

// Reaped is the result of Reap.
type Reaped struct {
	Calls     []string // the ended calls' tags
	Ended     int
	Survivors int
}

// Reap ends the remaining processes of dead adze processes' calls and removes their records. Calls
// of a running adze are left alone. Without records it costs one failed open.
func (l *Ledger) Reap() (Reaped, error) {
	var r Reaped
	if l == nil {
		return r, nil
	}
	names, err := readNames(l.dir)
	for _, name := range names {
		path := filepath.Join(l.dir, name)
		if data, err := os.ReadFile(path); err == nil {
			var e entry
			if json.Unmarshal(data, &e) == nil && e.Owner.alive() {
				continue
			}
			r.end(e)
			_ = os.Remove(path)
		}
	}
	return r, err
}

// readNames lists the complete records.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{CodeIO, err}
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != recordEnd })
	if err != nil {
		return names, &Error{CodeIO, err}
	}
	return names, nil
}

// end ends one record's processes: those below its shim and those with its mark.
func (r *Reaped) end(e entry) {
	if e.Tag == "" || e.Shim.Boot != identify(os.Getpid()).Boot {
		return // torn record, or one from before the last boot
	}
	roots := func() []int {
		pids := findMarked(e.Tag)
		if e.Shim.alive() {
			pids = append(append(pids, e.Shim.PID), shim.Descendants(e.Shim.PID)...)
		}
		return pids
	}
	ended, left := endAll(roots)
	if ended > 0 {
		r.Calls = append(r.Calls, e.Tag)
	}
	r.Ended += ended
	r.Survivors += left
}

// Limits for ending processes that are not below this one: no event signals their end.
const (
	orphanRounds = 40
	orphanRetry  = 5 * time.Millisecond
)

// endAll kills the listed processes until list is empty, or gives up.
func endAll(list func() []int) (ended, left int) {
	seen := make(map[int]bool)
	for range orphanRounds {
		pids, _ := shim.KillTree(list)
		if len(pids) == 0 {
			return len(seen), 0
		}
		for _, pid := range pids {
			seen[pid] = true
		}
		time.Sleep(orphanRetry)
	}
	left = len(list())
	return len(seen) - left, left
}

// endLost ends the processes of a call whose shim was killed: those with its mark, and those
// adopted by this process since. The caller must have waited for the shim.
func endLost(tag string) (ended, left int) {
	var orphans []int
	ended, left = endAll(func() []int {
		orphans = append(orphans, adopted()...)
		return append(findMarked(tag), adopted()...)
	})
	for _, pid := range orphans {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
	}
	return ended, left
}

// findMarked lists live processes with a call's mark, and their descendants.
func findMarked(tag string) []int {
	var found []int
	mark := []byte(Mark + "=" + tag + "\x00")
	for _, pid := range shim.AllPIDs() {
		if pid == os.Getpid() {
			continue
		}
		if !bytes.Contains(append([]byte{0}, environ(pid)...), append([]byte{0}, mark...)) {
			continue
		}
		found = append(append(found, pid), shim.Descendants(pid)...)
	}
	return found
}
