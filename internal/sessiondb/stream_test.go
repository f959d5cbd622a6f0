package sessiondb_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"adze/session"
)

func TestAStreamIsTheLog(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "s.db"))
	fill(t, s, "one", 10)
	long := session.Entry{Type: session.NoteEntry, Data: []byte(`{"text":"` + strings.Repeat("a long text ", 1000) + `"}`)}
	if err := s.Append(t.Context(), "one", long, long); err != nil {
		t.Fatal(err)
	}
	want, err := s.Load(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	var got []session.Entry
	keep := func(e session.Entry) {
		e.Data = bytes.Clone(e.Data)
		got = append(got, e)
	}
	if err := session.Stream(t.Context(), s, "one", func(e session.Entry) error { keep(e); return nil }); err != nil {
		t.Fatal(err)
	}
	equal := func(a, b session.Entry) bool {
		return a.Type == b.Type && a.Time.Equal(b.Time) && bytes.Equal(a.Data, b.Data)
	}
	if !slices.EqualFunc(got, want, equal) {
		t.Errorf("streamed\n%v\nwant\n%v", got, want)
	}
	got = nil
	if err := session.Back(t.Context(), s, "one", []session.EntryType{session.NoteEntry, want[0].Type}, func(e session.Entry) bool { keep(e); return len(got) < 3 }); err != nil {
		t.Fatal(err)
	}
	var backwards []session.Entry
	for _, e := range slices.Backward(want) {
		if len(backwards) < 3 && (e.Type == session.NoteEntry || e.Type == want[0].Type) {
			backwards = append(backwards, e)
		}
	}
	if !slices.EqualFunc(got, backwards, equal) {
		t.Errorf("backwards\n%v\nwant\n%v", got, backwards)
	}
}

func TestAStreamEndsWithItsReader(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "s.db"))
	fill(t, s, "one", 3)
	enough := errors.New("enough")
	if err := s.Stream(t.Context(), "one", func(session.Entry) error { return enough }); err != enough {
		t.Errorf("got %v", err)
	}
	if err := s.Stream(t.Context(), "two", func(session.Entry) error { return nil }); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("an unknown session: %v", err)
	}
	fill(t, s, "two", 1) // the connection was given back
}
