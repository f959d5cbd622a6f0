package prompt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTheBestFitComesFirst(t *testing.T) {
	c := newCandidates([]string{
		"internal/session/session_test.go", "session/session.go", "docs/sessions.md", "tui/screen_test.go", "SESSION.txt", "cmd/süß.go",
		"tui/status.go", "a/very/long/way/to/session.go",
	})
	for query, want := range map[string][]string{
		"session.go":  {"session/session.go", "a/very/long/way/to/session.go"},
		"sess":        {"SESSION.txt", "docs/sessions.md"},
		"tui/st":      {"tui/status.go"},
		"scrt":        {"tui/screen_test.go"},
		"SÜ":          {"cmd/süß.go"},
		"xyz":         {},
		"doc":         {"docs/sessions.md"},
		"session/ses": {"session/session.go", "internal/session/session_test.go"},
	} {
		got := c.best(query, max(len(want), 1), pathRanking{})
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	if got := c.best("", 2, pathRanking{}); got[0] != "SESSION.txt" {
		t.Errorf("nothing written finds %q, want what is on top", got)
	}
}

// TestTheFastPathFindsWhatTheSlowOneFinds: the mask and the bounded list leave nothing out.
func TestTheFastPathFindsWhatTheSlowOneFinds(t *testing.T) {
	paths := manyPaths(5000)
	c := newCandidates(paths)
	for _, query := range []string{"m1", "pkg12", "fil9.go", "handler_t", "zz", "3/4", "K7"} {
		type hit struct {
			path  string
			score int
		}
		var all []hit
		for _, p := range paths {
			if s := fit(strings.ToLower(p), strings.ToLower(query)); s > 0 {
				all = append(all, hit{p, s})
			}
		}
		slices.SortStableFunc(all, func(a, b hit) int { return b.score - a.score })
		got := c.best(query, menuRows, pathRanking{})
		if len(got) != min(len(all), menuRows) {
			t.Fatalf("%q finds %d, want %d", query, len(got), min(len(all), menuRows))
		}
		for i, path := range got {
			if path != all[i].path {
				t.Errorf("%q: place %d is %s, want %s", query, i, path, all[i].path)
			}
		}
	}
}

func manyPaths(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("module%d/pkg%d/internal/Handler_test_file%d.go", i%17, i%301, i))
	}
	return out
}

// BenchmarkComplete is one key in a completion of 50,000 files; it has to fit into a frame (16 ms).
func BenchmarkComplete(b *testing.B) {
	c := newCandidates(manyPaths(50_000))
	for _, query := range []string{"h", "handler", "hdlrtf99", "zzz"} {
		b.Run(query, func(b *testing.B) {
			for b.Loop() {
				c.best(query, menuRows, pathRanking{})
			}
		})
	}
}
