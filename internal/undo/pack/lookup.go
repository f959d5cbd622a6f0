package pack

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

type file struct {
	*os.File
	num int
	end int64 // read up to here
	index
	// fresh holds the records that are missing in the index or were stored again after it.
	fresh map[Hash]place
}

// lookup finds a hash's latest record. A content is stored again if its earlier record is damaged.
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

// entries returns a pack's records, one per hash.
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

// pack returns the open pack with a number, or nil.
func (s *Store) pack(num int) *file {
	for _, f := range s.packs {
		if f.num == num {
			return f
		}
	}
	return nil
}

// reindex writes the index of a pack that nobody appends to. Its payloads were checked or written
// by this process.
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
