package sessiondb_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sessiondb"
	"adze/session"
)

func BenchmarkAppend(b *testing.B) {
	s := mustOpen(b, filepath.Join(b.TempDir(), "s.db"))
	e := session.Entry{Type: session.MessageEntry, Time: storeClock(1), Data: []byte(`{"text":"` + strings.Repeat("word ", 100) + `"}`)}
	for b.Loop() {
		if err := s.Append(b.Context(), "one", e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpenFirstAppend is what a run pays before its first request.
func BenchmarkOpenFirstAppend(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.db")
	fill(b, mustOpen(b, path), "kept open by another process", 1)
	n := 0
	for b.Loop() {
		s, err := sessiondb.Open(b.Context(), path, sessiondb.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n++
		if err := s.Append(b.Context(), session.ID(fmt.Sprint(n)), storeEntry(1)); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

// BenchmarkWholeLife opens, appends four entries and closes, as a run with one prompt does.
func BenchmarkWholeLife(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.db")
	n := 0
	for b.Loop() {
		s, err := sessiondb.Open(b.Context(), path, sessiondb.Options{})
		if err != nil {
			b.Fatal(err)
		}
		n++
		fill(b, s, session.ID(fmt.Sprint(n)), 4)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenList10000(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.db")
	s := mustOpen(b, path)
	start := session.Entry{Type: session.StartEntry, Data: []byte(`{"cwd":"/home/a/project","system":"` + strings.Repeat("be good ", 1000) + `"}`)}
	for i := range 10_000 {
		if err := s.Append(b.Context(), session.ID(fmt.Sprint(i)), start, storeEntry(i), storeEntry(i+1)); err != nil {
			b.Fatal(err)
		}
	}
	s.Close()
	for b.Loop() {
		s, err := sessiondb.Open(b.Context(), path, sessiondb.Options{})
		if err != nil {
			b.Fatal(err)
		}
		heads, err := s.List(b.Context())
		if err != nil || len(heads) != 10_000 {
			b.Fatal(len(heads), err)
		}
		s.Close()
	}
}

// BenchmarkLoadRepeatedOutputs loads a session with 200 outputs of 40 kB, of which 20 differ;
// bytes/file is what it takes on the disk.
func BenchmarkLoadRepeatedOutputs(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.db")
	s := mustOpen(b, path)
	for n := range 200 {
		if err := s.Append(b.Context(), "one", entryOf(n, map[string]any{"n": n, "output": output(n%20, 40_000)})); err != nil {
			b.Fatal(err)
		}
	}
	used, _, err := s.Owner().Size(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Load(b.Context(), "one"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(used), "bytes/file")
}
