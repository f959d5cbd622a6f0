package apply

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

// Act is a step's action.
type Act byte

const (
	ActPut    Act = 'p' // put the command's version there
	ActRemove Act = 'r'
	ActMove   Act = 'm' // rename the entry at From
	ActPark   Act = 'k' // move the entry at From into the view until its rename
	ActLink   Act = 'l' // add a name for the entry at From
	ActWrite  Act = 'w' // write differing bytes, then attributes
	ActExtend Act = 'a' // append bytes, even if others append too
	ActDress  Act = 'd' // attributes only
)

// A Step is one action and can be repeated.
type Step struct {
	Number int // index in the journal, used in temporary names
	Root   int
	Act    Act
	Path   string
	From   string `json:",omitempty"`
	Kind   Kind
	Upper  entry.Stat // the command's version
	Lower  entry.Stat // expected entry at the place, or at From
	Over   entry.Stat // expected entry at a rename's target
	Moved  bool       // Lower was renamed, which changes its change time
	Dress  bool       // attributes differ
	Times  bool       // set the modification time too
	Mover  string     `json:"Waits,omitempty"` // the command's version after a rename step moved it; the old JSON name held a number
	Parked int        // number of the parked entry at From; 0 if not parked
	Locked bool
	Group  int
	Order  int
}

// Journal is written before the first change.
type Journal struct {
	Roots []Root
	Since [2]int64
	Steps []Step
}

// Step orders, around the callers' small ones.
const (
	OrderEarly = -1000 + iota // permissions for later steps
	OrderMoves
	OrderParks
	OrderLate = 1000 + iota
	OrderLinks
	OrderWrites
	OrderFolders
)

// WriteJournal writes and syncs the journal atomically.
func (g *Locations) WriteJournal(j Journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	at := filepath.Join(g.Dir, JournalName)
	f, err := os.OpenFile(at+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, unix.Fdatasync(int(f.Fd())), f.Close()); err != nil {
		return err
	}
	return entry.Rename(at+".new", at)
}

// mostSynced limits the files synced before they replace others. A sync inside the view has no
// effect, because the kernel does not sync volatile overlays.
const mostSynced = 16

// Sync syncs files that replace others, and git's locked files. It starts all writes before
// waiting, so that the file system commits once.
func (g *Locations) Sync(steps []Step) {
	var files []int
	n := 0
	for _, s := range steps {
		if s.Kind != File || s.Act != ActPut || !s.Lower.Exists() && !s.Locked {
			continue
		}
		if n++; n > mostSynced && !s.Locked {
			continue
		}
		if fd, err := unix.Open(filepath.Join(g.UpperFolder(s.Root), s.Path), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0); err == nil {
			_ = unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE)
			files = append(files, fd)
		}
	}
	for _, fd := range files {
		_ = unix.Fdatasync(fd) // errors show up when reading
		_ = unix.Close(fd)
	}
}
