package retention

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func day(n int) time.Time { return time.Date(2026, 3, 1+n, 5, 6, 7, 0, time.UTC) }

// room is a store with an index, outputs, and prompts that were written before.
type room struct {
	DataPlaces
	dir     string
	dropped []string
	stages  []session.ID
}

func newRoom(t *testing.T) *room {
	t.Helper()
	r := &room{dir: t.TempDir()}
	s, err := sessiondb.Open(t.Context(), filepath.Join(r.dir, "sessions.db"), sessiondb.Options{Now: func() time.Time { return day(9) }})
	must(t, err)
	r.DataPlaces = DataPlaces{Store: s, Outputs: filepath.Join(r.dir, "output"), Prompts: func(folder string, said []string) {
		for _, s := range said {
			r.dropped = append(r.dropped, folder+": "+s)
		}
	}, Stage: func(id session.ID) error { r.stages = append(r.stages, id); return nil }}
	t.Cleanup(func() { r.Store.Close() })
	return r
}

// add stores a session and opens the store anew, so that nobody has it open.
func (r *room) add(t *testing.T, id session.ID, day time.Time, start session.Start, text string) {
	t.Helper()
	entry := func(kind session.EntryType, v any) session.Entry {
		data, err := json.Marshal(v)
		must(t, err)
		return session.Entry{Type: kind, Time: day, Data: data}
	}
	start.Version, start.Cwd = "1", "/here"
	must(t, r.Store.Append(t.Context(), id, entry(session.StartEntry, start),
		entry(session.MessageEntry, session.Message{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: text}}})))
	must(t, os.MkdirAll(filepath.Join(r.Outputs, string(id)), 0o700))
	must(t, os.WriteFile(filepath.Join(r.Outputs, string(id), "c1"), []byte(text), 0o600))
}

func (r *room) reopen(t *testing.T) {
	t.Helper()
	must(t, r.Store.Close())
	var err error
	r.Store, err = sessiondb.Open(t.Context(), filepath.Join(r.dir, "sessions.db"), sessiondb.Options{Now: func() time.Time { return day(9) }})
	must(t, err)
}

func (r *room) ids(t *testing.T) string {
	t.Helper()
	heads, err := r.Store.List(t.Context())
	must(t, err)
	var out []string
	for _, h := range heads {
		out = append(out, string(h.ID))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// holding lists the files below a folder that hold words, in any case.
func holding(t *testing.T, dir, words string) (out []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(data), []byte(words)) {
			out = append(out, path)
		}
		return err
	}))
	return out
}

func TestNothingIsLeftOfASession(t *testing.T) {
	r := newRoom(t)
	for n := range 40 {
		r.add(t, session.ID(fmt.Sprint("other", n)), day(n%5), session.Start{}, "common words and more of them "+strings.Repeat("z", n))
	}
	r.add(t, "one", day(1), session.Start{}, "Kwyjibo is the secret of one")
	r.add(t, "sub", day(1), session.Start{Parent: "one", Agent: "helper"}, "kwyjibo again")
	must(t, r.Store.Index(t.Context(), sessiondb.Words{Types: []session.EntryType{session.MessageEntry}, Text: func(f sessiondb.ScanResult) string { return string(f.Entry.Data) }}))
	must(t, os.WriteFile(filepath.Join(r.dir, "search.db"), []byte("kwyjibo, as an older adze kept it"), 0o600))
	r.reopen(t)
	if found := holding(t, r.dir, "kwyjibo"); len(found) < 4 {
		t.Fatalf("only %v hold the word", found)
	}
	done, err := r.Sessions(t.Context(), "one")
	must(t, err)
	if len(done.Removed) != 2 || len(done.Remains) > 0 {
		t.Errorf("%+v", done)
	}
	if found := holding(t, r.dir, "kwyjibo"); len(found) > 0 {
		t.Errorf("%v still hold the word", found)
	}
	if strings.Join(r.dropped, ";") != "/here: Kwyjibo is the secret of one" {
		t.Errorf("dropped of what was written before: %q", r.dropped)
	}
	if slices.Sort(r.stages); fmt.Sprint(r.stages) != "[one sub]" {
		t.Errorf("stages were dropped of %v", r.stages)
	}
	if got := strings.Fields(r.ids(t)); len(got) != 40 {
		t.Errorf("left: %v", got)
	}
	if n, err := r.Store.Verify(t.Context(), "other7"); n != 2 || err != nil {
		t.Errorf("another session: %d, %v", n, err)
	}
}

func TestRulesLetSessionsGo(t *testing.T) {
	for name, c := range map[string]struct {
		rules Rules
		left  string
	}{
		"no rule": {Rules{}, "d0 d1 d2 d3 d4 d4-sub d5"},
		"age":     {Rules{Age: 6*24*time.Hour + time.Hour}, "d1 d3 d4 d4-sub d5"},
		"count":   {Rules{Count: 2}, "d1 d4 d4-sub d5"},
		"both":    {Rules{Count: 4, Age: 5*24*time.Hour + time.Hour}, "d1 d4 d4-sub d5"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRoom(t)
			for n := range 5 {
				r.add(t, session.ID(fmt.Sprint("d", n)), day(n), session.Start{}, "text")
			}
			r.add(t, "d4-sub", day(0), session.Start{Parent: "d4", Agent: "helper"}, "text")
			must(t, r.Store.Owner().Label(t.Context(), "d1", sessiondb.Label{Kind: sessiondb.TagLabel, Value: Kept, Author: sessiondb.ByPerson}))
			r.reopen(t)
			r.add(t, "d5", day(5), session.Start{}, "open") // here
			if _, err := r.Tidy(t.Context(), c.rules, day(9)); err != nil {
				t.Error(err)
			}
			if got := r.ids(t); got != c.left {
				t.Errorf("left: %s; want %s", got, c.left)
			}
		})
	}
}

// TestADeletionThatIsCutOffCanBeDoneAgain ends the process in the middle: what is left is known by
// the session, which is still there.
func TestADeletionThatIsCutOffCanBeDoneAgain(t *testing.T) {
	r := newRoom(t)
	r.add(t, "one", day(1), session.Start{}, "planted")
	whole := r.Prompts
	r.Prompts = func(string, []string) { panic("killed") }
	func() {
		defer func() { _ = recover() }()
		_, _ = r.Sessions(t.Context(), "one")
	}()
	r.Prompts = whole
	r.reopen(t)
	if got := r.ids(t); got != "one" {
		t.Fatalf("the sessions are %q, and nobody knows what is left of the other one", got)
	}
	if _, err := r.Sessions(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if left := holding(t, r.dir, "planted"); len(left) > 0 || len(r.dropped) != 1 || r.ids(t) != "" {
		t.Errorf("left in %v, prompts dropped %q, sessions %q", left, r.dropped, r.ids(t))
	}
}
