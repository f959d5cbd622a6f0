package pack

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// refresh reads what was appended to the packs since they were last looked at, by whomever.
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
		if s.out != nil && s.out.num == num {
			continue
		}
		if s.open[num] == nil {
			f, err := os.OpenFile(filepath.Join(s.dir, e.Name()), os.O_RDWR, 0)
			if err != nil {
				return fmt.Errorf("read the store: %w", err)
			}
			s.open[num] = f
		}
		end, _, err := s.scan(num, s.ends[num], false)
		if err != nil {
			return err
		}
		s.ends[num] = end
	}
	return nil
}

// check reads a whole pack with its payloads, as is done before something is appended to it: after a loss of
// power the heads may be there and the payloads not.
func (s *Store) check(num int) (end int64, torn bool, err error) {
	before := 0
	for h, p := range s.at {
		if p.pack == num {
			delete(s.at, h)
			before++
		}
	}
	left := len(s.at)
	end, torn, err = s.scan(num, 0, true)
	if len(s.at)-left < before {
		s.dropped++
	}
	return end, torn, err
}

// scan enters the records of a pack from an offset on and returns where the last whole one ends, and whether
// something stands behind it. Damage with whole records behind it is stepped over.
func (s *Store) scan(num int, from int64, payloads bool) (end int64, torn bool, err error) {
	f := s.open[num]
	st, err := f.Stat()
	if err != nil {
		return from, false, fmt.Errorf("read the store: %w", err)
	}
	at := from
	for at < st.Size() {
		h, ok := headAt(f, at, st.Size())
		if ok && (payloads || at+headSize+h.stored == st.Size()) {
			_, err := readPayload(f, at, h)
			ok = err == nil
		}
		if !ok {
			next := resync(f, at+1, st.Size())
			if next < 0 {
				return at, true, nil
			}
			at = next
			continue
		}
		s.at[h.hash] = place{num, at} // the latest counts: it was stored again because the one before was damaged
		at += headSize + h.stored
	}
	return at, false, nil
}

func headAt(f io.ReaderAt, at, size int64) (head, bool) {
	var b [headSize]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return head{}, false
	}
	h, ok := parseHead(b[:])
	return h, ok && at+headSize+h.stored <= size
}

// resync finds the next whole record, or -1.
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
