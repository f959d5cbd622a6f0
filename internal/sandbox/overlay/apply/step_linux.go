package apply

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"adze/internal/sandbox/overlay/entry"

	"golang.org/x/sys/unix"
)

// Act is what a step does.
type Act byte

const (
	ActPut    Act = 'p' // the entry of ours takes the place
	ActRemove Act = 'r'
	ActMove   Act = 'm' // what is at From gets the name
	ActPark   Act = 'k' // what is at From waits in the view until it gets its name
	ActLink   Act = 'l' // what is at From gets a second name
	ActWrite  Act = 'w' // bytes in the file, then its attributes
	ActExtend Act = 'a' // bytes at the end of the file, whoever else appends to it
	ActDress  Act = 'd' // attributes alone
)

// Step is a part of applying the changes. It can be done again.
type Step struct {
	Number int // in the journal; it makes names
	Root   int
	Act    Act
	Path   string
	From   string `json:",omitempty"`
	Kind   Kind
	Upper  entry.Stat // of what is put there, or whose attributes it gets
	Lower  entry.Stat // of what must be at the place, or at From
	Over   entry.Stat // of what must be at the place to which something is renamed
	Moved  bool       // Lower had another name: its time of change is another one now
	Dress  bool       // the attributes are others
	Times  bool       // the time of change of the content is set, too
	Mover  string     `json:"Waits,omitempty"` // where ours is after a step moved it; its old name was of a number
	Parked int        // the number by which what is at From waits; if 0, it does not
	Locked bool
	Group  int
	Order  int
}

// Journal is what is written before the first entry is changed.
type Journal struct {
	Roots []Root
	Since [2]int64
	Steps []Step
}

// Orders of steps, around those of the callers, which are small.
const (
	OrderEarly = -1000 + iota // the rights that the steps need
	OrderMoves
	OrderParks
	OrderLate = 1000 + iota
	OrderLinks
	OrderWrites
	OrderFolders
)

// WriteJournal writes it whole, and to the disk: after a loss of power there is none or all of it.
func (g *Ground) WriteJournal(j Journal) error {
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

// mostSynced is how many files of one command are written to the disk before they replace others.
// What a program wrote to the disk in a view is not there yet, because the kernel does not sync
// volatile overlays.
const mostSynced = 16

// Sync writes the files to the disk that take the place of others, and those that git keeps under
// lock. All are begun before one is waited for, which is one commit of the file system for all.
func (g *Ground) Sync(steps []Step) {
	var files []int
	n := 0
	for _, s := range steps {
		if s.Kind != File || s.Act != ActPut || !s.Lower.There() && !s.Locked {
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
		_ = unix.Fdatasync(fd) // what fails is told when it is read
		_ = unix.Close(fd)
	}
}
