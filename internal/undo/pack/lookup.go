package pack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// file is one pack, open for reading.
type file struct {
	*os.File
	num int
	end int64 // how far it was read
	index
	// fresh are the records that are not in the index, or stored once more after it.
	fresh map[Hash]place
}

// lookup finds the latest record of a hash: it was stored again because the one before was damaged.
func (s *Store) lookup(h Hash) (place, bool) {
	for i := len(s.packs) - 1; i >= 0; i-- {
		if p, ok := s.packs[i].lookup(h); ok && !s.bad[p] {
			return p, true
		}
	}
	return place{}, false
}

func (f *file) lookup(h Hash) (place, bool) {
	if p, ok := f.fresh[h]; ok {
		return p, true
	}
	if i := f.find(h); i >= 0 {
		return f.place(i, f.num), true
	}
	return place{}, false
}

// entries are the records of a pack, each hash once.
func (f *file) entries() []entry {
	all := make([]entry, 0, f.len()+len(f.fresh))
	for i := range f.len() {
		h := f.hash(i)
		if _, again := f.fresh[h]; !again {
			all = append(all, entry{h, f.place(i, f.num)})
		}
	}
	for h, p := range f.fresh {
		all = append(all, entry{h, p})
	}
	return all
}

// pack returns the pack of a number; nil when it is not open.
func (s *Store) pack(num int) *file {
	for _, f := range s.packs {
		if f.num == num {
			return f
		}
	}
	return nil
}

// reindex writes the index of a pack to which nobody appends. Its payloads were checked, or written
// here.
func (s *Store) reindex(f *file) error {
	if len(f.fresh) == 0 {
		return nil
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync the store: %w", err)
	}
	good := slices.DeleteFunc(f.entries(), func(e entry) bool { return s.bad[e.place] })
	f.index = makeIndex(good, f.end)
	f.fresh = map[Hash]place{}
	return f.write(filepath.Join(s.dir, indexName(f.num)))
}

func packName(num int) string  { return fmt.Sprintf("%06d.pack", num) }
func indexName(num int) string { return fmt.Sprintf("%06d.idx", num) }
