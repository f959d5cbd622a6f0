package sessiondb

import (
	"encoding/hex"
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"adze/session"
)

func TestFullDiskEndsSavingUntilReopened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec("PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	entry := session.Entry{Type: session.EndEntry, Data: []byte(`"` + strings.Repeat("x", 3000) + `"`)}
	saved := 0
	for err = nil; err == nil; saved++ {
		err = s.Append(t.Context(), "one", entry)
	}
	saved--
	if !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), filepath.Dir(path)) {
		t.Errorf("got %v", err)
	}
	if _, err := s.db.Exec("PRAGMA max_page_count = 1000"); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "one", entry); !errors.Is(err, ErrNotSaved) {
		t.Errorf("after a failed commit: %v", err)
	}
	if err := s.Append(t.Context(), "two", entry); err != nil {
		t.Errorf("another session: %v", err)
	}
	if log, err := s.Load(t.Context(), "one"); err != nil || len(log) != saved {
		t.Errorf("%d entries can be read, %d were saved, %v", len(log), saved, err)
	}
	s.Close()
	if s, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Append(t.Context(), "one", entry); err != nil {
		t.Error(err)
	}
	if n, err := s.Verify(t.Context(), "one"); n != saved+1 || err != nil {
		t.Errorf("%d sound entries, want %d, %v", n, saved+1, err)
	}
}

func TestBusyDatabaseMayBeTriedAgain(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	other, err := Open(t.Context(), s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := s.db.Exec("PRAGMA busy_timeout = 0"); err != nil {
		t.Fatal(err)
	}
	tx, err := other.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	entry := session.Entry{Type: session.EndEntry, Data: []byte(`1`)}
	if err := s.Append(t.Context(), "one", entry); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Errorf("got %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "one", entry); err != nil {
		t.Errorf("when it is free again: %v", err)
	}
}

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		network bool
		journal string
	}{{false, "wal"}, {true, "delete"}} {
		path := filepath.Join(t.TempDir(), "s.db")
		for range 2 { // made, then found
			s, err := Open(t.Context(), path, Options{Network: func(string) bool { return c.network }})
			if err != nil {
				t.Fatal(err)
			}
			for name, want := range map[string]string{
				"journal_mode": c.journal, "synchronous": "2", "foreign_keys": "1", "user_version": strconv.Itoa(schemaVersion), "application_id": "1633974885",
			} {
				var got string
				if err := s.db.QueryRow("PRAGMA " + name).Scan(&got); err != nil || got != want {
					t.Errorf("%s is %s, want %s (%v)", name, got, want, err)
				}
			}
			s.Close()
		}
	}
}

// The hash of an entry is part of the format: databases that are out there hold it.
func TestHashIsStable(t *testing.T) {
	e := session.Entry{Type: session.MessageEntry, Time: time.Unix(1, 2), Data: []byte(`{"a":1}`)}
	first := newRow("s", link{}, e)
	second := newRow("s", link{first.seq, first.hash}, e)
	const want = "dc85ac2ed76246558ec83c8e2658e0fb031c69df8a975be94b81b67b6e4d7965"
	if got := hex.EncodeToString(second.hash); got != want {
		t.Errorf("got %s", got)
	}
}
