package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
)

// writer is the pack that this process appends to and holds locked.
type writer struct {
	*file
	dirty bool
}

func (s *Store) append(h Hash, rec []byte) error {
	if s.writer != nil && s.writer.end+int64(len(rec)) > s.max && s.writer.end > 0 {
		if err := s.seal(); err != nil {
			return err
		}
	}
	if s.writer == nil {
		if err := s.begin(); err != nil {
			return fmt.Errorf("begin a pack: %w", err)
		}
	}
	o := s.writer
	if _, err := o.WriteAt(rec, o.end); err != nil {
		// Truncate the torn tail now, or at the next opening.
		return errors.Join(fmt.Errorf("store content: %w", err), o.Truncate(o.end))
	}
	o.recs[h] = place{o.num, o.end, int64(len(rec)) - headSize}
	o.end += int64(len(rec))
	o.dirty = true
	return nil
}

// Sync makes everything stored so far survive a power loss.
func (s *Store) Sync() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sync()
}

func (s *Store) sync() error {
	if s.kept != nil || s.writer == nil || !s.writer.dirty {
		return nil
	}
	if err := s.writer.Sync(); err != nil {
		return fmt.Errorf("sync the store: %w", err)
	}
	s.writer.dirty = false
	return nil
}

// seal finishes the current pack and writes its index. The pack stays open for reading.
func (s *Store) seal() error {
	if s.writer == nil {
		return nil
	}
	err := errors.Join(s.sync(), s.reindex(s.writer.file), filelock.UnlockFile(s.writer.File))
	s.writer = nil
	return err
}

// begin continues a pack that is unlocked and has room, or starts a new one.
func (s *Store) begin() error {
	if err := s.refresh(); err != nil {
		return err
	}
	last := 0
	if n := len(s.packs); n > 0 {
		f := s.packs[n-1]
		last = f.num
		if f.end < s.max && f.num != s.not {
			if took, err := s.take(f); took || err != nil {
				return err
			}
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
		_ = os.Remove(filepath.Join(s.dir, indexName(num))) // of a deleted pack with this number
		s.packs = append(s.packs, &file{File: f, num: num, recs: map[Hash]place{}})
		if took, err := s.take(s.packs[len(s.packs)-1]); took || err != nil {
			return errors.Join(err, atomicfile.SyncFolder(s.dir))
		}
	}
}

// take makes a pack the current one, unless another process holds it or it is damaged.
func (s *Store) take(f *file) (bool, error) {
	if err := filelock.TryFile(f.File); err != nil {
		if errors.Is(err, filelock.ErrHeld) {
			err = nil
		}
		return false, err
	}
	torn, err := s.check(f)
	if err != nil || torn && f.Truncate(f.end) != nil {
		return false, errors.Join(err, filelock.UnlockFile(f.File))
	}
	s.writer = &writer{file: f}
	return true, nil
}
