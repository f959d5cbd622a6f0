package sessiondb_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"adze/session"
)

// storeBacking is one place where logs are kept.
type storeBacking struct {
	// Open gives a store over the place. Stores that keep nothing give the same one each time.
	Open func() (session.Store, error)
	// Durable says that what one store wrote is there for the next, and that two exclude each
	// other.
	Durable bool
}

// storeContract checks what every session.Store must do: a case says nothing that the contract of
// session.Store does not say. Each case gets its own backing from place.
func storeContract(t *testing.T, place func(*testing.T) storeBacking) {
	for name, check := range map[string]func(*testing.T, storeBacking){
		"loads what was appended":          loadsWhatWasAppended,
		"appends all or none":              appendsAllOrNone,
		"appends nothing once called off":  appendsNothingOnceCalledOff,
		"keeps its own copies":             keepsItsOwnCopies,
		"does not know unknown sessions":   doesNotKnowUnknownSessions,
		"keeps odd ids apart":              keepsOddIDsApart,
		"lists the last used first":        listsTheLastUsedFirst,
		"lists a long opening with title":  listsALongOpening,
		"takes a large entry":              takesALargeEntry,
		"takes large texts again":          takesLargeTextsAgain,
		"keeps the order of each writer":   keepsTheOrderOfEachWriter,
		"fails after close":                failsAfterClose,
		"survives reopening":               survivesReopening,
		"has one writer for each session":  hasOneWriter,
		"lets others read while it writes": letsOthersRead,
	} {
		t.Run(name, func(t *testing.T) { check(t, place(t)) })
	}
}

func openStore(t *testing.T, b storeBacking) session.Store {
	t.Helper()
	s, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// storeClock is the time of the n-th entry that storeEntry makes.
func storeClock(n int) time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 8*n+1, time.UTC) }

// storeEntry makes the n-th message of a log.
func storeEntry(n int) session.Entry {
	return session.Entry{Type: session.MessageEntry, Time: storeClock(n), Data: fmt.Appendf(nil, `{"id":"m%d", "role":"user"}`, n)}
}

func storeEntries(from, to int) []session.Entry {
	var out []session.Entry
	for n := from; n <= to; n++ {
		out = append(out, storeEntry(n))
	}
	return out
}

func addEntries(t *testing.T, s session.Store, id session.ID, e ...session.Entry) {
	t.Helper()
	if err := s.Append(t.Context(), id, e...); err != nil {
		t.Fatalf("append to %q: %v", id, err)
	}
}

func wantEntries(t *testing.T, s session.Store, id session.ID, expect []session.Entry) {
	t.Helper()
	got, err := s.Load(t.Context(), id)
	if err != nil {
		t.Fatalf("load %q: %v", id, err)
	}
	if d := cmp.Diff(expect, got); d != "" {
		t.Errorf("session %q (-want +got):\n%s", id, d)
	}
}

func loadsWhatWasAppended(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	odd := []session.Entry{
		{Type: session.StartEntry, Time: storeClock(1), Data: json.RawMessage(`{ "b":1,"a" : "\u0000é\n" }`)},
		{Type: "a type of the future", Time: storeClock(2), Data: json.RawMessage(`[1.0, 1e99, null]`)},
		{Type: session.EndEntry, Data: json.RawMessage(`"no time"`)},
	}
	addEntries(t, s, "one", odd...)
	addEntries(t, s, "one", storeEntries(3, 5)...)
	addEntries(t, s, "one") // nothing is nothing
	wantEntries(t, s, "one", append(odd, storeEntries(3, 5)...))
}

func appendsAllOrNone(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	addEntries(t, s, "one", storeEntry(1))
	bad := session.Entry{Type: session.MessageEntry, Data: json.RawMessage(`{"cut":`)}
	if err := s.Append(t.Context(), "one", storeEntry(2), bad); err == nil {
		t.Error("data that is not JSON was accepted")
	}
	wantEntries(t, s, "one", storeEntries(1, 1))
	addEntries(t, s, "one", storeEntry(2))
	wantEntries(t, s, "one", storeEntries(1, 2))
}

