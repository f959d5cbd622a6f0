package sessiondb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
)

// SQLite's primary result codes (sqlite.org/rescode.html).
const (
	codeBusy       = 5
	codeLocked     = 6
	codeReadOnly   = 8
	codeIO         = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeConstraint = 19
	codeMismatch   = 20
	codeNotADB     = 26
)

// codeOf returns the primary result code in err, or 0 if err is not SQLite's.
func codeOf(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// explain describes a database error with the user's next step. It records damage for the next
// Open.
func (s *Store) explain(doing string, err error) error {
	fail := func(why string) error {
		return fmt.Errorf("session store %s: could not %s it: %s: %w", s.path, doing, why, err)
	}
	if damagedWords(err) || errors.Is(err, ErrDamaged) || strings.HasPrefix(err.Error(), "session store ") {
		return err // handled by mendWords, or already explained
	}
	dir := filepath.Dir(s.path)
	switch codeOf(err) {
	case codeCorrupt, codeNotADB:
		s.noteDamage()
		return fmt.Errorf("%w: %s: %w; start adze again to save what is readable, the file will be kept", ErrDamaged, s.path, err)
	case codeFull:
		return fail("the disk is full; free some space for " + dir + ", then resume the session")
	case codeBusy, codeLocked:
		return fail("another process kept it busy for too long; try again, or end that process")
	case codeReadOnly, codeCantOpen:
		return fail("make " + dir + " and the files in it writable for you, or run with --no-session")
	case codeIO:
		return fail("the disk reported an error; check the disk and its free space, then resume the session")
	}
	return fmt.Errorf("session store %s: could not %s it: %w", s.path, doing, err)
}

// noteDamage makes the next Open check the whole file.
func (s *Store) noteDamage() {
	if s.leave == nil {
		return // opened read-only
	}
	_ = os.WriteFile(s.path+".check", nil, 0o600) // else the damage is met and recorded again
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

func errNoID() error { return errors.New("a session needs an id") }
