package sessiondb_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sessiondb"
	"adze/session"
)

// output is the n-th of some large texts that do not look alike.
func output(n, size int) string {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	var b strings.Builder
	for b.Len() < size {
		fmt.Fprintf(&b, "%6d  func f%d(x int) { return x * %d }\n", b.Len(), r.IntN(1000), r.IntN(1000))
	}
	return b.String()[:size]
}

func entryOf(n int, v any) session.Entry {
	raw, _ := json.Marshal(v)
	return session.Entry{Type: session.OutcomeEntry, Time: storeClock(n), Data: raw}
}

// largeEntry is one of which the child of a crash test appends many.
func largeEntry(n int) session.Entry {
	return entryOf(n, map[string]any{"n": n, "output": output(n%7, 6000), "own": output(n+100, 4500)})
}

func ask(t *testing.T, path, query string, into any) {
	t.Helper()
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: sessiondb.URIPath(path)}).String())
	must(t, err)
	defer db.Close()
	must(t, db.QueryRow(query).Scan(into))
}

func count(t *testing.T, path, query string) (n int) {
	t.Helper()
	ask(t, path, query, &n)
	return n
}

// Whatever a text looks like, it comes back as it was, also when it has the look of the name of
// another one.
func TestTextsComeBackAsTheyWere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	add := func(e session.Entry) session.Entry { must(t, s.Append(t.Context(), "one", e)); return e }
	all := []session.Entry{add(entryOf(1, map[string]any{"output": output(1, 9000)}))}
	var name string
	ask(t, path, "SELECT substr(data, instr(data, 'adze:text'), length(data) - instr(data, 'adze:text') - 1) FROM entries", &name)
	if !strings.HasPrefix(name, "adze:text:sha256:") {
		t.Fatalf("the name is %q", name)
	}
	for n, v := range []any{
		name, []string{name, name}, map[string]string{name: name}, map[string]string{"a": `"` + name + `"`, "b": `,"` + name + `",`, "c": `\"` + name + `\\"` + name},
		"adze:text:sha256:", "adze:text:sha256:00:1", `"adze:text:sha256:` + strings.Repeat("0", 64) + `:12"`, output(1, 9000)[:4096], output(1, 9000)[:4095], output(2, 4096) + `"` + name,
		strings.Repeat("\x00\x1b\u202e\\\"", 3000), strings.Repeat("ü€😀", 2000), bytes.Repeat([]byte{0, 1, 2, 250}, 5000),
	} {
		all = append(all, add(entryOf(n, v)))
	}
	reopened := mustLook(t, path)
	for name, s := range map[string]*sessiondb.Store{"open": s, "looked at": reopened} {
		loaded, err := s.Load(t.Context(), "one")
		must(t, err)
		var each, scanned []session.Entry
		keep := func(to *[]session.Entry) func(sessiondb.ScanResult) error {
			return func(f sessiondb.ScanResult) error { *to = append(*to, f.Entry); return nil }
		}
		must(t, s.ScanEach(t.Context(), sessiondb.Scan{}, keep(&each)))
		must(t, s.ScanEach(t.Context(), sessiondb.Scan{Session: "one", Paths: []string{"$"}}, keep(&scanned)))
		for i, e := range all {
			if d := cmp.Diff(e, loaded[i]); d != "" {
				t.Errorf("%s, loaded: %d: %.300s", name, i, d)
			}
			if !bytes.Equal(e.Data, each[i].Data) {
				t.Errorf("%s: entry %d is another one when it is scanned", name, i)
			}
		}
		if n, err := s.Verify(t.Context(), "one"); n != len(all) || err != nil {
			t.Errorf("%s: %d sound entries, %v", name, n, err)
		}
	}
}

// Two hundred times the same output takes the room of one.
func TestTextsAreStoredOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	for n := range 200 {
		must(t, s.Append(t.Context(), session.ID(fmt.Sprint("s", n%3)), entryOf(n, map[string]any{"n": n, "output": output(0, 30_000)})))
	}
	if n := count(t, path, "SELECT count(*) FROM texts"); n != 1 {
		t.Errorf("%d texts", n)
	}
	if used, _, err := s.Owner().Size(t.Context()); err != nil || used > 300_000 {
		t.Errorf("%d bytes, %v", used, err)
	}
	s.Close()
	s = mustOpen(t, path)
	for i, left := range []int{1, 1, 0} { // it goes with the last session that has it
		if _, err := s.Owner().Remove(t.Context(), sessiondb.ByHand, session.ID(fmt.Sprint("s", i))); err != nil {
			t.Fatal(err)
		}
		if n := count(t, path, "SELECT count(*) FROM texts"); n != left {
			t.Errorf("%d texts after %d sessions went, want %d", n, i+1, left)
		}
		if log, err := s.Load(t.Context(), "s2"); i < 2 && (err != nil || !strings.Contains(string(log[0].Data), "func f")) {
			t.Errorf("the others lost it: %v", err)
		}
	}
}

