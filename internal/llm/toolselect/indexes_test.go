package toolselect

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"adze/session"
	"adze/tool/rank"
)

// TestAnIndexIsKeptForTheNextRun: the offer is the same with the one that is kept, with one that is
// damaged, and without; other tools have another.
func TestAnIndexIsKeptForTheNextRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not there yet")
	offered := func(names ...string) []string {
		s := New(rank.DefaultScorer(), nil, 0, 2)
		s.Indexes = dir
		s.Fill(joined(t, names...))
		return s.Offerer()(t.Context(), session.Occasion{Prompt: "write the mail"}).Tools
	}
	kept := func() []string {
		all, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := offered("read_file", "write_mail", "send_mail", "tool_search")
	first := kept()
	if len(first) != 1 || !slices.Contains(want, "write_mail") {
		t.Fatalf("%v, %v", first, want)
	}
	info, _ := os.Stat(first[0])
	if got := offered("read_file", "write_mail", "send_mail", "tool_search"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if again, _ := os.Stat(first[0]); !os.SameFile(info, again) {
		t.Error("it was made anew")
	}
	if err := os.WriteFile(first[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := offered("read_file", "write_mail", "send_mail", "tool_search"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if raw, _ := os.ReadFile(first[0]); string(raw) == "damaged" {
		t.Error("it stays damaged")
	}
	for i := range mostIndexes + 2 {
		offered("read_file", "write_mail", "tool_"+strconv.Itoa(i), "tool_search")
	}
	if n := len(kept()); n != mostIndexes {
		t.Errorf("%d are kept", n)
	}
}
