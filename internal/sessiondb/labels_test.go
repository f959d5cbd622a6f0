package sessiondb_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"adze/internal/sessiondb"
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
	label := func(kind sessiondb.LabelKind, value, by string) {
		t.Helper()
		must(t, s.Owner().Label(t.Context(), "one", sessiondb.Label{Kind: kind, Value: value, Author: by}))
	}
	check := func(name string, tags ...string) {
		t.Helper()
		heads, err := s.List(t.Context())
		if err != nil || heads[0].Name != name || !slices.Equal(heads[0].Tags, tags) {
			t.Errorf("%q %q, %v; want %q %q", heads[0].Name, heads[0].Tags, err, name, tags)
		}
	}
	check("")
	label(sessiondb.TitleLabel, "by the model", sessiondb.ByModel)
	check("by the model")
	label(sessiondb.TitleLabel, "mine", sessiondb.ByPerson)
	label(sessiondb.TitleLabel, "by the model again", sessiondb.ByModel)
	check("mine")
	label(sessiondb.TitleLabel, "", sessiondb.ByPerson)
	check("by the model again")
	label(sessiondb.TagLabel, "b", sessiondb.ByPerson)
	label(sessiondb.TagLabel, "a", sessiondb.ByPerson)
	label(sessiondb.TagLabel, "a", sessiondb.ByPerson)
	check("by the model again", "a", "b")
	label(sessiondb.UntagLabel, "a", sessiondb.ByPerson)
	check("by the model again", "b")
	all, err := s.Owner().Labels(t.Context(), "one")
	if err != nil || len(all) != 8 || all[1].Value != "mine" || !all[1].Time.Equal(stopped()) {
		t.Errorf("the history is %v, %v", all, err)
	}
	if err := s.Owner().Label(t.Context(), "none", sessiondb.Label{}); !errors.Is(err, session.ErrNotFound) {
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
		must(t, s.Append(t.Context(), id, starts(cwd, more), storeEntry(n)))
		if n%4 == 0 {
			must(t, s.Owner().Label(t.Context(), id, sessiondb.Label{Kind: sessiondb.TagLabel, Value: "four", Author: sessiondb.ByPerson}))
		}
	}
	must(t, s.Owner().Label(t.Context(), "s4", sessiondb.Label{Kind: sessiondb.UntagLabel, Value: "four", Author: sessiondb.ByPerson}))
	for name, c := range map[string]struct {
		filter sessiondb.Filter
		want   []session.ID
		total  int
	}{
		"folder":            {sessiondb.Filter{Folder: "/here"}, []session.ID{"s6", "s4", "s2", "s0"}, 4},
		"folders":           {sessiondb.Filter{Folder: "/here", Folders: []string{"/there"}, Prefix: "s1"}, []session.ID{"s1"}, 1},
		"no other folder":   {sessiondb.Filter{Folders: []string{"/here", "/her", "/there/x"}}, []session.ID{"s6", "s4", "s2", "s0"}, 4},
		"below":             {sessiondb.Filter{FoldersBelow: []string{"/th", "/here"}, Limit: 1}, []session.ID{"s6"}, 4},
		"with subagents":    {sessiondb.Filter{Folder: "/here", All: true}, []session.ID{"s8", "s6", "s4", "s2", "s0"}, 5},
		"a page":            {sessiondb.Filter{Folder: "/here", Skip: 1, Limit: 2}, []session.ID{"s4", "s2"}, 4},
		"behind the last":   {sessiondb.Filter{Folder: "/here", Skip: 9, Limit: 2}, nil, 0},
		"tag":               {sessiondb.Filter{Tags: []string{"four"}, All: true}, []session.ID{"s8", "s0"}, 2},
		"two tags":          {sessiondb.Filter{Tags: []string{"four", "five"}}, nil, 0},
		"since":             {sessiondb.Filter{Since: storeEntry(7).Time}, []session.ID{"s9", "s7"}, 2},
		"beginning":         {sessiondb.Filter{Prefix: "s9"}, []session.ID{"s9"}, 1},
		"beginning of none": {sessiondb.Filter{Prefix: "S%"}, nil, 0},
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
	if heads, _, err := look.Page(t.Context(), sessiondb.Filter{Tags: []string{"x"}}); err != nil || len(heads) > 0 {
		t.Errorf("looked at: %v, %v", heads, err)
	}
	if heads, err := look.List(t.Context()); err != nil || len(heads) != 1 {
		t.Errorf("looked at: %v, %v", heads, err)
	}
	look.Close()
	s = mustOpen(t, path)
	must(t, s.Owner().Label(t.Context(), "one", sessiondb.Label{Kind: sessiondb.TagLabel, Value: "x", Author: sessiondb.ByPerson}))
	if heads, _, err := s.Page(t.Context(), sessiondb.Filter{Tags: []string{"x"}}); err != nil || len(heads) != 1 {
		t.Errorf("brought up to date: %v, %v", heads, err)
	}
}

// What a session is called outlives damage to the file.
func TestSalvageKeepsLabels(t *testing.T) {
	path := damageable(t)
	s := mustOpen(t, path)
	must(t, s.Owner().Label(t.Context(), "s7", sessiondb.Label{Kind: sessiondb.TitleLabel, Value: "seven", Author: sessiondb.ByPerson}))
	_, err := s.Owner().Remove(t.Context(), sessiondb.ByHand, "s1")
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