func TestVerifyLooksAtTexts(t *testing.T) {
	for name, change := range map[string]string{
		"changed": "DROP TRIGGER IF EXISTS texts_keep; UPDATE texts SET data = zeroblob(length(data))",
		"removed": "DELETE FROM texts", "other": "UPDATE texts SET packed = 1 - packed",
	} {
		path := filepath.Join(t.TempDir(), "s.db")
		s := mustOpen(t, path)
		fill(t, s, "one", 2)
		must(t, s.Append(t.Context(), "one", largeEntry(1)))
		s.Close()
		edit(t, path, change)
		s = mustOpen(t, path)
		n, err := s.Verify(t.Context(), "one")
		var bad *sessiondb.BadRow
		if !errors.As(err, &bad) || bad.Seq != 3 || n != 2 {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		log, err := s.Load(t.Context(), "one") // what can be read can be gone on with
		if err != nil || !json.Valid(log[2].Data) || !strings.Contains(string(log[2].Data), "is lost") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is masked is so before it is hashed: no file of the store holds it, and two outputs that
// differ in it alone are one.
func TestTextsAreMaskedFirst(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	mask := func(_ session.ID, e session.Entry) session.Entry {
		e.Data = bytes.ReplaceAll(bytes.ReplaceAll(e.Data, []byte("tulip-orchid"), []byte("[masked]")), []byte("heather-rose"), []byte("[masked]"))
		return e
	}
	s, err := sessiondb.Open(t.Context(), path, sessiondb.Options{Mask: mask})
	must(t, err)
	for _, secret := range []string{"tulip-orchid", "heather-rose"} {
		must(t, s.Append(t.Context(), "one", entryOf(1, strings.Repeat("x", 5000)+secret)))
	}
	if n := count(t, path, "SELECT count(*) FROM texts"); n != 1 {
		t.Errorf("%d texts", n)
	}
	must(t, s.Close())
	files, _ := filepath.Glob(path + "*")
	for _, f := range files {
		if raw, _ := os.ReadFile(f); bytes.Contains(raw, []byte("tulip")) || bytes.Contains(raw, []byte("heather")) {
			t.Errorf("%s holds the secret", f)
		}
	}
}

func TestSalvageKeepsTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	first := session.Entry{Type: session.MessageEntry, Time: storeClock(0), Data: []byte(`{"role":"user","parts":[{"kind":"text","text":"what is this\n` + strings.Repeat("word ", 2000) + `"}]}`)}
	all := []session.Entry{first}
	for n := range 60 {
		all = append(all, largeEntry(n))
	}
	must(t, s.Append(t.Context(), "one", all...))
	s.Close()
	edit(t, path, "PRAGMA journal_mode = DELETE; DELETE FROM texts WHERE num = 5") // one is lost
	index := count(t, path, "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_texts_1'")
	raw, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, overwrite(index-1, index)(raw), 0o600))
	must(t, os.WriteFile(path+".check", nil, 0o600))
	s = mustOpen(t, path)
	if loss := s.Salvaged(); loss == nil || !strings.Contains(loss.String(), "1 large texts are lost") {
		t.Fatalf("%v", loss)
	}
	log, err := s.Load(t.Context(), "one")
	must(t, err)
	differ := 0
	for i := range all {
		if !bytes.Equal(all[i].Data, log[i].Data) {
			differ++
		}
	}
	if len(log) != len(all) || differ != 1 {
		t.Errorf("%d entries, %d differ", len(log), differ)
	}
	if heads, err := s.List(t.Context()); err != nil || heads[0].Title() != "what is this" {
		t.Errorf("%q, %v", heads[0].Title(), err)
	}
	if _, err := s.Owner().Remove(t.Context(), sessiondb.ByHand, "one"); err != nil || count(t, path, "SELECT count(*) FROM texts") != 0 {
		t.Errorf("texts stay behind: %v", err)
	}
}

// A database without texts is read as it is, and gets them when it is opened.
func TestADatabaseWithoutTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	fill(t, s, "one", 3)
	s.Close()
	edit(t, path, `DROP TABLE texts; DROP TABLE uses; PRAGMA user_version = 2`)
	look := mustLook(t, path)
	if log, err := look.Load(t.Context(), "one"); err != nil || len(log) != 3 {
		t.Errorf("%d, %v", len(log), err)
	}
	look.Close()
	s = mustOpen(t, path)
	must(t, s.Append(t.Context(), "one", largeEntry(4)))
	if n, err := s.Verify(t.Context(), "one"); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestKillLosesNoText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	for round, enough := range []int{1, 40} {
		id := session.ID(fmt.Sprint("round", round))
		last, rest := start(t, "large", path, id).acknowledged(t, enough)
		if last < enough {
			t.Fatalf("the child stopped at %d: %v", last, rest)
		}
		s := mustOpen(t, path)
		if n, err := s.Verify(t.Context(), id); err != nil || n < last || s.Salvaged() != nil {
			t.Errorf("%d sound entries of %d, %v, %v", n, last, err, s.Salvaged())
		}
		log, err := s.Load(t.Context(), id)
		must(t, err)
		for n := range last {
			if !bytes.Equal(log[n].Data, largeEntry(n+1).Data) {
				t.Errorf("entry %d came back changed", n+1)
			}
		}
		if n := count(t, path, "SELECT count(*) FROM texts WHERE NOT EXISTS (SELECT 1 FROM uses WHERE text = num)"); n > 0 {
			t.Errorf("%d texts are nobody's", n)
		}
		s.Close()
	}
}
