package wire_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"adze/internal/llm/wire"
)

// noon is a moment that does not pass.
func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func TestFindingsAreForOneModelAtOneServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "refusals.json")
	wire.NewFindings(path, noon).Keep("https://me:secret@one.example/v1?key=secret", "m", "bound", 8192)
	next := wire.NewFindings(path, noon)
	var most int
	if !next.Get("https://one.example/v1", "m", "bound", &most) || most != 8192 {
		t.Errorf("got %d", most)
	}
	for _, of := range [][3]string{{"https://two.example/v1", "m", "bound"}, {"https://one.example/v1", "n", "bound"}, {"https://one.example/v1", "m", "tools"}} {
		if next.Get(of[0], of[1], of[2], &most) {
			t.Errorf("%q is known", of)
		}
	}
	if raw, err := os.ReadFile(path); err != nil || strings.Contains(string(raw), "secret") {
		t.Errorf("%v: %s", err, raw)
	}
	next.Forget("https://one.example/v1", "m")
	if wire.NewFindings(path, noon).Get("https://one.example/v1", "m", "bound", &most) {
		t.Error("it is not forgotten")
	}
}

// A damaged file counts as empty, and is whole after the next finding.
func TestADamagedFileOfFindingsIsWrittenAnew(t *testing.T) {
	t.Parallel()
	for _, damaged := range []string{"", "{", "[]", "null", `{"bound of m at u":3}`, `{"bound of m at u":{"since":"2026-05-01T12:00:00Z","says":{"a":1}}}`, "\x00\xff", strings.Repeat("[", 1<<20)} {
		path := filepath.Join(t.TempDir(), "refusals.json")
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		f, most := wire.NewFindings(path, noon), 0
		if f.Get("u", "m", "bound", &most) {
			t.Errorf("%.40q says %d", damaged, most)
		}
		f.Keep("u", "n", "bound", 5)
		if !wire.NewFindings(path, noon).Get("u", "n", "bound", &most) || most != 5 {
			t.Errorf("%.40q stays", damaged)
		}
	}
}

func TestFindingsAreBoundedInNumberSizeAndAge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "refusals.json")
	at := noon()
	f := wire.NewFindings(path, func() time.Time { at = at.Add(time.Minute); return at })
	for i := range 230 {
		f.Keep("u", fmt.Sprint("m", i), "bound", i)
	}
	f.Keep("u", "large", "bound", strings.Repeat("x", 1<<20))
	has := func(model string, days int) bool {
		var any any
		return wire.NewFindings(path, func() time.Time { return noon().AddDate(0, 0, days) }).Get("u", model, "bound", &any)
	}
	for model, want := range map[string]bool{"m0": false, "m29": false, "m30": true, "m229": true, "large": false} {
		if has(model, 1) != want {
			t.Errorf("%s is known: %v", model, !want)
		}
	}
	if has("m229", 31) || has("m229", -2) {
		t.Error("a finding of another month counts")
	}
}

// Processes that learn at once lose nothing of each other.
func TestFindingsOfManyProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "refusals.json")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() { wire.NewFindings(path, noon).Keep("u", fmt.Sprint(i), "bound", i) })
	}
	all.Wait()
	for i := range 24 {
		if most := -1; !wire.NewFindings(path, noon).Get("u", fmt.Sprint(i), "bound", &most) || most != i {
			t.Errorf("%d is lost", i)
		}
	}
}

func TestNoFindings(t *testing.T) {
	t.Parallel()
	var none *wire.Findings
	none.Keep("u", "m", "bound", 1)
	none.Forget("u", "m")
	if none.Get("u", "m", "bound", new(int)) {
		t.Error("nothing is known")
	}
}
