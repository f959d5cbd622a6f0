// Package pack stores contents by hash in append-only files.
//
// The one rule: a content returned by Get has the requested hash; everything else is an error.
// Records are written once and never changed, so a killed process leaves at most a torn tail.
//
// Start reading at Store.Put and Store.Get; record.go encodes a record, scan.go finds a file's
// records. Processes share a folder: each appends to its own locked file, and rereads the others'
// files when it misses a content. The folder is 0700 and its files 0600: they hold secrets. Each
// file has an index, which is only a cache (index.go). Sweep (sweep.go) deletes unreferenced
// contents.
//
// Known limits: a content is held in memory while it is stored or read; the indexes are kept in
// memory, about 100 bytes a record; nothing is deleted while another process has the store open.
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

// MaxPack is the size in bytes at which the next file is started.
const MaxPack = 64 << 20

// MaxContent limits the size of one content, in bytes.
const MaxContent = 1 << 30

// Errors for callers to test.
var (
	ErrMissing = errors.New("content is not stored")
	ErrDamaged = errors.New("stored content is damaged")
	ErrLarge   = errors.New("content is too large to store")
	// ErrInUse means another process has the store open or is deleting from it.
	ErrInUse = errors.New("the store is in use by another process")
)

// A Hash is a content's SHA-256.
type Hash [sha256.Size]byte

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Sum returns a content's hash.
func Sum(content []byte) Hash { return sha256.Sum256(content) }

type place struct {
	pack           int
	offset, stored int64
}

// A Store is a folder of packs. It is safe for concurrent use.
type Store struct {
	dir    string
	max    int64
	mu     sync.Mutex
	leave  func()  // releases the store's lock: shared by all users, exclusive for one that deletes
	packs  []*file // by number
	bad    map[place]bool
	writer *writer // nil until something is stored
	not    int     // a pack not to append to, because it is being deleted

	// kept holds the contents stored in a read-only store, nil otherwise. Large contents have only
	// their hash.
	kept map[Hash][]byte

	dropped uint64
}

// Open opens the store in dir, creating it if needed.
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

// Look opens the store in dir read-only: nothing is created, locked or repaired. Stored contents
// are kept in memory, without large ones.
func Look(dir string) (*Store, error) {
	s := &Store{dir: dir, max: MaxPack, bad: map[place]bool{}, kept: map[Hash][]byte{}}
	if err := s.refresh(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, s.closePacks())
	}
	return s, nil
}

// mostKept limits a content kept in memory, in bytes.
const mostKept = 256 << 10

// Close closes the files. Unsynced contents survive the process's end but not a power loss.
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

// Size returns a content's bytes on disk, or 0 if it is not stored.
func (s *Store) Size(h Hash) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.lookup(h); ok {
		return headSize + p.stored
	}
	return 0
}

// Stats returns the number of records and their bytes on disk.
func (s *Store) Stats() (records int, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.packs {
		records += len(f.recs)
		bytes += f.end
	}
	return records, bytes
}

// Put stores a content if it is new and returns its hash. The content survives a crash of the
// process at once, and a power loss after Sync.
func (s *Store) Put(content []byte) (Hash, error) {
	h := Sum(content)
	return h, s.PutSum(h, content)
}

// PutSum is Put with a known hash.
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

// keep is PutSum for a read-only store.
func (s *Store) keep(h Hash, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[h] = nil
	if len(content) <= mostKept {
		s.kept[h] = append([]byte{}, content...)
	}
	return nil
}

// Dropped returns a number that changes whenever contents were deleted or found damaged: earlier
// results of Has are then invalid.
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
	content, err := readRecord(f, p.offset, h)
	if err != nil {
		s.forget(p) // so that the content is stored again next time
		return nil, fmt.Errorf("%s at %d of %s: %w", h, p.offset, packName(p.pack), err)
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
