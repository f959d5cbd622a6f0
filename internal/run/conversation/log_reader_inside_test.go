package conversation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
)

// TestAReaderThatIsOlderThanTheLog is replaced: it may have been opened as a copy when the session had
// begun and nothing was said.
func TestAReaderThatIsOlderThanTheLog(t *testing.T) {
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func() *sessiondb.Store {
		t.Helper()
		s, err := sessiondb.Open(t.Context(), filepath.Join(dir, "sessions.db"), sessiondb.Options{})
		must(err)
		return s
	}
	entry := func(kind session.EntryType, v any) session.Entry {
		data, err := json.Marshal(v)
		must(err)
		return session.Entry{Type: kind, Data: data}
	}
	s := open()
	must(s.Append(t.Context(), "one", entry(session.StartEntry, session.Start{Version: "1"})))
	must(s.Close())
	before, err := os.ReadFile(filepath.Join(dir, "sessions.db"))
	must(err)
	must(os.WriteFile(filepath.Join(dir, "old.db"), before, 0o600))
	s = open()
	defer s.Close()
	must(s.Append(t.Context(), "one", entry(session.MessageEntry, session.Message{ID: "m1", Role: session.User})))

	old, err := sessiondb.Look(t.Context(), filepath.Join(dir, "old.db"), sessiondb.Options{})
	must(err)
	r := &logReader{path: s.Path(), position: func() int64 { return s.Position("one") }, logs: old}
	defer r.close()
	var read []session.EntryType
	must(r.each("one")(t.Context(), 0, func(_ int64, e session.Entry) error { read = append(read, e.Type); return nil }))
	if len(read) != 2 || read[1] != session.MessageEntry {
		t.Errorf("read were %q", read)
	}
}
