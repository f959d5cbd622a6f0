package sessiondb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"adze/internal/osfile/atomicfile"
)

// Backup writes a consistent snapshot of the store into a new file, during writes by others, and
// verifies it: the file gets its name only if every chain is intact. It returns the numbers of
// sessions and entries.
func (s Owner) Backup(ctx context.Context, to string) (sessions, entries int, err error) {
	if err := s.usable(); err != nil {
		return 0, 0, err
	}
	if to, err = filepath.Abs(to); err != nil {
		return 0, 0, fmt.Errorf("backup: %w", err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return 0, 0, fmt.Errorf("backup: %s is there already; name a new file", to)
	}
	work, err := os.MkdirTemp(filepath.Dir(to), ".adze-backup-")
	if err != nil {
		return 0, 0, fmt.Errorf("backup: %w", err)
	}
	defer os.RemoveAll(work)
	part := filepath.Join(work, "sessions.db")
	if err := s.copyInto(ctx, part); err != nil {
		return 0, 0, err
	}
	if sessions, entries, err = verifyBackup(ctx, part); err != nil {
		return 0, 0, fmt.Errorf("backup: what was written does not hold, and was removed: %w", err)
	}
	if err := os.Link(part, to); err != nil { // unlike a rename, a link replaces nothing
		if _, there := os.Lstat(to); there == nil {
			return 0, 0, fmt.Errorf("backup: %s is there already; name a new file", to)
		}
		if err := os.Rename(part, to); err != nil {
			return 0, 0, fmt.Errorf("backup: %w", err)
		}
	}
	return sessions, entries, atomicfile.SyncFolder(filepath.Dir(to))
}

func (s Owner) copyInto(ctx context.Context, part string) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return s.explain("copy", err)
	}
	defer conn.Close() // returns it to the pool
	if s.frozen != nil {
		if _, err := conn.ExecContext(ctx, "PRAGMA query_only = 0"); err != nil { // the database itself is opened read-only
			return s.explain("copy", err)
		}
		defer conn.ExecContext(context.WithoutCancel(ctx), "PRAGMA query_only = 1")
	}
	if _, err := conn.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return s.explain("copy", err)
	}
	f, err := os.OpenFile(part, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("backup: %w", err)
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}

// verifyBackup reads a copy as a later adze will.
func verifyBackup(ctx context.Context, path string) (sessions, entries int, err error) {
	b, err := Look(ctx, path, Options{})
	if err != nil {
		return 0, 0, err
	}
	defer b.Close()
	var verdict string
	if err := b.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return 0, 0, b.explain("check", err)
	}
	if verdict != "ok" {
		return 0, 0, fmt.Errorf("%w: %s", ErrDamaged, verdict)
	}
	heads, err := b.List(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, h := range heads {
		n, err := b.Verify(ctx, h.ID)
		var bad *BadRow
		if err != nil && !errors.As(err, &bad) { // entries that were damaged before are still damaged
			return 0, 0, err
		}
		sessions, entries = sessions+1, entries+max(n, 0)
	}
	return sessions, entries, nil
}
