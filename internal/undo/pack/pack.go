// Package pack keeps contents by their hash in files that only grow.
//
// The one rule: a content that Get returns has the hash it was asked for; everything else is an error. A
// record is written once and never changed, so whatever a killed process leaves behind is a torn tail.
//
// Start reading at Store.Put and Store.Get; record.go is one record, scan.go finds the records of a file.
// A folder is shared by processes: each appends to a file of its own, which it holds locked, and finds what
// the others wrote when it misses something. The folder is 0700 and its files 0600: they hold secrets.
//
// Known limits: a content is in memory as a whole while it is stored or read; the index is built by reading
// the heads of all records at the opening (about 1 µs each) and kept in memory; nothing is ever dropped yet.
package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// MaxPack is how large a file grows before the next one is begun, in bytes.
const MaxPack = 64 << 20

// MaxContent bounds one content, in bytes.
const MaxContent = 1 << 30

// Errors that callers decide by.
var (
	ErrMissing = errors.New("content is not stored")
	ErrDamaged = errors.New("stored content is damaged")
	ErrLarge   = errors.New("content is too large to store")
)

// Hash is the sha256 of a content.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Sum returns the hash of a content.
func Sum(content []byte) Hash { return sha256.Sum256(content) }

// place is where a record stands.
type place struct {
	pack int
	at   int64
}

// Store is a folder of packs. It may be used by several goroutines.
type Store struct {
	dir  string
	max  int64
	mu   sync.Mutex
	at   map[Hash]place
	open map[int]*os.File
	ends map[int]int64 // how far a pack was read
	out  *writer       // nil until something is stored

	dropped uint64
}

// writer is the pack that this process appends to, which it holds locked.
type writer struct {
	file  *os.File
	lock  *flock.Flock
	num   int
	end   int64
	dirty bool
}

// Open opens the store in dir and makes the folder when it is missing.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dir: dir, max: MaxPack, at: map[Hash]place{}, open: map[int]*os.File{}, ends: map[int]int64{}}
	if err := s.refresh(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close lets go of the files. What was not synced may be lost with the power, not with the process.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := []error{s.seal()}
	for _, f := range s.open {
		errs = append(errs, f.Close())
	}
	clear(s.open)
	return errors.Join(errs...)
}

// Has reports whether a content is stored.
func (s *Store) Has(h Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.at[h]
	return ok
}

// Len is the number of contents.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

// Put stores a content, unless it is there already, and returns its hash. It is safe from a killed process
// at once, and from a loss of power after Sync.
func (s *Store) Put(content []byte) (Hash, error) {
	h := Sum(content)
	return h, s.PutSum(h, content)
}

// PutSum is Put of a content whose hash is known.
func (s *Store) PutSum(h Hash, content []byte) error {
	if len(content) > MaxContent {
		return ErrLarge
	}
	if s.Has(h) {
		return nil
	}
	rec := encode(h, content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.at[h]; ok {
		return nil
	}
	return s.append(h, rec)
}

// Dropped is another number each time that contents were dropped, or turned out to be damaged: what Has said
// before must be asked again.
func (s *Store) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

func (s *Store) append(h Hash, rec []byte) error {
	if s.out != nil && s.out.end+int64(len(rec)) > s.max && s.out.end > 0 {
		if err := s.seal(); err != nil {
			return err
		}
	}
	if s.out == nil {
		if err := s.begin(); err != nil {
			return fmt.Errorf("begin a pack: %w", err)
		}
	}
	o := s.out
	if _, err := o.file.WriteAt(rec, o.end); err != nil {
		// What was written of it is a torn tail; cut it now, or else at the next opening.
		return errors.Join(fmt.Errorf("store content: %w", err), o.file.Truncate(o.end))
	}
	s.at[h] = place{o.num, o.end}
	o.end += int64(len(rec))
	o.dirty = true
	s.ends[o.num] = o.end
	return nil
}

// Get returns a stored content.
func (s *Store) Get(h Hash) ([]byte, error) {
	f, p, err := s.find(h)
	if err != nil {
		return nil, err
	}
	content, err := readRecord(f, p.at, h)
	if err != nil {
		s.forget(h, p) // so that it is stored anew when it turns up again
		return nil, fmt.Errorf("%s at %d of %s: %w", h, p.at, packName(p.pack), err)
	}
	return content, nil
}

func (s *Store) forget(h Hash, p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at[h] == p {
		delete(s.at, h)
		s.dropped++
	}
}

func (s *Store) find(h Hash) (*os.File, place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.at[h]
	if !ok {
		// Another process may have stored it since.
		if err := s.refresh(); err != nil {
			return nil, place{}, err
		}
		if p, ok = s.at[h]; !ok {
			return nil, place{}, fmt.Errorf("%s: %w", h, ErrMissing)
		}
	}
	return s.open[p.pack], p, nil
}

// Sync makes all that was stored safe from a loss of power.
func (s *Store) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sync()
}

func (s *Store) sync() error {
	if s.out == nil || !s.out.dirty {
		return nil
	}
	if err := s.out.file.Sync(); err != nil {
		return fmt.Errorf("sync the store: %w", err)
	}
	s.out.dirty = false
	return nil
}

// seal ends the pack that is written; it stays open for reading.
func (s *Store) seal() error {
	if s.out == nil {
		return nil
	}
	err := errors.Join(s.sync(), s.out.lock.Close())
	s.out = nil
	return err
}

// begin goes on with a pack that nobody writes and has room, else begins a new one.
func (s *Store) begin() error {
	if err := s.refresh(); err != nil {
		return err
	}
	last := 0
	for num := range s.open {
		last = max(last, num)
	}
	if last > 0 {
		if took, err := s.take(last); took || err != nil {
			return err
		}
	}
	for num := last + 1; ; num++ {
		f, err := os.OpenFile(filepath.Join(s.dir, packName(num)), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		if s.open[num] != nil {
			_ = s.open[num].Close()
		}
		s.open[num] = f
		if took, err := s.take(num); took || err != nil {
			return errors.Join(err, syncFolder(s.dir))
		}
	}
}

// take makes a pack the one that is written, unless another process holds it or it is full or damaged.
func (s *Store) take(num int) (bool, error) {
	path := filepath.Join(s.dir, packName(num))
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	got, err := lock.TryLock()
	if err != nil || !got {
		return false, errors.Join(err, lock.Close())
	}
	end, torn, err := s.check(num)
	if err != nil || end >= s.max || torn && s.cut(num, end) != nil {
		return false, errors.Join(err, lock.Close())
	}
	s.ends[num] = end
	s.out = &writer{file: s.open[num], lock: lock, num: num, end: end}
	return true, nil
}

func (s *Store) cut(num int, end int64) error { return s.open[num].Truncate(end) }

func packName(num int) string { return fmt.Sprintf("%06d.pack", num) }

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
