// Package pack keeps contents by their hash in files that only grow.
//
// The one rule: a content that Get returns has the hash it was asked for; everything else is an
// error. A record is written once and never changed, so whatever a killed process leaves behind is
// a torn tail.
//
// Start reading at Store.Put and Store.Get; record.go is one record, scan.go finds the records of a
// file. A folder is shared by processes: each appends to a file of its own, which it holds locked,
// and finds what the others wrote when it misses something. The folder is 0700 and its files 0600:
// they hold secrets. Each has an index, which is only a cache (index.go). Sweep (sweep.go) drops
// what nobody names.
//
// Known limits: a content is in memory as a whole while it is stored or read; the indexes are kept
// in memory, 48 bytes a record; nothing is dropped while another process has the store open.
package pack

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
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
	// ErrInUse means that another process has the store open, or drops from it.
	ErrInUse = errors.New("the store is in use by another process")
)

// Hash is the sha256 of a content.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Sum returns the hash of a content.
func Sum(content []byte) Hash { return sha256.Sum256(content) }

// place is where a record stands.
type place struct {
	pack       int
	at, stored int64
}

// Store is a folder of packs. It may be used by several goroutines.
type Store struct {
	dir   string
	max   int64
	mu    sync.Mutex
	leave func()  // unlocks the store, which all share who have it open, and one has alone who drops from it
	packs []*file // by their numbers
	bad   map[place]bool
	out   *writer // nil until something is stored
	not   int     // the pack that is not appended to, because it is dropped

	// kept is what was stored in a store that is only looked into; nil for a store that is written.
	// Of large contents only the hash is there.
	kept map[Hash][]byte

	dropped uint64
}

// Open opens the store in dir and makes the folder when it is missing.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dir: dir, max: MaxPack, bad: map[place]bool{}, leave: func() {}}
	if err := s.share(); err != nil {
		return nil, err
	}
	if err := s.refresh(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Look opens the store in dir for reading only: nothing is made, locked or mended. What is stored
// is kept in memory, where large contents are forgotten.
func Look(dir string) (*Store, error) {
	s := &Store{dir: dir, max: MaxPack, bad: map[place]bool{}, kept: map[Hash][]byte{}}
	if err := s.refresh(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, s.closePacks())
	}
	return s, nil
}

// mostKept bounds a content that is kept in memory, in bytes.
const mostKept = 256 << 10

// Close lets go of the files. What was not synced may be lost with the power, not with the process.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept != nil {
		return s.closePacks()
	}
	err := errors.Join(s.seal(), s.closePacks())
	s.leave()
	return err
}

func (s *Store) closePacks() error {
	var errs []error
	for _, f := range s.packs {
		errs = append(errs, f.Close())
	}
	s.packs = nil
	return errors.Join(errs...)
}

// Has reports whether a content is stored.
func (s *Store) Has(h Hash) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.lookup(h)
	_, kept := s.kept[h]
	return ok || kept
}

// Size returns how many bytes of the disk a content takes; 0 when it is not stored.
func (s *Store) Size(h Hash) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.lookup(h); ok {
		return headSize + p.stored
	}
	return 0
}

// Stats are the number of records and the bytes that they take on the disk.
func (s *Store) Stats() (records int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.packs {
		records += f.len() + len(f.fresh)
		bytes += f.end
	}
	return records, bytes
}

// Put stores a content, unless it is there already, and returns its hash. It is safe from a killed
// process at once, and from a loss of power after Sync.
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
	if s.kept != nil {
		return s.keep(h, content)
	}
	rec := encode(h, content)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.lookup(h); ok {
		return nil
	}
	return s.append(h, rec)
}

// keep is PutSum of a store that is only looked into.
func (s *Store) keep(h Hash, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[h] = nil
	if len(content) <= mostKept {
		s.kept[h] = append([]byte{}, content...)
	}
	return nil
}

// Dropped is another number each time that contents were dropped, or turned out to be damaged: what
// Has said before must be asked again.
func (s *Store) Dropped() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Get returns a stored content.
func (s *Store) Get(h Hash) ([]byte, error) {
	s.mu.Lock()
	own := s.kept[h]
	s.mu.Unlock()
	if own != nil {
		return own, nil
	}
	f, p, err := s.find(h)
	if err != nil {
		return nil, err
	}
	content, err := readRecord(f, p.at, h)
	if err != nil {
		s.forget(p) // so that it is stored anew when it turns up again
		return nil, fmt.Errorf("%s at %d of %s: %w", h, p.at, packName(p.pack), err)
	}
	return content, nil
}

func (s *Store) forget(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad[p] = true
	s.dropped++
}

func (s *Store) find(h Hash) (*file, place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.lookup(h)
	if !ok {
		// Another process may have stored it since.
		if err := s.refresh(); err != nil {
			return nil, place{}, err
		}
		if p, ok = s.lookup(h); !ok {
			return nil, place{}, fmt.Errorf("%s: %w", h, ErrMissing)
		}
	}
	return s.pack(p.pack), p, nil
}
