package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"adze/session"
)

// The newest commits stand in the write-ahead log alone, which SQLite takes for empty when it is missing, cut or damaged:
// the database then looks sound, and is older than it was. So PATH.last tells, outside of both, which entry was stored
// last. It is written after each commit and not synced: it may lag behind, but never tells of what was not stored.
//
// Whatever takes entries away on purpose, as salvage does, removes the file.

// lastSize is the size in bytes of what PATH.last holds: an entry of a fixed size is written at once.
const lastSize = 256

// noteLast remembers the newest entry. Where it cannot be written, a loss is not noticed, and nothing else is worse.
func (s *Store) noteLast(w *writer) {
	if s.last == nil {
		var err error
		if s.last, err = os.OpenFile(s.path+".last", os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return
		}
	}
	text := fmt.Sprintf("%d %s", w.end.seq, w.id)
	if len(text) < lastSize {
		_, _ = s.last.WriteAt([]byte(text+strings.Repeat(" ", lastSize-1-len(text))+"\n"), 0)
	}
}

// missed compares the database with the entry that was stored last. It is called before anything is written.
func (s *Store) missed(ctx context.Context) error {
	f, err := os.Open(s.path + ".last")
	if err != nil {
		return nil // nothing is known
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, lastSize))
	var seq, have int64
	var id string
	if _, serr := fmt.Sscanf(string(raw), "%d %s", &seq, &id); err != nil || serr != nil {
		return nil
	}
	err = s.db.QueryRowContext(ctx, "SELECT entries FROM sessions WHERE id = ?", id).Scan(&have)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return s.explain("read", err)
	}
	if have < seq {
		s.notices = append(s.notices, s.tellMissed(session.ID(id), seq, have))
	}
	return nil
}

// tellMissed words the loss, and keeps the log that SQLite will overwrite.
func (s *Store) tellMissed(id session.ID, seq, have int64) string {
	log := s.path + "-wal"
	text := fmt.Sprintf("the newest entries of the session store are lost: session %s had %d entries and has %d", id, seq, have)
	info, err := os.Stat(log)
	if err != nil || info.Size() == 0 {
		return text + fmt.Sprintf("; its log %s is missing: %s and that file belong together", log, filepath.Base(s.path))
	}
	if s.frozen != nil {
		return text + fmt.Sprintf("; its log %s is damaged", log)
	}
	kept := fmt.Sprintf("%s.damaged-%s", log, s.options.Now().UTC().Format("20060102T150405.000Z"))
	if err := copyFile(log, kept); err != nil {
		return text + fmt.Sprintf("; its log %s is damaged, and could not be kept: %v", log, err)
	}
	return text + fmt.Sprintf("; its log %s is damaged, a copy is kept as %s", log, kept)
}

// Notices tell what was lost when the store was opened, and was not salvaged; none: nothing.
func (s *Store) Notices() []string { return s.notices }
