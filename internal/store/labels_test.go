package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"adze/internal/store"
	"adze/internal/store/storetest"
	"adze/session"
)

func ids(heads []session.Head) (out []session.ID) {
	for _, h := range heads {
		out = append(out, h.ID)
	}
	return out
}

func TestLabels(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "s.db"))
	fill(t, s, "one", 3)
	label := func(kind store.LabelKind, value, by string) {
		t.Helper()
		must(t, s.Owner().Label(t.Context(), "one", store.Label{Kind: kind, Value: value, By: by}))
	}
	check := func(name string, tags ...string) {
		t.Helper()
		heads, err := s.List(t.Context())
		if err != nil || heads[0].Name != name || !slices.Equal(heads[0].Tags, tags) {
			t.Errorf("%q %q, %v; want %q %q", heads[0].Name, heads[0].Tags, err, name, tags)
		}
	}
	check("")
	label(store.TitleLabel, "by the model", store.ByModel)
	check("by the model")
	label(store.TitleLabel, "mine", store.ByPerson)
	label(store.TitleLabel, "by the model again", store.ByModel)
	check("mine")
	label(store.TitleLabel, "", store.ByPerson)
	check("by the model again")
	label(store.TagLabel, "b", store.ByPerson)
	label(store.TagLabel, "a", store.ByPerson)
	label(store.TagLabel, "a", store.ByPerson)
	check("by the model again", "a", "b")
	label(store.UntagLabel, "a", store.ByPerson)
	check("by the model again", "b")
	all, err := s.Owner().Labels(t.Context(), "one")
	if err != nil || len(all) != 8 || all[1].Value != "mine" || !all[1].Time.Equal(stopped()) {
		t.Errorf("the history is %v, %v", all, err)
	}
	if err := s.Owner().Label(t.Context(), "none", store.Label{}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("an unknown session: %v", err)
	}
	if n, err := s.Verify(t.Context(), "one"); n != 3 || err != nil {
		t.Errorf("labels are no entries: %d, %v", n, err)
	}
}

func TestPage(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "s.db"))
	for n := range 10 {
		id := session.ID(fmt.Sprint("s", n))
		cwd := []string{"/here", "/there"}[n%2]
		more := ""
		if n == 8 {
			more = `,"agent":"helper","parent":"s6"`
		}
		must(t, s.Append(t.Context(), id, starts(cwd, more), storetest.Entry(n)))
		if n%4 == 0 {
			must(t, s.Owner().Label(t.Context(), id, store.Label{Kind: store.TagLabel, Value: "four", By: store.ByPerson}))
		}
	}
	must(t, s.Owner().Label(t.Context(), "s4", store.Label{Kind: store.UntagLabel, Value: "four", By: store.ByPerson}))
	for name, c := range map[string]struct {
		filter store.Filter
		want   []session.ID
		total  int
	}{
		"folder":            {store.Filter{Folder: "/here"}, []session.ID{"s6", "s4", "s2", "s0"}, 4},
		"with subagents":    {store.Filter{Folder: "/here", All: true}, []session.ID{"s8", "s6", "s4", "s2", "s0"}, 5},
		"a page":            {store.Filter{Folder: "/here", Skip: 1, Limit: 2}, []session.ID{"s4", "s2"}, 4},
		"behind the last":   {store.Filter{Folder: "/here", Skip: 9, Limit: 2}, nil, 0},
		"tag":               {store.Filter{Tags: []string{"four"}, All: true}, []session.ID{"s8", "s0"}, 2},
		"two tags":          {store.Filter{Tags: []string{"four", "five"}}, nil, 0},
		"since":             {store.Filter{Since: storetest.Entry(7).Time}, []session.ID{"s9", "s7"}, 2},
		"beginning":         {store.Filter{Prefix: "s9"}, []session.ID{"s9"}, 1},
		"beginning of none": {store.Filter{Prefix: "S%"}, nil, 0},
	} {
		got, total, err := s.Page(t.Context(), c.filter)
		if err != nil || total != c.total || !slices.Equal(ids(got), c.want) {
			t.Errorf("%s: %v of %d, %v; want %v of %d", name, ids(got), total, err, c.want, c.total)
		}
	}
}

// downgrade makes a database as it was before labels.
const downgrade = `DROP TABLE texts; DROP TABLE uses; DROP TABLE labels; DROP TABLE removed; DROP TABLE identity; DROP TRIGGER entries_stay;
	CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END; PRAGMA user_version = 1`

func TestAnOlderDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	fill(t, s, "one", 3)
	s.Close()
	edit(t, path, downgrade)
	look := mustLook(t, path)
	if heads, _, err := look.Page(t.Context(), store.Filter{Tags: []string{"x"}}); err != nil || len(heads) > 0 {
		t.Errorf("looked at: %v, %v", heads, err)
	}
	if heads, err := look.List(t.Context()); err != nil || len(heads) != 1 {
		t.Errorf("looked at: %v, %v", heads, err)
	}
	look.Close()
	s = mustOpen(t, path)
	must(t, s.Owner().Label(t.Context(), "one", store.Label{Kind: store.TagLabel, Value: "x", By: store.ByPerson}))
	if heads, _, err := s.Page(t.Context(), store.Filter{Tags: []string{"x"}}); err != nil || len(heads) != 1 {
		t.Errorf("brought up to date: %v, %v", heads, err)
	}
}

// What a session is called outlives damage to the file.
func TestSalvageKeepsLabels(t *testing.T) {
	path := damageable(t)
	s := mustOpen(t, path)
	must(t, s.Owner().Label(t.Context(), "s7", store.Label{Kind: store.TitleLabel, Value: "seven", By: store.ByPerson}))
	_, err := s.Owner().Remove(t.Context(), store.ByHand, "s1")
	must(t, err)
	s.Close()
	fold(t, path)
	sound, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, overwrite(37, 38)(sound), 0o600))
	must(t, os.WriteFile(path+".check", nil, 0o600))
	s = mustOpen(t, path)
	if s.Salvaged() == nil {
		t.Fatal("nothing was salvaged")
	}
	if all, err := s.Owner().Labels(t.Context(), "s7"); err != nil || len(all) != 1 || all[0].Value != "seven" {
		t.Errorf("%v, %v", all, err)
	}
	if stone, err := s.Owner().WasRemoved(t.Context(), "s1"); err != nil || stone == nil {
		t.Errorf("%v, %v", stone, err)
	}
}
