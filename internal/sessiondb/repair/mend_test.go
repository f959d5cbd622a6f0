package repair_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to do damage

	"adze/internal/llm/anthropic"
	"adze/internal/llm/gemini"
	"adze/internal/llm/ollama"
	"adze/internal/llm/openai"
	"adze/internal/llm/responses"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/repair"
	"adze/internal/testkit/effort"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

// The formats in which a resumed conversation must be accepted.
type (
	chatFormat     struct{ llmtest.Chat }
	messagesFormat struct{ llmtest.Messages }
	flatFormat     struct{ llmtest.Responses }
	geminiFormat   struct{ llmtest.Gemini }
	ollamaFormat   struct{ llmtest.Ollama }
)

func (chatFormat) New(o llmtest.Options) session.Provider {
	return openai.New(openai.Options{BaseURL: o.BaseURL + "/v1", NewID: o.NewID})
}
func (messagesFormat) New(o llmtest.Options) session.Provider {
	return anthropic.New(anthropic.Options{BaseURL: o.BaseURL, NewID: o.NewID})
}
func (flatFormat) New(o llmtest.Options) session.Provider {
	return responses.New(responses.Options{BaseURL: o.BaseURL + "/v1", NewID: o.NewID})
}
func (geminiFormat) New(o llmtest.Options) session.Provider {
	return gemini.New(gemini.Options{BaseURL: o.BaseURL, NewID: o.NewID})
}
func (ollamaFormat) New(o llmtest.Options) session.Provider {
	return ollama.New(ollama.Options{BaseURL: o.BaseURL, NewID: o.NewID})
}

// servers are strict ones, of each format.
func servers(t *testing.T) (all []session.Provider) {
	n := 0
	for _, w := range []llmtest.Wire{chatFormat{}, messagesFormat{}, flatFormat{}, geminiFormat{}, ollamaFormat{}} {
		all = append(all, w.New(llmtest.Options{BaseURL: llmtest.Strict(t, w), NewID: func() string { n++; return fmt.Sprint("minted_", n) }}))
	}
	return all
}

const unguard = "DROP TRIGGER IF EXISTS entries_keep; DROP TRIGGER IF EXISTS entries_stay; DROP TRIGGER IF EXISTS entries_count;"

