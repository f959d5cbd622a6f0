package fulltext

import (
	"path/filepath"
	"testing"

	"adze/session"
)

// What is searched later sees what was said since, and leaves the log to its writer.
func TestLater(t *testing.T) {
	s := newShelf(t)
	l := NewLater(filepath.Join(s.dir, "sessions.db"))
	must(t, l.Close()) // it opened nothing
	for n, text := range []string{"first wombat", "second wombat"} {
		s.add(t, "one", said(t, n, session.User, text))
		var hits []Hit
		for len(hits) <= n { // how long the update takes is not known
			var err error
			if hits, _, err = l.Search(t.Context(), Query{Text: "wombat"}); err != nil {
				t.Fatal(err)
			}
		}
		if hits[0].Seq != int64(n+1) {
			t.Errorf("%+v", hits)
		}
	}
	if _, _, err := l.Search(t.Context(), Query{Text: "-"}); err != ErrNoWords {
		t.Errorf("%v", err)
	}
	must(t, l.Close())
	must(t, l.Close())
}
