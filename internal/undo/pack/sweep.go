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

// Sweep says what is dropped.
type Sweep struct {
	// Live reports whether a content is still named.
	Live func(Hash) bool
	// All drops every content that is not live; else a pack is only rewritten when more than half
	// of it is dead.
	All bool
	// Step, when there is one, is called before each step that changes something on the disk.
	Step func()
}

// shareWait is how long Open waits for somebody who drops contents.
const shareWait = 20 * time.Second

func (s *Store) inUse() string { return filepath.Join(s.dir, "in-use") }

// share enters the store as one of many.
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

// alone makes this the only one who has the store open, or fails with ErrInUse.
func (s *Store) alone() error {
	s.leave()
	leave, err := filelock.Try(s.inUse())
	switch {
	case errors.Is(err, filelock.ErrHeld):
		// Somebody may have dropped contents in between.
		return errors.Join(ErrInUse, s.enterAgain())
	case err != nil:
		return fmt.Errorf("lock the store: %w", err)
	}
	s.leave = leave
	return s.reload()
}

func (s *Store) enterAgain() error { return errors.Join(s.share(), s.reload()) }

// reload looks at what there is on the disk with new eyes.
func (s *Store) reload() error {
	s.dropped++
	clear(s.bad)
	return errors.Join(s.seal(), s.closePacks(), s.refresh())
}

// Sweep drops contents that are not live. Packs that are dead as a whole go first; then the others
// are rewritten, one at a time: what lives is appended elsewhere and synced before the pack goes,
// so that no more than the size of one pack is needed and a process may die at any moment. It fails
// with ErrInUse, and drops nothing, while another process has the store open. freed is what the
// disk won, in bytes, also when there is an error.
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

// lives reports whether a record is needed: it is live, and the latest of its content.
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

// rewrite appends what lives in a pack elsewhere and drops the pack. What is damaged is not taken
// along.
func (s *Store) rewrite(f *file, w Sweep) error {
	if s.out != nil && s.out.file == f {
		if err := s.seal(); err != nil {
			return err
		}
	}
	s.not = f.num
	defer func() { s.not = 0 }()
	all := f.entries()
	slices.SortFunc(all, func(a, b entry) int { return int(min(max(a.at-b.at, -1), 1)) })
	for _, e := range all {
		if !s.lives(e, w) {
			continue
		}
		if _, err := readRecord(f, e.at, e.hash); err != nil {
			continue
		}
		rec := make([]byte, headSize+e.stored)
		if _, err := f.ReadAt(rec, e.at); err != nil {
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

// drop removes a pack: its index first, for a pack may get the number again.
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
