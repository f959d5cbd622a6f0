package search

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"adze/internal/files/search/match"
	"adze/internal/testkit/effort"
)

// memoryBar is what a search may take over what the process had before, in bytes.
const memoryBar = 32 << 20

// measured is one question and what it took.
type measured struct {
	Name     string
	Over     int64 // bytes resident at the most, over those before
	Matching int
	Problem  string
}

// TestMemoryOfSearches asks a process of its own about trees that tempt to hold much, and looks at
// the most it had resident: a file of one line of 12 MB (when long, 1 GB),
// 3,000 empty files (when long, a million), files that grow and folders that come and go
// meanwhile, and what may not be read.
func TestMemoryOfSearches(t *testing.T) {
	if race() {
		t.Skip("the race detector's own memory would be counted")
	}
	root := t.TempDir()
	giant(t, filepath.Join(root, "giant"), effort.Rounds(12<<20, 12<<20, 1<<30))
	must(t, os.MkdirAll(root+"/tree/many", 0o755))
	for i := range effort.Rounds(3_000, 3_000, 1_000_000) {
		must(t, os.WriteFile(fmt.Sprintf("%s/tree/many/file%d", root, i), nil, 0o644))
	}
	for i := range 8 {
		must(t, os.MkdirAll(fmt.Sprintf("%s/tree/stays%d", root, i), 0o755))
		must(t, os.WriteFile(fmt.Sprintf("%s/tree/stays%d/file", root, i), []byte("needle\n"), 0o644))
	}
	must(t, os.MkdirAll(root+"/tree/closed/below", 0o755))
	must(t, os.Chmod(root+"/tree/closed", 0))
	t.Cleanup(func() { _ = os.Chmod(root+"/tree/closed", 0o755) })
	cmd := exec.Command(os.Args[0], "-test.run=^TestSearchesOfAnotherProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "ADZE_SEARCH_CHILD="+root)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := 0
	for line := range bytes.Lines(out) {
		text, ok := bytes.CutPrefix(line, []byte("measured "))
		if !ok {
			continue
		}
		var m measured
		must(t, json.Unmarshal(text, &m))
		n++
		t.Logf("%-45s %5.1f MiB, %d files match", m.Name, float64(m.Over)/(1<<20), m.Matching)
		if m.Over > memoryBar || m.Problem != "" {
			t.Errorf("%s: %d MiB over idle %s", m.Name, m.Over>>20, m.Problem)
		}
	}
	if n < 18 {
		t.Errorf("%d questions were measured:\n%s", n, out)
	}
}

// giant writes a file of one line without an end, with a needle before its last bytes.
func giant(t *testing.T, path string, size int) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	block := bytes.Repeat([]byte("some words of a line, (again) und Größe 123 "), 24_000)
	for at := 0; at < size; at += len(block) {
		_, err = f.Write(block[:min(len(block), size-at)])
		must(t, err)
	}
	_, err = f.WriteString(" needle_1 END")
	must(t, err)
}

// giantQueries are of each kind, with whether the giant line matches.
func giantQueries() map[match.Query]int {
	return map[match.Query]int{
		query("needle"): 1, query("nothing"): 0, {Pattern: "NEEDLE", IgnoreCase: true}: 1, query(`[a-z]+_\d`): 1, query("^some.*END$"): 1, query("^END"): 0,
		query(`\w{20,}`): 0, query("needle|thread"): 1, query(`\bneedle_1\b`): 1, {Pattern: "END", Word: true}: 1, query("Größe$"): 0, query("."): 1,
		{Pattern: "needle", Multiline: true}: 1, {Pattern: "END$", Multiline: true}: 1, {Pattern: "needle_1 END", Literal: true}: 1, query(`[^\x00-\x7f]\d`): 0,
	}
}

// TestSearchesOfAnotherProcess is that process.
func TestSearchesOfAnotherProcess(t *testing.T) {
	root := os.Getenv("ADZE_SEARCH_CHILD")
	if root == "" {
		t.Skip("started by TestMemoryOfSearches")
	}
	for q, want := range giantQueries() {
		ask(t, Tree{Root: root}, GrepQuery{Query: q, Before: 1, After: 1, Width: 500, Limit: 100, Include: []string{"giant"}}, want)
	}
	tr := Tree{Root: root + "/tree"}
	ask(t, tr, GrepQuery{Query: query("needle"), Limit: 100}, 8)
	ctx, cancel := context.WithCancel(context.Background())
	var busy sync.WaitGroup
	busy.Go(func() { disturb(ctx, tr.Root) })
	for range 3 {
		ask(t, tr, GrepQuery{Query: query("needle"), Limit: 100, Include: []string{"stays*/file", "many/**"}}, 8)
	}
	cancel()
	busy.Wait()
}

// disturb lets files grow and folders come and go.
func disturb(ctx context.Context, root string) {
	grown := 0
	for i := 0; ctx.Err() == nil; i++ {
		dir := fmt.Sprintf("%s/stays%d/comes/and/goes", root, i%8)
		_ = os.MkdirAll(dir, 0o755)
		_ = os.WriteFile(dir+"/file", []byte("needle"), 0o644)
		if grown < 1<<26 {
			if f, err := os.OpenFile(root+"/grows", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
				n, _ := f.WriteString(strings.Repeat("words ", 4_000))
				grown += n
				_ = f.Close()
			}
		}
		_ = os.RemoveAll(fmt.Sprintf("%s/stays%d/comes", root, i%8))
	}
}

// ask searches and prints what that took.
func ask(t *testing.T, tr Tree, q GrepQuery, want int) {
	debug.FreeOSMemory()
	before := status(t, "VmRSS:")
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the most that was resident begins anew, where that may be asked for
	r, err := tr.Grep(context.Background(), q)
	m := measured{Name: fmt.Sprintf("%s %s %q", filepath.Base(tr.Root), q.Mode, q.Pattern), Over: status(t, "VmHWM:") - before, Matching: r.Matching}
	if err != nil || r.Matching != want || r.TooLarge.Count > 0 {
		m.Problem = fmt.Sprintf("%d files match, want %d; %v", r.Matching, want, err)
	}
	text, err := json.Marshal(m)
	must(t, err)
	fmt.Printf("measured %s\n", text)
}

// status is a field of this process in bytes.
func status(t *testing.T, field string) int64 {
	text, err := os.ReadFile("/proc/self/status")
	must(t, err)
	_, rest, _ := strings.Cut(string(text), field)
	words := strings.Fields(rest)
	kb, err := strconv.ParseInt(words[0], 10, 64)
	must(t, err)
	return kb << 10
}

// race reports that this was built with the race detector.
func race() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" {
			return s.Value == "true"
		}
	}
	return false
}
