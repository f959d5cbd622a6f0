package pack

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

type file struct {
	*os.File
	num     int
	end     int64          // read up to here
	indexed int64          // the index covers the records up to here
	recs    map[Hash]place // the latest of each hash
}

type entry struct {
	hash Hash
	place
}

// lookup finds a hash's latest record. A content is stored again if its earlier record is damaged.
func (s *Store) lookup(h Hash) (place, bool) {
	for _, f := range slices.Backward(s.packs) {
		if p, ok := f.recs[h]; ok && !s.bad[p] {
			return p, true
		}
	}
	return place{}, false
}

// entries returns a pack's records in order.
func (f *file) entries() (all []entry) {
	for h, p := range f.recs {
		all = append(all, entry{h, p})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.offset, b.offset) })
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
	if f.indexed == f.end {
		return nil
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync the store: %w", err)
	}
	f.indexed = f.end
	return s.writeIndex(f, filepath.Join(s.dir, indexName(f.num)))
}

func packName(num int) string  { return fmt.Sprintf("%06d.pack", num) }
func indexName(num int) string { return fmt.Sprintf("%06d.idx", num) }
