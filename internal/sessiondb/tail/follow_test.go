package tail_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/internal/sessiondb/tail"
	"adze/session"
)

func open(t *testing.T, path string) *sessiondb.Store {
	t.Helper()
	s, err := sessiondb.Open(t.Context(), path, sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func said(text string) session.Entry {
	return session.Entry{Type: session.MessageEntry, Data: fmt.Appendf(nil, `{"id":%q,"role":"user","parts":[{"kind":"text","text":%q}]}`, text, text)}
}

// TestItShowsEachEntryOnceAsItComes: what was there, what comes between two looks, and what was
// written last before nobody has it.
func TestItShowsEachEntryOnceAsItComes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	writer := open(t, path)
	put := func(text string) {
		t.Helper()
		if err := writer.Append(t.Context(), "one", said(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	reader, err := sessiondb.Look(t.Context(), path, sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var got []string
	looks := 0
	f := &tail.Follower{Store: reader, ID: "one", Emit: func(e session.Event) {
		if m, ok := e.(session.MessageDone); ok {
			got = append(got, m.Message.Text())
		}
	}, Wait: func(context.Context, time.Duration) error {
		switch looks++; looks {
		case 2:
			put("b")
			put("c")
		case 4:
			put("d")
			writer.Close()
		}
		return nil
	}}
	if err := f.Run(t.Context()); err != nil || strings.Join(got, " ") != "a b c d" || looks != 4 {
		t.Errorf("it showed %v in %d looks, %v", got, looks, err)
	}
}

// TestWhoHoldsASessionHearsThatItIsWanted: it lets go, and the one who asked has it; of nobody it
// can be taken at once.
func TestWhoHoldsASessionHearsThatItIsWanted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	holder, other := open(t, path), open(t, path)
	if err := holder.Append(t.Context(), "one", said("a")); err != nil {
		t.Fatal(err)
	}
	if err := other.Lock(t.Context(), "one"); !errors.Is(err, session.ErrLocked) {
		t.Fatalf("two hold it: %v", err)
	}
	heeding, who, stop := tail.Heed(t.Context(), holder, "one")
	let := make(chan string, 1)
	go func() {
		<-heeding.Done()
		let <- who()
		stop()
		holder.Close()
	}()
	if err := tail.Take(t.Context(), other, "one"); err != nil {
		t.Fatal(err)
	}
	if by := <-let; !strings.Contains(by, "pid ") {
		t.Errorf("it is wanted by %q", by)
	}
	if err := other.Append(t.Context(), "one", said("b")); err != nil {
		t.Fatal(err)
	}
	if by := other.Wanted("one"); by != "" {
		t.Errorf("it is still wanted by %s", by)
	}
	if err := tail.Take(t.Context(), other, "two"); err != nil {
		t.Errorf("one that nobody has: %v", err)
	}
}

// TestWhoReadsAlongHearsOfWhatHappens: with the real way of waiting, an entry and the end of the
// one who has the session are told.
func TestWhoReadsAlongHearsOfWhatHappens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	writer := open(t, path)
	if err := writer.Append(t.Context(), "one", said("a")); err != nil {
		t.Fatal(err)
	}
	reader, err := sessiondb.Look(t.Context(), path, sessiondb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	shown := make(chan string)
	f := &tail.Follower{Store: reader, ID: "one", Emit: func(e session.Event) {
		if m, ok := e.(session.MessageDone); ok {
			shown <- m.Message.Text()
		}
	}}
	ended := make(chan error)
	go func() { ended <- f.Run(t.Context()) }()
	if got := <-shown; got != "a" {
		t.Errorf("it showed %q", got)
	}
	for _, text := range []string{"b", "c"} {
		if err := writer.Append(t.Context(), "one", said(text)); err != nil {
			t.Fatal(err)
		}
		if got := <-shown; got != text {
			t.Errorf("it showed %q", got)
		}
	}
	writer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
