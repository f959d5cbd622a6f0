package sign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Folder keeps tables, one for each tree. It is the user's own; whatever in it cannot be read or
// written is as if it were not there.
type Folder struct{ Path string }

// Bounds of a folder.
const (
	keepUnused = 30 * 24 * time.Hour
	maxFolder  = 512 << 20 // bytes
)

const (
	tableEnding = ".signs"
	partEnding  = ".part"
)

// ErrBusy means that another process writes a table.
var ErrBusy = errors.New("another process writes signatures")

func (f Folder) path(at Place) string {
	return filepath.Join(f.Path, fmt.Sprintf("%016x%s", at.sum(), tableEnding))
}

// Draft is a table that is being written, while no other process writes one.
type Draft struct {
	*Writer
	folder Folder
	at     Place
	unlock func()
}

// Begin starts a table. Its error is ErrBusy, or says why nothing can be written there.
func (f Folder) Begin(at Place, now time.Time) (*Draft, error) {
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		return nil, err
	}
	unlock, err := f.lock()
	if err != nil {
		return nil, err
	}
	f.sweep()
	part, err := os.CreateTemp(f.Path, "*"+partEnding) // of mode 0600
	if err != nil {
		unlock()
		return nil, err
	}
	return &Draft{Writer: newWriter(part, at, now), folder: f, at: at, unlock: unlock}, nil
}

// Drop gives a table up.
func (d *Draft) Drop() {
	_ = d.f.Close()
	_ = os.Remove(d.f.Name())
	d.unlock()
}

// Finish puts the table in the place of the last one, at once. whole says that nothing of the tree
// is missing.
func (d *Draft) Finish(whole bool) error {
	if whole {
		d.h.whole = 1
	}
	if err := errors.Join(d.finish(), d.f.Close()); err != nil {
		d.Drop()
		return err
	}
	defer d.unlock()
	if err := os.Rename(d.f.Name(), d.folder.path(d.at)); err != nil {
		return errors.Join(err, os.Remove(d.f.Name()))
	}
	d.folder.prune(time.Now())
	return nil
}

// entries lists files of an ending.
func (f Folder) entries(ending string) []fs.FileInfo {
	all, err := os.ReadDir(f.Path)
	if err != nil {
		return nil
	}
	var infos []fs.FileInfo
	for _, e := range all {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ending) && info.Mode().IsRegular() {
			infos = append(infos, info)
		}
	}
	return infos
}

// sweep removes what processes left that were killed: whoever holds the lock knows that none of
// them still writes.
func (f Folder) sweep() {
	for _, info := range f.entries(partEnding) {
		_ = os.Remove(filepath.Join(f.Path, info.Name()))
	}
}

// prune removes tables that nobody used for long, and the oldest while there is too much.
func (f Folder) prune(now time.Time) {
	all := f.entries(tableEnding)
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var sum int64
	for _, info := range all {
		sum += info.Size()
		if sum > maxFolder || now.Sub(info.ModTime()) > keepUnused {
			_ = os.Remove(filepath.Join(f.Path, info.Name()))
		}
	}
}
