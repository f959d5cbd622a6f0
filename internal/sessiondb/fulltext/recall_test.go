package fulltext

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
	"adze/tool"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func at(n int) time.Time { return time.Date(2026, 3, 4, 5, 6, n, 0, time.UTC) }

func entry(t testing.TB, kind session.EntryType, n int, v any) session.Entry {
	t.Helper()
	data, err := json.Marshal(v)
	must(t, err)
	return session.Entry{Type: kind, Time: at(n), Data: data}
}

func start(t testing.TB, n int, s session.Start) session.Entry {
	return entry(t, session.StartEntry, n, s)
}

func said(t testing.TB, n int, role session.Role, text string) session.Entry {
	return entry(t, session.MessageEntry, n, session.Message{ID: fmt.Sprint("m", n), Role: role, Parts: []session.Part{{Kind: session.TextPart, Text: text}}})
}

func called(t testing.TB, n int, name, exposed, output string) session.Entry {
	return entry(t, session.OutcomeEntry, n, tool.Outcome{Call: tool.CallID(fmt.Sprint("c", n)), Tool: name, Output: output, Title: "hidden title",
		Record: tool.Record{Message: "m1", Tool: name, Args: json.RawMessage(exposed)}})
}

// shelf is a store.
type shelf struct {
	dir  string
	logs *sessiondb.Store
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	s := &shelf{dir: t.TempDir()}
	s.open(t)
	return s
}

func (s *shelf) open(t testing.TB) {
	t.Helper()
	var err error
	s.logs, err = sessiondb.Open(t.Context(), filepath.Join(s.dir, "sessions.db"), sessiondb.Options{})
	must(t, err)
	t.Cleanup(func() { s.close() })
}

func (s *shelf) close() {
	_ = s.logs.Close()
}

func (s *shelf) add(t testing.TB, id session.ID, entries ...session.Entry) {
	t.Helper()
	must(t, s.logs.Append(t.Context(), id, entries...))
}

// find lists what is found as session/seq.
func (s *shelf) find(t testing.TB, q Query) string {
	t.Helper()
	must(t, Update(t.Context(), s.logs, nil))
	hits, more, err := Search(t.Context(), s.logs, q)
	if err != nil {
		t.Errorf("%q: %v", q.Text, err)
	}
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s/%d", h.Session, h.Seq))
	}
	if more {
		out = append(out, "more")
	}
	return strings.Join(out, " ")
}