// damages are what may happen to rows a and b of so many, by statements.
func damages(a, b, n int) map[string]string {
	low, high := min(a, b), max(a, b)
	return map[string]string{
		"changed":        fmt.Sprintf("UPDATE entries SET data = replace(data, 'a', 'b') || ' ' WHERE session = 1 AND seq = %d", a),
		"flipped":        fmt.Sprintf("UPDATE entries SET data = substr(data, 1, length(data)/2) || '~' || substr(data, length(data)/2 + 2) WHERE session = 1 AND seq = %d", a),
		"cut":            fmt.Sprintf("UPDATE entries SET data = substr(data, 1, length(data)/2) WHERE session = 1 AND seq = %d", a),
		"emptied":        fmt.Sprintf("UPDATE entries SET data = '' WHERE session = 1 AND seq = %d", a),
		"zeroed":         fmt.Sprintf("UPDATE entries SET data = zeroblob(length(data)) WHERE session = 1 AND seq = %d", a),
		"null":           fmt.Sprintf("UPDATE entries SET data = 'null' WHERE session = 1 AND seq = %d", a),
		"retimed":        fmt.Sprintf("UPDATE entries SET time = 'noon' WHERE session = 1 AND seq = %d", a),
		"retyped":        fmt.Sprintf("UPDATE entries SET type = 'message' WHERE session = 1 AND seq = %d", a),
		"unhashed":       fmt.Sprintf("UPDATE entries SET hash = zeroblob(32) WHERE session = 1 AND seq = %d", a),
		"dropped":        fmt.Sprintf("DELETE FROM entries WHERE session = 1 AND seq = %d", a),
		"range dropped":  fmt.Sprintf("DELETE FROM entries WHERE session = 1 AND seq BETWEEN %d AND %d", low, high),
		"torn":           fmt.Sprintf("DELETE FROM entries WHERE session = 1 AND seq >= %d", max(2, a)),
		"closed up":      fmt.Sprintf("DELETE FROM entries WHERE session = 1 AND seq = %d; UPDATE entries SET seq = seq - 1 WHERE session = 1 AND seq > %d", a, a),
		"swapped":        fmt.Sprintf("UPDATE entries SET seq = -7 WHERE session = 1 AND seq = %[1]d; UPDATE entries SET seq = %[1]d WHERE session = 1 AND seq = %[2]d; UPDATE entries SET seq = %[2]d WHERE session = 1 AND seq = -7", a, b),
		"doubled":        fmt.Sprintf("INSERT OR IGNORE INTO entries SELECT session, %d, type, time, data, hash FROM entries WHERE session = 1 AND seq = %d", n+1, a),
		"moved":          fmt.Sprintf("UPDATE OR IGNORE entries SET seq = %d WHERE session = 1 AND seq = %d", n+9, a),
		"foreign":        fmt.Sprintf("UPDATE OR IGNORE entries SET (type, time, data, hash) = (SELECT type, time, data, hash FROM entries WHERE session = 2 AND seq = 2) WHERE session = 1 AND seq = %d", a),
		"end forgotten":  "UPDATE sessions SET tip = x'00' WHERE num = 1",
		"count changed":  fmt.Sprintf("UPDATE sessions SET entries = %d WHERE num = 1", a),
		"start gone":     "DELETE FROM entries WHERE session = 1 AND seq = 1",
		"calls gone":     "DELETE FROM entries WHERE session = 1 AND type = 'message' AND data LIKE '%\"call\"%'",
		"outcomes gone":  "DELETE FROM entries WHERE session = 1 AND type = 'outcome'",
		"intents gone":   "DELETE FROM entries WHERE session = 1 AND type = 'intent'",
		"messages gone":  fmt.Sprintf("DELETE FROM entries WHERE session = 1 AND type = 'message' AND seq > %d", a),
		"backwards":      fmt.Sprintf("UPDATE entries SET seq = seq + 10000 WHERE session = 1 AND seq BETWEEN %[1]d AND %[2]d; UPDATE entries SET seq = %[1]d + %[2]d + 10000 - seq WHERE session = 1 AND seq > 10000", low, high),
		"listing broken": "UPDATE openings SET start = 'x' WHERE session = 1",
	}
}

// rig is a database that can be damaged behind the store's back.
type rig struct {
	t    *testing.T
	path string
}

func (r rig) open() *sessiondb.Store {
	r.t.Helper()
	s, err := sessiondb.Open(r.t.Context(), r.path, sessiondb.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r rig) edit(statements string) {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(unguard + statements + "; PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		r.t.Fatalf("%s: %v", statements, err)
	}
}

// TestAnythingThatIsDamagedCanBeMended writes random logs, damages the database at random, once or
// several times, and repairs.
func TestAnythingThatIsDamagedCanBeMended(t *testing.T) {
	all := servers(t)
	seed := effort.Seed(t, rand.Uint64())
	for i := range effort.Rounds(10, 20, 300) {
		seed := seed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			g := rig{t, filepath.Join(t.TempDir(), "s.db")}
			s := g.open()
			original := written(t, s, "one", r)
			written(t, s, "two", r)
			s.Close()
			for range 1 + r.IntN(3) {
				kinds := damages(1+r.IntN(len(original)), 1+r.IntN(len(original)), len(original))
				names := slices.Sorted(func(yield func(string) bool) {
					for name := range kinds {
						if !yield(name) {
							return
						}
					}
				})
				name := names[r.IntN(len(names))]
				t.Log(name, kinds[name])
				g.edit(kinds[name])
			}
			g.mended(original, all)
		})
	}
}

