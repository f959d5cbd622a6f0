package sessiondb_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"adze/internal/sessiondb"
	"adze/session"
)

// found scans and lists "session seq type data".
func found(t *testing.T, s *sessiondb.Store, scan sessiondb.Scan) []string {
	t.Helper()
	var out []string
	err := s.ScanEach(t.Context(), scan, func(f sessiondb.ScanResult) error {
		out = append(out, fmt.Sprintf("%s %d %s %s", f.Session, f.Seq, f.Entry.Type, f.Entry.Data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func typed(kind session.EntryType, data string) session.Entry {
	return session.Entry{Type: kind, Time: storeClock(1), Data: []byte(data)}
}

func scannable(t *testing.T) (*sessiondb.Store, string) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	for _, a := range []struct {
		id session.ID
		e  session.Entry
	}{
		{"b", typed("start", `{"cwd":"/w"}`)},
		{"a", typed("outcome", `{"tool":"read","record":{"message":"m1"},"duration_ns":5}`)},
		{"b", typed("outcome", `{"tool":"bash \u00fc"}`)},
		{"b", typed("end", `{"cause":"done"}`)},
	} {
		if err := s.Append(t.Context(), a.id, a.e); err != nil {
			t.Fatal(err)
		}
	}
	return s, path
}

func TestEachStreamsWhatIsLookedFor(t *testing.T) {
	s, path := scannable(t)
	for _, c := range []struct {
		name string
		scan sessiondb.Scan
		want []string
	}{
		{"all", sessiondb.Scan{}, []string{
			`b 1 start {"cwd":"/w"}`, `b 2 outcome {"tool":"bash \u00fc"}`, `b 3 end {"cause":"done"}`,
			`a 1 outcome {"tool":"read","record":{"message":"m1"},"duration_ns":5}`}},
		{"one session", sessiondb.Scan{Session: "a"}, []string{`a 1 outcome {"tool":"read","record":{"message":"m1"},"duration_ns":5}`}},
		{"picked values", sessiondb.Scan{Types: []session.EntryType{"outcome"}, Paths: []string{"$.tool", "$.record.message", "$.duration_ns"}},
			[]string{`b 2 outcome ["bash \u00fc",null,null]`, `a 1 outcome ["read","m1",5]`}},
		{"one picked value", sessiondb.Scan{Types: []session.EntryType{"end"}, Paths: []string{"$.cause"}}, []string{`b 3 end ["done","done"]`}},
		{"two types", sessiondb.Scan{Session: "b", Types: []session.EntryType{"end", "start"}}, []string{`b 1 start {"cwd":"/w"}`, `b 3 end {"cause":"done"}`}},
		{"a type that is not there", sessiondb.Scan{Session: "a", Types: []session.EntryType{"end"}}, nil},
	} {
		if d := cmp.Diff(c.want, found(t, s, c.scan)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
	if err := s.ScanEach(t.Context(), sessiondb.Scan{Session: "none"}, nil); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
	stop := errors.New("enough")
	if err := s.ScanEach(t.Context(), sessiondb.Scan{}, func(sessiondb.ScanResult) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of the callback: %v", err)
	}
	s.Close()
	edit(t, path, unguard+"UPDATE entries SET data = '{\"tool' WHERE type = 'outcome' AND session = 1")
	s = mustOpen(t, path)
	got := found(t, s, sessiondb.Scan{Types: []session.EntryType{"outcome"}, Paths: []string{"$.tool"}})
	if d := cmp.Diff([]string{"b 2 outcome ", `a 1 outcome ["read","read"]`}, got); d != "" {
		t.Errorf("a damaged entry (-want +got):\n%s", d)
	}
}

// An owner can rewrite a chain so that it fits itself, but not so that it fits an anchor kept
// elsewhere.
func TestAnAnchorShowsARewrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	s := mustOpen(t, path)
	fill(t, s, "one", 4)
	anchor, err := s.Anchor(t.Context(), "one")
	if err != nil || anchor.Seq != 4 || len(anchor.Hash) != 64 {
		t.Fatalf("anchor %v, %v", anchor, err)
	}
	fill(t, s, "one", 2)
	if n, err := s.Check(t.Context(), "one", anchor); n != 6 || err != nil {
		t.Errorf("a longer log: %d, %v", n, err)
	}
	var bad *sessiondb.BadRow
	if _, err := s.Check(t.Context(), "one", sessiondb.Anchor{Seq: 7, Hash: anchor.Hash}); !errors.As(err, &bad) || bad.Seq != 7 {
		t.Errorf("a log cut in front of its anchor: %v", err)
	}
	if _, err := s.Anchor(t.Context(), "two"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("unknown session: %v", err)
	}
	s.Close()

	rewritten := filepath.Join(t.TempDir(), "s.db")
	s = mustOpen(t, rewritten)
	fill(t, s, "one", 3)
	if err := s.Append(t.Context(), "one", typed("message", `{"text":"never said"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Verify(t.Context(), "one"); err != nil {
		t.Fatalf("the rewritten chain fits itself, but: %v", err)
	}
	if _, err := s.Check(t.Context(), "one", anchor); !errors.As(err, &bad) || bad.Seq != 4 || !strings.Contains(bad.Reason, "anchor") {
		t.Errorf("a rewritten log: %v", err)
	}
}

// BenchmarkScan is the price of telemetry: one entry in four is an outcome of 2 kB.
func BenchmarkScan(b *testing.B) {
	s := mustOpen(b, filepath.Join(b.TempDir(), "s.db"))
	outcome := typed("outcome", `{"tool":"bash","status":"completed","output":"`+strings.Repeat("word ", 400)+`","duration_ns":7,"record":{"message":"m1"}}`)
	var log []session.Entry
	for range 5_000 {
		log = append(log, typed("message", `{"role":"user"}`), typed("intent", `{"call":"c"}`), outcome, typed("end", `{}`))
	}
	if err := s.Append(b.Context(), "one", log...); err != nil {
		b.Fatal(err)
	}
	scan := sessiondb.Scan{Types: []session.EntryType{"outcome"}, Paths: []string{"$.tool", "$.status", "$.duration_ns", "$.record.message"}}
	for b.Loop() {
		if err := s.ScanEach(b.Context(), scan, func(sessiondb.ScanResult) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(log)), "µs/entry")
}