func TestSearch(t *testing.T) {
	s := newShelf(t)
	s.add(t, "one", start(t, 0, session.Start{Version: "1", Cwd: "/here"}),
		said(t, 1, session.User, "Why does the disk fill up?\nLook at retry_count and café"),
		said(t, 2, session.Assistant, "The log rotates never; see main.go:12."),
		called(t, 3, "bash", `{"command":"du -sh /var"}`, "12G /var\nwombat"),
		entry(t, session.NoteEntry, 4, session.Message{ID: "n", Role: session.User, Note: true, Parts: []session.Part{{Kind: session.TextPart, Text: "gadfly"}}}))
	s.add(t, "two", start(t, 5, session.Start{Version: "1", Cwd: "/there"}), said(t, 6, session.User, "disk disk 磁盘满了 \x00 \"quoted\" NEAR OR AND"))
	s.add(t, "sub", start(t, 7, session.Start{Version: "1", Cwd: "/here", Agent: "helper", Parent: "one"}), said(t, 8, session.User, "the disk of a helper"))
	for text, want := range map[string]string{
		"disk":              "sub/2 two/2 one/2",
		"disk why":          "one/2",
		"DISK fil":          "one/2", // the last word may be a beginning
		"DISK fi":           "",      // of three letters
		"fil disk":          "",      // another one not
		"disk fil ":         "",
		`"the disk"`:        "sub/2 one/2",
		`"disk the"`:        "",
		`"the disk" fill`:   "one/2",
		`disk "`:            "sub/2 two/2 one/2",
		"cafe":              "one/2",
		"CAFÉ":              "one/2",
		"retry_count":       "one/2",
		"retry":             "one/2",
		"count":             "one/2", // parts of a name
		"retry-count":       "one/2",
		"count_retry":       "",
		"main.go":           "one/3",
		"main.go:12.":       "one/3",
		"wombat":            "one/4",
		"du -sh":            "one/4",
		"bash var":          "one/4",
		"hidden":            "", // the title of a call is no argument
		"command":           "", // nor is the name of one
		"gadfly":            "", // what adze told the model
		"盘满":                "two/2",
		"满盘":                "",
		"NEAR":              "two/2",
		"AND OR":            "two/2",
		"nothing":           "",
		"disk:why*^(){}-+'": "", // side by side
		"fill-up*^(){}-+'":  "one/2",
	} {
		if got := s.find(t, Query{Text: text}); got != want {
			t.Errorf("%q found %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Text: "disk", Folder: "/here"}, "sub/2 one/2"},
		{Query{Text: "disk", Folder: "/"}, ""},
		{Query{Text: "disk", Since: at(6)}, "sub/2 two/2"},
		{Query{Text: "disk", Since: at(6), Folder: "/there"}, "two/2"},
		{Query{Text: "disk", Limit: 2}, "sub/2 two/2 more"},
		{Query{Text: "disk", Limit: 2, Skip: 1}, "two/2 one/2"},
		{Query{Text: "disk", Limit: 2, Skip: 3}, ""},
		{Query{Text: "disk", Since: at(6), Skip: 1}, "two/2"},
	} {
		if got := s.find(t, c.q); got != c.want {
			t.Errorf("%+v found %q, want %q", c.q, got, c.want)
		}
	}
	for _, text := range []string{"", " ", `"`, "-*()", "\x00", "\xff"} {
		if _, _, err := Search(t.Context(), s.logs, Query{Text: text}); !errors.Is(err, ErrNoWords) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestHitsSayWhereTheyStand(t *testing.T) {
	s := newShelf(t)
	s.add(t, "one", start(t, 0, session.Start{Version: "1", Cwd: "/here"}), said(t, 1, session.User, "first line\nsecond"),
		called(t, 3, "bash", `{"command":"make all"}`, strings.Repeat("noise ", 100)+"the\n\n  needle stands   here"+strings.Repeat(" noise", 100)))
	must(t, s.logs.Owner().Label(t.Context(), "one", sessiondb.Label{Kind: sessiondb.TitleLabel, Value: "named", Author: sessiondb.ByPerson}))
	must(t, Update(t.Context(), s.logs, nil))
	hits, _, err := Search(t.Context(), s.logs, Query{Text: "stands needle"})
	must(t, err)
	h := hits[0]
	if h.Title != "named" || h.Cwd != "/here" || h.Kind != Called || h.Tool != "bash" || h.Message != "m1" || h.Call != "c3" || !h.Time.Equal(at(3)) {
		t.Errorf("%+v", h)
	}
	var marked []string
	for _, p := range h.Snippet {
		if p.Hit {
			marked = append(marked, p.Text)
		}
	}
	if text := h.Snippet.String(); !strings.Contains(text, "noise the needle stands here noise") || len(text) > 250 || !slices.Equal(marked, []string{"needle", "stands"}) {
		t.Errorf("%q, marked %q", text, marked)
	}
}

// Whatever a user writes is a query.
func FuzzQuery(f *testing.F) {
	for _, text := range []string{`"`, `a" OR b`, "NEAR(a b)", "a*", "^a", "{body}: a", "-a", "(", "a\x00b", "é́", "你a好", "ǅ ﬁ ß İ", "١٢٣", "\u2028", "𐐀"} {
		f.Add(text)
	}
	s := newShelf(f)
	s.add(f, "one", said(f, 1, session.User, "a b c"))
	must(f, Update(f.Context(), s.logs, nil))
	f.Fuzz(func(t *testing.T, text string) {
		hits, _, err := Search(context.Background(), s.logs, Query{Text: text})
		if err != nil && !errors.Is(err, ErrNoWords) {
			t.Errorf("%q: %v", text, err)
		}
		for _, h := range hits {
			_ = h.Snippet.String()
		}
	})
}

// What was said is found by any of its words, also where it is long, and in scripts of all kinds.
func TestEveryWordIsFound(t *testing.T) {
	s := newShelf(t)
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("abcXYZ019_éßñЖλ中文字かカ한글ไทย.,:;-/\\'\"()[]{}!?@#$%^&*+=<>|~`\t\n 😀")
	var texts []string
	for n := range 60 {
		var b strings.Builder
		for range 10 + r.IntN(60) {
			b.WriteRune(alphabet[r.IntN(len(alphabet))])
		}
		texts = append(texts, b.String())
		s.add(t, "one", said(t, n, session.User, b.String()))
	}
	for n, text := range texts {
		for _, word := range strings.Fields(text) {
			if strings.Contains(word, `"`) || !strings.ContainsFunc(word, inWord) {
				continue
			}
			got := s.find(t, Query{Text: word, Limit: 100})
			if !slices.Contains(strings.Fields(got), fmt.Sprintf("one/%d", n+1)) {
				t.Errorf("%q of %q is not found: %s", word, text, got)
			}
		}
	}
}

func TestWhatIsForgottenIsGoneFromTheFile(t *testing.T) {
	s := newShelf(t)
	for _, id := range []session.ID{"one", "two"} {
		for n := range 50 {
			s.add(t, id, said(t, n, session.User, fmt.Sprintf("%sqxj%d and common words", map[session.ID]string{"one": "v", "two": "k"}[id], n)))
		}
	}
	must(t, Update(t.Context(), s.logs, nil))
	s.close()
	s.open(t)
	if !s.has(t, "kqxj") {
		t.Fatal("the words cannot be found where they are")
	}
	_, err := s.logs.Owner().Remove(t.Context(), sessiondb.ByHand, "two")
	must(t, err)
	must(t, s.logs.Owner().CleanWords(t.Context()))
	must(t, s.logs.Owner().Scrub(t.Context()))
	if s.has(t, "kqxj") {
		t.Error("the words are still there")
	}
	if got := s.find(t, Query{Text: "common", Limit: 100}); len(strings.Fields(got)) != 50 || strings.Contains(got, "two") {
		t.Errorf("found %q", got)
	}
	s.sameAsNew(t)
}

// has looks for bytes in the files of the store. FTS5 writes of a term only what differs from the
// one before.
func (s *shelf) has(t *testing.T, word string) bool {
	t.Helper()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(filepath.Join(s.dir, "sessions.db") + suffix)
		if err == nil && strings.Contains(string(data), word) {
			return true
		}
	}
	return false
}

// sameAsNew compares the words with those that are made anew, word by word and place by place.
func (s *shelf) sameAsNew(t testing.TB) {
	t.Helper()
	must(t, Update(t.Context(), s.logs, nil))
	got := s.dump(t, "INSERT INTO words (words) VALUES ('integrity-check')")
	s.dump(t, "DROP TABLE words; DROP TABLE indexed")
	must(t, Update(t.Context(), s.logs, nil))
	if want := s.dump(t, ""); !slices.Equal(got, want) {
		t.Errorf("the index has %d places of words, a new one %d; the first that differ: %v", len(got), len(want), firstDifference(got, want))
	}
}

func firstDifference(a, b []string) [2]string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return [2]string{a[i], b[i]}
		}
	}
	return [2]string{}
}

// dump lists what is in the tables, and then executes a statement.
func (s *shelf) dump(t testing.TB, then string) (out []string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(s.dir, "sessions.db")+"?_pragma=busy_timeout(10000)")
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	_, err = db.ExecContext(t.Context(), "CREATE VIRTUAL TABLE IF NOT EXISTS temp.places USING fts5vocab('main', 'words', 'instance')")
	must(t, err)
	for _, query := range []string{"SELECT term || ' ' || doc || ' ' || offset FROM temp.places ORDER BY term, doc, offset",
		"SELECT session || ' ' || seq FROM indexed ORDER BY session"} {
		rows, err := db.QueryContext(t.Context(), query)
		must(t, err)
		for rows.Next() {
			var line string
			must(t, rows.Scan(&line))
			out = append(out, line)
		}
		must(t, rows.Err())
		rows.Close()
	}
	_, err = db.ExecContext(t.Context(), then)
	must(t, err)
	return out
}
