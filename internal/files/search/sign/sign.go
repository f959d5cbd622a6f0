// Package sign keeps what files certainly do not hold: for each block of a file a bit set of the
// three-byte sequences in it. A search asks it which files need not be read.
//
// The one rule: a signature belongs to one state of one file, named by a keyed hash of its device,
// inode, size and both times in nanoseconds. Whatever changes a file changes that, so a signature
// is found or it is not; it is never stale. Nothing else of a file is kept: no name, no text.
//
// Start reading at Needed (need.go), which reads off a pattern what every match has to contain,
// then Table.Reject (rejects.go). Of a long file that may match, Rejects.Parts (parts.go) tells
// which lines have to be read. Writer makes tables, Folder keeps them.
//
// A block is 16 KiB and the 256 bytes behind it, so that every text of up to 256 bytes lies in one
// of them. Letters are folded in ASCII. Three bytes become one of 2^18 numbers, and a block has
// five bits for every two that it holds: four percent of the text in all. Block and bits were
// measured: whole files let large ones through for nearly every word, four bits for each number
// save a third of the reads for twice the size. Beside its set a block has the number of its lines
// and where the first and the last of them end, so that a part of a file is of whole lines and
// knows their numbers. How the numbers are made matters little: with five other ways to mix them
// the blocks let through for 300 names were as many within four percent.
//
// Why each file is asked for its state at every search, though that is half of what one costs:
// nothing less tells that it is the one that was signed. A watch of its folder (inotify) hears
// neither of a write through a hard link in another folder, nor of the making of such a link, nor
// of a store into a shared map; one of each file hears of links, but holds every inode in the
// kernel's memory, a kilobyte each; a mark on the file system (fanotify) is for root, and deaf to
// maps as well. io_uring hands each such question to a worker thread of the kernel, which saves
// none of its work (read, not measured). What a folder can prove, which names it holds, is
// remembered instead (search.Folders). A file that was met before and will be read as far as one
// can tell is not asked: reading it tells more (Mark).
//
// Known limits: what writes through a shared memory map changes the times of a file only now and
// then, so such a file may be missed while its writer lives; on file systems of other machines
// nothing is signed for that reason. Files with NUL bytes, those in UTF-16 and those larger than 16
// MB are always read.
package sign

import (
	"math/bits"
	"time"
)

// State is what says that a file is still the one that was signed.
type State struct {
	Device, Inode     uint64
	Size              int64
	Modified, Changed time.Time
}

// Young is how old the times of a file have to be when it is signed. Within that span a second
// change may leave the times as they are: FAT counts in steps of two seconds, others in some
// milliseconds.
const Young = 2 * time.Second

// Settled reports that a change of the file from now on will show in its times.
func (s State) Settled(now time.Time) bool {
	limit := now.Add(-Young)
	return s.Modified.Before(limit) && s.Changed.Before(limit)
}

// key makes names of states that nobody can foresee who does not know it.
type key [2]uint64

// name is never 0.
func (k key) name(s State) uint64 {
	h := k[0]
	for _, v := range [...]uint64{s.Device, s.Inode, uint64(s.Size), uint64(s.Modified.UnixNano()), uint64(s.Changed.UnixNano())} {
		high, low := bits.Mul64(h^v^0x9e3779b97f4a7c15, k[1]|1)
		h = high ^ low ^ bits.RotateLeft64(v, 29)
	}
	high, low := bits.Mul64(h^k[1], k[0]|1)
	return max(high^low, 1)
}
