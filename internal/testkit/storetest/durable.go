package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"adze/session"
)

func survivesReopening(t *testing.T, b Backing) {
	if !b.Durable {
		t.Skip("this store keeps nothing")
	}
	for n := range 4 {
		s := open(t, b)
		add(t, s, "one", Entry(2*n))
		add(t, s, "one", Entry(2*n+1))
		want(t, s, "one", entries(0, 2*n+1))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func hasOneWriter(t *testing.T, b Backing) {
	if !b.Durable {
		t.Skip("nobody else can open this store")
	}
	first, second := open(t, b), open(t, b)
	add(t, first, "one", Entry(1))
	for name, err := range map[string]error{
		"lock": second.Lock(t.Context(), "one"), "append": second.Append(t.Context(), "one", Entry(2)),
	} {
		if !errors.Is(err, session.ErrLocked) {
			t.Errorf("%s: got %v, want ErrLocked", name, err)
		}
	}
	add(t, second, "two", Entry(1))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	add(t, second, "one", Entry(2))
	want(t, second, "one", entries(1, 2))
}

func letsOthersRead(t *testing.T, b Backing) {
	if !b.Durable {
		t.Skip("nobody else can open this store")
	}
	writer, reader := open(t, b), open(t, b)
	add(t, writer, "one", entries(1, 3)...)
	want(t, reader, "one", entries(1, 3))
	add(t, writer, "one", Entry(4))
	want(t, reader, "one", entries(1, 4))
}

// takesLargeTextsAgain: however a store keeps what is large or comes again, it gives back the same
// bytes.
func takesLargeTextsAgain(t *testing.T, b Backing) {
	s := open(t, b)
	large := strings.Repeat(`the same \u00e9 output\n \"quoted\\ `, 2000)
	plain := strings.Repeat("the same output ", 1000)
	var all []session.Entry
	for n := range 6 {
		data := fmt.Sprintf(`{ "n":%d, "output" : "%s", "again":["%s", "%s"], "":"\\", "own":"%d%s"}`, n, large, large, plain, n, large)
		all = append(all, session.Entry{Type: session.OutcomeEntry, Time: Clock(n), Data: json.RawMessage(data)})
	}
	for n, data := range []string{`"` + large + `"`, `{"` + large + `":1}`, `[]`, `"` + plain[:4096] + `"`, ` "` + plain[:4095] + `"` + "\n"} {
		all = append(all, session.Entry{Type: session.MessageEntry, Time: Clock(n), Data: json.RawMessage(data)})
	}
	for n, e := range all {
		add(t, s, "one", e)
		add(t, s, session.ID(fmt.Sprint("other", n%2)), e, e)
	}
	same(t, s, "one", all)
	if b.Durable {
		same(t, open(t, b), "one", all)
	}
}

// same is want for entries that are too large to tell how they differ.
func same(t *testing.T, s session.Store, id session.ID, expect []session.Entry) {
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