// mended repairs the session and checks all that is promised of it.
func (g rig) mended(original []sessiondb.Raw, all []session.Provider) {
	t := g.t
	t.Helper()
	s := g.open()
	defer s.Close()
	before, err := s.Raw(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	report, err := repair.Repair(t.Context(), s, "one", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if after, err := s.Raw(t.Context(), "one"); err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the old session was touched: %v", err)
	}
	id := report.Repaired
	if id == "" {
		id = "one"
	}
	if n, err := s.Verify(t.Context(), id); err != nil && report.Repaired != "" {
		t.Errorf("the repaired session is not sound: %d, %v", n, err)
	}
	entries, err := s.Load(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	nothingIntactIsLost(t, original, before.Rows, entries)
	nothingChangedIsBelieved(t, report, before.Rows, entries)
	if raw, err := s.Raw(t.Context(), id); err != nil || len(repair.Examine(raw).Findings) > 0 {
		t.Errorf("the repaired session is to be repaired: %v, %v", repair.Examine(raw).Findings, err)
	}
	for _, p := range all {
		accepted(t, p, id, entries)
	}
	if t.Failed() {
		for _, f := range report.Findings {
			t.Log(f.Kind, f)
		}
	}
}

// nothingIntactIsLost: what still stands in the damaged database as it was written, where it stood
// or behind what stood before it, is in the repaired log.
func nothingIntactIsLost(t *testing.T, original, damaged []sessiondb.Raw, repaired []session.Entry) {
	t.Helper()
	same := func(a, b sessiondb.Raw) bool {
		return text(a.Entry) == text(b.Entry) && a.Entry.Time.Equal(b.Entry.Time) && bytes.Equal(a.Hash, b.Hash)
	}
	intact := func(want sessiondb.Raw) int {
		return slices.IndexFunc(damaged, func(r sessiondb.Raw) bool { return same(r, want) })
	}
	for i, want := range original {
		at := intact(want)
		if at < 0 || damaged[at].Seq != want.Seq && (i == 0 || intact(original[i-1]) < 0) {
			continue // of one that was moved, and of which nothing shows where it was, nobody knows whether it was changed
		}
		switch want.Entry.Type {
		case session.StartEntry, session.RewindEntry, session.CompactEntry: // they name others, and may name them anew
			continue
		}
		if !slices.ContainsFunc(repaired, func(e session.Entry) bool { return text(e) == text(want.Entry) }) {
			t.Errorf("entry %d, now %d, was intact and is lost: %.100s", want.Seq, damaged[at].Seq, text(want.Entry))
		}
	}
}

// nothingChangedIsBelieved: what was changed is in the repaired log only where the report says that
// it cannot be proven.
func nothingChangedIsBelieved(t *testing.T, report repair.Report, damaged []sessiondb.Raw, repaired []session.Entry) {
	t.Helper()
	for _, r := range damaged {
		if bytes.Contains(r.Entry.Data, []byte("~")) && slices.ContainsFunc(repaired, func(e session.Entry) bool { return text(e) == text(r.Entry) }) &&
			!slices.ContainsFunc(report.Findings, func(f repair.Finding) bool {
				return f.Kind == repair.Unproven && f.Seq <= r.Seq && r.Seq <= max(f.Seq, f.Last)
			}) {
			t.Errorf("something that was changed is in the repaired log: %.200s", text(r.Entry))
		}
	}
}

// accepted goes on with a copy of the conversation over a strict server.
func accepted(t *testing.T, p session.Provider, id session.ID, entries []session.Entry) {
	t.Helper()
	copied := sessiondb.NewMemory()
	if err := copied.Append(t.Context(), id, entries...); err != nil {
		t.Fatal(err)
	}
	talk, err := session.Resume(t.Context(), config(t, copied, id, p))
	if err != nil {
		t.Fatalf("%s: %v", p.Name(), err)
	}
	if r := talk.Prompt(t.Context(), session.Input{Text: "go on"}); r.Cause != session.CauseDone {
		t.Errorf("%s refuses what was repaired: %s", p.Name(), r.Message)
	}
}

// TestDamageOfEachKindIsNamed: one damage, one finding that says so.
func TestDamageOfEachKindIsNamed(t *testing.T) {
	all := servers(t)
	for name, want := range map[string]string{
		"changed": "dropped 5", "flipped": "dropped 5", "cut": "dropped 5", "emptied": "dropped 5", "zeroed": "dropped 5", "retimed": "dropped 5",
		"unhashed": "chained 5", "dropped": "missing 5", "range dropped": "missing 5-8", "torn": "missing 5-", "closed up": "missing 5",
		"swapped": "moved 5", "doubled": "dropped", "moved": "moved", "foreign": "dropped 5", "start gone": "began 0", "outcomes gone": "unknown 0",
		"backwards": "moved 5",
	} {
		t.Run(name, func(t *testing.T) {
			g := rig{t, filepath.Join(t.TempDir(), "s.db")}
			s := g.open()
			var original []sessiondb.Raw
			for seed := uint64(1); len(original) < 12; seed++ {
				id := session.ID("one")
				if seed > 1 {
					t.Fatal("choose another seed")
				}
				original = written(t, s, id, rand.New(rand.NewPCG(5, seed)))
			}
			written(t, s, "two", rand.New(rand.NewPCG(2, 2)))
			s.Close()
			g.edit(damages(5, 8, len(original))[name])
			s = g.open()
			raw, err := s.Raw(t.Context(), "one")
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			var found []string
			for _, f := range repair.Examine(raw).Findings {
				line := fmt.Sprintf("%s %d", f.Kind, f.Seq)
				if f.Last > f.Seq {
					line += fmt.Sprintf("-%d", f.Last)
				}
				found = append(found, line)
			}
			if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, want) }) {
				t.Errorf("found %v, want %s", found, want)
			}
			g.mended(original, all)
		})
	}
}

