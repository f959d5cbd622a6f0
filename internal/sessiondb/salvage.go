package sessiondb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/osfile/atomicfile"

	"github.com/gofrs/flock"
)

const nothingRead = "nothing in it could be read"

// salvage puts every readable row of a damaged database into a fresh one in its place and keeps the
// old file. The order is chosen so that a crash at any point leaves either the damaged file or the
// fresh one at the path, and the old bytes under some name.
func (s *Store) salvage(ctx context.Context, cause error) (*Loss, error) {
	alone, err := s.alone()
	if err != nil {
		return nil, errors.Join(cause, err)
	}
	if s.sound(ctx) {
		return nil, s.together(alone) // another process was here first
	}
	kept := fmt.Sprintf("%s.damaged-%s", s.path, s.options.Now().UTC().Format("20060102T150405.000Z"))
	loss := &Loss{Kept: kept, Cause: causeText(cause)}
	work, err := os.MkdirTemp(filepath.Dir(s.path), ".salvage-")
	if err != nil {
		return nil, errors.Join(cause, s.fileError("make room to repair it", err), s.together(alone))
	}
	defer os.RemoveAll(work)
	if err := s.rebuild(ctx, work, loss); err != nil {
		return nil, errors.Join(cause, err, s.together(alone))
	}
	if err := s.replace(filepath.Join(work, "fresh.db"), kept); err != nil {
		return nil, errors.Join(cause, err, s.together(alone))
	}
	return loss, s.together(alone)
}

func causeText(err error) string {
	text := strings.ReplaceAll(err.Error(), ErrDamaged.Error()+": ", "")
	text, _, _ = strings.Cut(text, "; start adze again")
	return strings.Join(strings.Fields(text), " ")
}

// alone trades the shared lock for the exclusive one.
func (s *Store) alone() (*flock.Flock, error) {
	if err := s.inUse.Unlock(); err != nil {
		return nil, s.fileError("unlock it", err)
	}
	lock := flock.New(s.path + ".lock")
	held, err := lock.TryLock()
	if err != nil {
		return nil, s.fileError("lock it", err)
	}
	if !held {
		return nil, fmt.Errorf("session store %s: another adze has it open; end that one, then start again to repair it", s.path)
	}
	return lock, nil
}

// together trades back.
func (s *Store) together(alone *flock.Flock) error {
	if err := alone.Unlock(); err != nil {
		return s.fileError("unlock it", err)
	}
	return s.prepare()
}

// sound reports whether the file at the path opens and passes the check after all.
func (s *Store) sound(ctx context.Context) bool {
	defer s.disconnect()
	if s.connect(ctx) != nil {
		return false
	}
	return s.recheck(ctx) == nil
}

// rebuild reads what it can from a copy, since opening a database may change it.
func (s *Store) rebuild(ctx context.Context, work string, loss *Loss) error {
	old := filepath.Join(work, "old.db")
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(s.path+suffix, old+suffix); err != nil {
			return s.fileError("copy it for repair", err)
		}
	}
	options := s.options
	options.Mask = nil // what is saved stays as it was written
	fresh, err := Open(ctx, filepath.Join(work, "fresh.db"), options)
	if err != nil {
		return err
	}
	fresh.whole = true
	r := &reader{path: old}
	if err := r.open(ctx); err != nil {
		// Page 1 is gone. That of an empty database of ours names the same tables at the same
		// places.
		if err := graft(ctx, old, work, s.options); err != nil {
			return errors.Join(err, fresh.Close())
		}
		if err := r.open(ctx); err != nil {
			loss.Missing = append(loss.Missing, nothingRead)
			return fresh.Close()
		}
	}
	defer r.db.Close()
	err = r.rescue(ctx, fresh.db, loss)
	if loss.Entries == 0 {
		loss.Missing = append(loss.Missing, nothingRead)
	}
	return errors.Join(err, fresh.Close())
}

// replace keeps the old files under kept and moves the fresh one to the path. The old log goes
// before the fresh file comes: SQLite would replay it into a database it does not belong to.
func (s *Store) replace(fresh, kept string) error {
	if _, err := os.Stat(fresh + "-wal"); err == nil {
		return fmt.Errorf("session store %s: its repaired copy could not be completed; check the disk's free space and start again", s.path)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := keep(s.path+suffix, kept+suffix); err != nil {
			return s.fileError("keep the old file of", err)
		}
	}
	if err := atomicfile.Write(s.replacing(), []byte(filepath.Base(kept))); err != nil {
		return s.fileError("replace it", err)
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Remove(s.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s.fileError("replace it", err)
		}
	}
	if err := os.Rename(fresh, s.path); err != nil {
		return s.fileError("replace it", err)
	}
	if err := os.Remove(s.replacing()); err != nil {
		return s.fileError("replace it", err)
	}
	_ = os.Remove(s.path + ".check") // a left one costs a check
	return nil
}

// replacing is a file that names the kept one while replace works: without its log, the old file
// may look sound although the newest entries are missing.
func (s *Store) replacing() string { return s.path + ".replacing" }

// undoReplace puts the old files back where a process was killed in replace: they are salvaged anew
// then.
func (s *Store) undoReplace() error {
	if _, err := os.Lstat(s.replacing()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	alone, err := s.alone()
	if err != nil {
		return err
	}
	if err := s.putBack(); err != nil {
		return errors.Join(s.fileError("go on with its repair", err), s.together(alone))
	}
	return s.together(alone)
}

func (s *Store) putBack() error {
	name, err := os.ReadFile(s.replacing())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was here first
	}
	if err != nil {
		return err
	}
	kept := filepath.Join(filepath.Dir(s.path), filepath.Base(string(name)))
	for _, suffix := range []string{"", "-wal"} { // copies: what is kept is not to be changed
		part := s.path + suffix + ".part"
		if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := copyFile(kept+suffix, part); err != nil {
			return err
		}
		if err := os.Rename(part, s.path+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, suffix := range []string{"-shm", "-journal"} {
		if err := os.Remove(s.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Remove(s.replacing())
}

// keep gives from a second name, by a copy where the file system has no links.
func keep(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return copyFile(from, to)
}

// copyFile copies and syncs; a missing file is nothing to copy.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// graft writes the first page of an empty database over that of the file at path.
func graft(ctx context.Context, path, work string, o Options) error {
	donor := filepath.Join(work, "donor.db")
	empty, err := Open(ctx, donor, o)
	if err != nil {
		return err
	}
	empty.whole = true
	var size int64
	err = empty.db.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size)
	if err := errors.Join(err, empty.Close()); err != nil { // closing moves the log into the file
		return err
	}
	page := make([]byte, size)
	in, err := os.Open(donor)
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := io.ReadFull(in, page); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	// With a size of 0 in the header SQLite takes that of the file (sqlite.org/fileformat, section
	// 1.3.7).
	copy(page[28:32], []byte{0, 0, 0, 0})
	_, err = out.WriteAt(page, 0)
	return errors.Join(err, out.Close())
}

// reader reads a damaged database.
type reader struct {
	path string
	db   *sql.DB
}

// open succeeds when the tables are known. With writable_schema SQLite also opens a file that is
// shorter than its header says.
func (r *reader) open(ctx context.Context) error {
	db, err := sql.Open("sqlite", fileURI(r.path, pragma("writable_schema(1)")))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	var tables int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name IN ('sessions', 'entries')").Scan(&tables)
	if err == nil && tables < 2 {
		err = errors.New("its tables are missing")
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	r.db = db
	return nil
}