func appendsNothingOnceCalledOff(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	addEntries(t, s, "one", storeEntry(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Append(ctx, "one", storeEntry(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	addEntries(t, s, "one", storeEntry(3))
	wantEntries(t, s, "one", []session.Entry{storeEntry(1), storeEntry(3)})
}

func keepsItsOwnCopies(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	mine := storeEntry(1)
	addEntries(t, s, "one", mine)
	mine.Data[2] = 'X'
	loaded, err := s.Load(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	loaded[0].Data[3] = 'Y'
	wantEntries(t, s, "one", storeEntries(1, 1))
}

func doesNotKnowUnknownSessions(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	addEntries(t, s, "one", storeEntry(1))
	if err := s.Lock(t.Context(), "two"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []session.ID{"two", "on", "ONE", ""} {
		if _, err := s.Load(t.Context(), id); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("load %q: got %v, want ErrNotFound", id, err)
		}
	}
	if err := s.Append(t.Context(), "", storeEntry(1)); err == nil {
		t.Error("a session without an id was accepted")
	}
}

func keepsOddIDsApart(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	ids := []session.ID{"../x", "x", "a/b", "a_b", "ä\n\x00", "A", "a", session.ID(strings.Repeat("l", 400)), "%", "';--"}
	for i, id := range ids {
		addEntries(t, s, id, storeEntry(i))
	}
	for i, id := range ids {
		wantEntries(t, s, id, storeEntries(i, i))
	}
}

func listsTheLastUsedFirst(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	start := session.Entry{Type: session.StartEntry, Time: storeClock(1), Data: json.RawMessage(`{"cwd":"/w"}`)}
	first := session.Entry{Type: session.MessageEntry, Time: storeClock(2), Data: json.RawMessage(`{"role":"user","parts":[{"kind":"text","text":"fix it"}]}`)}
	addEntries(t, s, "one", start, first, storeEntry(9))
	addEntries(t, s, "two", storeEntry(3))
	addEntries(t, s, "three", session.Entry{Type: session.EndEntry, Time: storeClock(5), Data: json.RawMessage(`{}`)})
	addEntries(t, s, "one", storeEntry(4), start, storeEntry(10))
	got, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	expect := []session.Head{
		{ID: "one", Created: storeClock(1), Updated: storeClock(10), Entries: 6, Start: start.Data, First: first.Data},
		{ID: "three", Created: storeClock(5), Updated: storeClock(5), Entries: 1},
		{ID: "two", Created: storeClock(3), Updated: storeClock(3), Entries: 1, First: storeEntry(3).Data},
	}
	if d := cmp.Diff(expect, got); d != "" {
		t.Errorf("heads (-want +got):\n%s", d)
	}
	if title := got[0].Title(); title != "fix it" {
		t.Errorf("title %q", title)
	}
}

func listsALongOpening(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	encode := func(v any) json.RawMessage {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	start := session.Start{Cwd: "/w", Model: "a/b", System: strings.Repeat("be good ", 10_000), Parent: "p"}
	message := session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "what is\n" + strings.Repeat("ü", 50_000)}}}
	addEntries(t, s, "one", session.Entry{Type: session.StartEntry, Data: encode(start)}, session.Entry{Type: session.MessageEntry, Data: encode(message)})
	heads, err := s.List(t.Context())
	if err != nil || len(heads) != 1 {
		t.Fatalf("%d heads, %v", len(heads), err)
	}
	if title := heads[0].Title(); title != "what is" {
		t.Errorf("title %q", title)
	}
	if got := heads[0].Info(); got.Cwd != "/w" || got.Model != "a/b" || got.Parent != "p" || !strings.HasPrefix(start.System, got.System) {
		t.Errorf("info %+v", got)
	}
}

func takesALargeEntry(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	large := session.Entry{Type: session.OutcomeEntry, Time: storeClock(1), Data: json.RawMessage(`"` + strings.Repeat("x", 8<<20) + `"`)}
	addEntries(t, s, "one", large, storeEntry(2))
	got, err := s.Load(t.Context(), "one")
	if err != nil || len(got) != 2 {
		t.Fatalf("%d entries, %v", len(got), err)
	}
	if string(got[0].Data) != string(large.Data) {
		t.Errorf("%d bytes came back changed or as %d", len(large.Data), len(got[0].Data))
	}
}

func keepsTheOrderOfEachWriter(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				if err := s.Append(t.Context(), "shared", storeEntry(1000*w+n)); err != nil {
					t.Error(err)
				}
				if err := s.Append(t.Context(), session.ID(fmt.Sprint("own", w)), storeEntry(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	shared, err := s.Load(t.Context(), "shared")
	if err != nil || len(shared) != writers*each {
		t.Fatalf("%d entries, %v", len(shared), err)
	}
	next := map[int]int{}
	for _, e := range shared {
		var n int
		if _, err := fmt.Sscanf(string(e.Data), `{"id":"m%d",`, &n); err != nil {
			t.Fatal(err)
		}
		if w := n / 1000; n%1000 != next[w] {
			t.Errorf("writer %d: entry %d came when %d was next", w, n%1000, next[w])
		}
		next[n/1000]++
	}
	for w := range writers {
		wantEntries(t, s, session.ID(fmt.Sprint("own", w)), storeEntries(0, each-1))
	}
}

func failsAfterClose(t *testing.T, b storeBacking) {
	s := openStore(t, b)
	addEntries(t, s, "one", storeEntry(1))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	_, load := s.Load(t.Context(), "one")
	_, list := s.List(t.Context())
	for name, err := range map[string]error{
		"append": s.Append(t.Context(), "one", storeEntry(2)), "lock": s.Lock(t.Context(), "one"), "load": load, "list": list,
	} {
		if err == nil {
			t.Errorf("%s works after close", name)
		}
	}
}