// TestATextThatIsGoneIsNamed: large texts are stored apart from the entries that name them.
func TestATextThatIsGoneIsNamed(t *testing.T) {
	g := rig{t, filepath.Join(t.TempDir(), "s.db")}
	s := g.open()
	long := session.Message{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: strings.Repeat("a long story ", 2000)}}}
	raw, err := json.Marshal(long)
	if err == nil {
		err = s.Append(t.Context(), "one", session.Entry{Type: session.StartEntry, Data: []byte(`{"version":"test"}`)}, session.Entry{Type: session.MessageEntry, Data: raw})
	}
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	g.edit("DELETE FROM texts")
	s = g.open()
	defer s.Close()
	report, err := repair.Repair(t.Context(), s, "one", time.Now())
	if err != nil || report.Sound() || report.Findings[0].Kind != repair.Textless || report.Findings[0].Seq != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	if n, err := s.Verify(t.Context(), report.Repaired); n != 2 || err != nil {
		t.Errorf("the repaired one has %d sound entries, %v", n, err)
	}
}

// TestASoundSessionIsLeftAlone: there is nothing to repair, and nothing is written.
func TestASoundSessionIsLeftAlone(t *testing.T) {
	g := rig{t, filepath.Join(t.TempDir(), "s.db")}
	s := g.open()
	defer s.Close()
	talk := session.New(config(t, s, "one", &author{Rand: rand.New(rand.NewPCG(1, 1)), over: 1}))
	talk.Prompt(t.Context(), session.Input{Text: "hi"})
	report, err := repair.Repair(t.Context(), s, "one", time.Now())
	if err != nil || report.Repaired != "" || !report.Sound() || report.Kept == 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if heads, err := s.List(t.Context()); err != nil || len(heads) != 1 {
		t.Errorf("%d sessions, %v", len(heads), err)
	}
	if _, err := repair.Repair(t.Context(), s, "nobody", time.Now()); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("of nobody: %v", err)
	}
}
