package pack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"adze/internal/osfile/atomicfile"
	"adze/internal/osfile/filelock"
)

// A Sweep selects the contents to delete.
type Sweep struct {
	// Live reports whether a content is still referenced.
	Live func(Hash) bool
	// All deletes every dead content. Otherwise a pack is only rewritten if more than half of it is
	// dead.
	All bool
	// Step is called before each change on disk. Optional.
	Step func()
}

// shareWait is how long Open waits for a process that is deleting.
const shareWait = 20 * time.Second

func (s *Store) inUse() string { return filepath.Join(s.dir, "in-use") }

// share takes the shared lock.
func (s *Store) share() error {
	ctx, cancel := context.WithTimeout(context.Background(), shareWait)
	defer cancel()
	leave, err := filelock.Share(ctx, s.inUse())
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrInUse
	}
	if err != nil {
		return fmt.Errorf("lock the store: %w", err)
	}
	s.leave = leave
	return nil
}

// alone takes the exclusive lock, or fails with ErrInUse.
func (s *Store) alone() error {
	s.leave()
	leave, err := filelock.Try(s.inUse())
	switch {
	case errors.Is(err, filelock.ErrHeld):
		// Contents may have been deleted in between.
		return errors.Join(ErrInUse, s.enterAgain())
	case err != nil:
		return fmt.Errorf("lock the store: %w", err)
	}
	s.leave = leave
	return s.reload()
}

func (s *Store) enterAgain() error { return errors.Join(s.share(), s.reload()) }

// reload rereads the store from disk.
func (s *Store) reload() error {
	s.dropped++
	clear(s.bad)
	return errors.Join(s.seal(), s.closePacks(), s.refresh())
}

// Sweep deletes contents that are not live. It deletes dead packs first, then rewrites the others
// one at a time: live contents are appended elsewhere and synced before the pack is deleted. So it
// needs extra space for at most one pack and may be killed at any moment. It fails with ErrInUse,
// deleting nothing, while another process has the store open. freed is in bytes on disk, also on
// error.
func (s *Store) Sweep(ctx context.Context, w Sweep) (freed int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.seal(); err != nil {
		return 0, err
	}
	if err := s.alone(); err != nil {
		return 0, err
	}
	before := s.size()
	err = s.sweep(ctx, w)
	freed = before - s.size()
	err = errors.Join(err, s.seal())
	s.leave()
	return freed, errors.Join(err, s.enterAgain())
}

func (s *Store) size() (bytes int64) {
	for _, f := range s.packs {
		bytes += f.end
	}
	return bytes
}

func (s *Store) sweep(ctx context.Context, w Sweep) error {
	if w.Step == nil {
		w.Step = func() {}
	}
	w.Step()
	var rest []*file
	for _, f := range slices.Clone(s.packs) {
		live := s.liveBytes(f, w)
		switch {
		case live == 0:
			w.Step()
			if err := s.drop(f); err != nil {
				return err
			}
		case w.All && live < f.end, f.end-live > f.end/2:
			rest = append(rest, f)
		}
	}
	for _, f := range rest {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.rewrite(f, w); err != nil {
			return err
		}
	}
	return nil
}

// lives reports whether a record is needed: it is live and its content's latest.
func (s *Store) lives(e entry, w Sweep) bool {
	p, ok := s.lookup(e.hash)
	return ok && p == e.place && w.Live(e.hash)
}

func (s *Store) liveBytes(f *file, w Sweep) (live int64) {
	for _, e := range f.entries() {
		if s.lives(e, w) {
			live += headSize + e.stored
		}
	}
	return live
}

// rewrite appends a pack's live contents elsewhere, without damaged ones, and deletes the pack.
func (s *Store) rewrite(f *file, w Sweep) error {
	if s.writer != nil && s.writer.file == f {
		if err := s.seal(); err != nil {
			return err
		}
	}
	s.not = f.num
	defer func() { s.not = 0 }()
	for _, e := range f.entries() {
		if !s.lives(e, w) {
			continue
		}
		if _, err := readRecord(f, e.offset, e.hash); err != nil {
			continue
		}
		rec := make([]byte, headSize+e.stored)
		if _, err := f.ReadAt(rec, e.offset); err != nil {
			return fmt.Errorf("rewrite a pack: %w", err)
		}
		w.Step()
		if err := s.append(e.hash, rec); err != nil {
			return fmt.Errorf("rewrite a pack: %w", err)
		}
	}
	w.Step()
	if err := s.sync(); err != nil {
		return err
	}
	return s.drop(f)
}

// drop deletes a pack, its index first: a new pack may reuse the number.
func (s *Store) drop(f *file) error {
	s.dropped++
	if err := os.Remove(filepath.Join(s.dir, indexName(f.num))); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Remove(filepath.Join(s.dir, packName(f.num))); err != nil {
		return err
	}
	s.packs = slices.DeleteFunc(s.packs, func(o *file) bool { return o == f })
	for p := range s.bad {
		if p.pack == f.num {
			delete(s.bad, p)
		}
	}
	return errors.Join(f.Close(), atomicfile.SyncFolder(s.dir))
}
