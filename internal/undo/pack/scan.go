package pack

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// refresh reads the records appended to the packs since the last look, by any process.
func (s *Store) refresh() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("read the store: %w", err)
	}
	for _, e := range entries {
		var num int
		if _, err := fmt.Sscanf(e.Name(), "%06d.pack", &num); err != nil || packName(num) != e.Name() || !e.Type().IsRegular() {
			continue
		}
		if s.writer != nil && s.writer.num == num {
			continue
		}
		f := s.pack(num)
		if f == nil {
			if f, err = openPack(s.dir, num); err != nil {
				return fmt.Errorf("read the store: %w", err)
			}
			s.packs = append(s.packs, f)
		}
		if _, err := f.scan(false); err != nil {
			return err
		}
	}
	slices.SortFunc(s.packs, func(a, b *file) int { return a.num - b.num })
	return nil
}

func openPack(dir string, num int) (*file, error) {
	f, err := os.OpenFile(filepath.Join(dir, packName(num)), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) { // it is still readable
		f, err = os.Open(filepath.Join(dir, packName(num)))
	}
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p := &file{File: f, num: num, recs: map[Hash]place{}}
	p.readIndex(filepath.Join(dir, indexName(num)), st.Size())
	return p, nil
}

// check verifies a pack's payloads after its index's end before anything is appended: after a power
// loss the heads may exist without the payloads. The index was written after a sync.
func (s *Store) check(f *file) (torn bool, err error) {
	before := len(f.recs)
	maps.DeleteFunc(f.recs, func(_ Hash, p place) bool { return p.offset >= f.indexed })
	f.end = f.indexed
	torn, err = f.scan(true)
	if len(f.recs) < before {
		s.dropped++
	}
	return torn, err
}

// scan adds a pack's records from the last position, and reports whether anything follows the last
// valid one. It skips damage before valid records.
func (f *file) scan(payloads bool) (torn bool, err error) {
	st, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("read the store: %w", err)
	}
	at := f.end
	for at < st.Size() {
		h, ok := headAt(f, at, st.Size())
		if ok && (payloads || at+headSize+h.stored == st.Size()) {
			_, err := readPayload(f, at, h)
			ok = err == nil
		}
		if !ok {
			next := resync(f, at+1, st.Size())
			if next < 0 {
				f.end = at
				return true, nil
			}
			at = next
			continue
		}
		f.recs[h.hash] = place{f.num, at, h.stored}
		at += headSize + h.stored
	}
	f.end = at
	return false, nil
}

func headAt(f io.ReaderAt, at, size int64) (head, bool) {
	var b [headSize]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return head{}, false
	}
	h, ok := parseHead(b[:])
	return h, ok && at+headSize+h.stored <= size
}

// resync finds the next valid record, or returns -1.
func resync(f io.ReaderAt, at, size int64) int64 {
	const window = 1 << 20
	buf := make([]byte, window)
	for at < size {
		n, _ := f.ReadAt(buf[:min(window, size-at)], at)
		for i := 0; ; i++ {
			j := bytes.Index(buf[i:n], []byte(magic))
			if j < 0 {
				break
			}
			i += j
			if h, ok := headAt(f, at+int64(i), size); ok {
				if _, err := readPayload(f, at+int64(i), h); err == nil {
					return at + int64(i)
				}
			}
		}
		if n < len(magic) {
			return -1
		}
		at += int64(n - len(magic) + 1)
	}
	return -1
}
