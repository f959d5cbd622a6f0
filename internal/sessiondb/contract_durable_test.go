package sessiondb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"adze/session"
)

func survivesReopening(t *testing.T, b storeBacking) {
	if !b.Durable {
		t.Skip("this store keeps nothing")
	}
	for n := range 4 {
		s := openStore(t, b)
		addEntries(t, s, "one", storeEntry(2*n))
		addEntries(t, s, "one", storeEntry(2*n+1))
		wantEntries(t, s, "one", storeEntries(0, 2*n+1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func hasOneWriter(t *testing.T, b storeBacking) {
	if !b.Durable {
		t.Skip("nobody else can open this store")
	}
	first, second := openStore(t, b), openStore(t, b)
	addEntries(t, first, "one", storeEntry(1))
	for name, err := range map[string]error{
		"lock": second.Lock(t.Context(), "one"), "append": second.Append(t.Context(), "one", storeEntry(2)),
	} {
		if !errors.Is(err, session.ErrLocked) {
			t.Errorf("%s: got %v, want ErrLocked", name, err)
		}
	}
	addEntries(t, second, "two", storeEntry(1))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	addEntries(t, second, "one", storeEntry(2))
	wantEntries(t, second, "one", storeEntries(1, 2))
}

func letsOthersRead(t *testing.T, b storeBacking) {
	if !b.Durable {
		t.Skip("nobody else can open this store")
	}
	writer, reader := openStore(t, b), openStore(t, b)
	addEntries(t, writer, "one", storeEntries(1, 3)...)
	wantEntries(t, reader, "one", storeEntries(1, 3))
	addEntries(t, writer, "one", storeEntry(4))
	wantEntries(t, reader, "one", storeEntries(1, 4))
}

// takesLargeTextsAgain: however a store keeps what is large or comes again, it gives back the same
// bytes.
func takesLargeTextsAgain(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	large := strings.Repeat(`the same \u00e9 output\n \"quoted\\ `, 2000)
	plain := strings.Repeat("the same output ", 1000)
	var all []session.Entry
	for n := range 6 {
		data := fmt.Sprintf(`{ "n":%d, "output" : "%s", "again":["%s", "%s"], "":"\\", "own":"%d%s"}`, n, large, large, plain, n, large)
		all = append(all, session.Entry{Type: session.OutcomeEntry, Time: storeClock(n), Data: json.RawMessage(data)})
	}
	for n, data := range []string{`"` + large + `"`, `{"` + large + `":1}`, `[]`, `"` + plain[:4096] + `"`, ` "` + plain[:4095] + `"` + "\n"} {
		all = append(all, session.Entry{Type: session.MessageEntry, Time: storeClock(n), Data: json.RawMessage(data)})
	}
	for n, e := range all {
		addEntries(t, s, "one", e)
		addEntries(t, s, session.ID(fmt.Sprint("other", n%2)), e, e)
	}
	sameEntries(t, s, "one", all)
	if b.Durable {
		sameEntries(t, openStore(t, b), "one", all)
	}
}

// same is want for entries that are too large to tell how they differ.
func sameEntries(t *testing.T, s session.Store, id session.ID, expect []session.Entry) {
	t.Helper()
	got, err := s.Load(t.Context(), id)
	if err != nil || len(got) != len(expect) {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	for i, e := range expect {
		if got[i].Type != e.Type || !got[i].Time.Equal(e.Time) || string(got[i].Data) != string(e.Data) {
			t.Errorf("entry %d of %d bytes came back changed, or as %d", i+1, len(e.Data), len(got[i].Data))
		}
	}
}
