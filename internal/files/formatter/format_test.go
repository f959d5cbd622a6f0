package formatter_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"adze/internal/files/formatter"
)

func formatters(t *testing.T, script string) *formatter.Formatters {
	t.Helper()
	return &formatter.Formatters{Dir: t.TempDir(), Env: os.Environ(), Time: 2 * time.Minute,
		All: []formatter.Formatter{{Name: "tidy", Files: []string{".x"}, Command: []string{"sh", "-c", script, "tidy", "{file}"}}}}
}

func TestATextIsRewritten(t *testing.T) {
	f := formatters(t, `echo "// $1"; tr a-z A-Z`)
	got, name, err := f.Format(t.Context(), "/w/a.X", "one\n")
	if got != "// /w/a.X\nONE\n" || name != "tidy" || err != nil {
		t.Errorf("%q %q %v", got, name, err)
	}
	big := strings.Repeat("line of text\n", 100_000)
	if got, _, err := f.Format(t.Context(), "a.x", big); err != nil || len(got) != len(big)+len("// a.x\n") {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for _, path := range []string{"a.y", "x", ""} {
		if got, name, err := f.Format(t.Context(), path, "one"); got != "one" || name != "" || err != nil {
			t.Errorf("%s: %q %q %v", path, got, name, err)
		}
	}
	var none *formatter.Formatters
	if _, name, _ := none.Format(t.Context(), "a.x", "one"); name != "" {
		t.Error("nobody has formatted")
	}
}

// TestWhatFailsLeavesTheText: whatever a formatter does, the text stays, and why is said.
func TestWhatFailsLeavesTheText(t *testing.T) {
	for script, says := range map[string]string{
		`cat; echo "line 3: oops" >&2; exit 2`: "exit code 2: line 3: oops",
		`true`:                                 "wrote nothing",
		`yes | head -c 9000000`:                "limit",
		`kill -9 $$`:                           "exit code -1",
	} {
		got, name, err := formatters(t, script).Format(t.Context(), "a.x", "one\n")
		if got != "one\n" || name != "tidy" || err == nil {
			t.Errorf("%s: %q %q %v", script, got, name, err)
		} else if !strings.Contains(err.Error(), says) && says != "limit" {
			t.Errorf("%s: %v", script, err)
		}
	}
	f := formatters(t, `while :; do sleep 1000; done`)
	f.Time = 100 * time.Millisecond
	if _, _, err := f.Format(t.Context(), "a.x", "one"); err == nil || !strings.Contains(err.Error(), "did not end within") {
		t.Errorf("err %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, _, err := formatters(t, `cat`).Format(ctx, "a.x", "one"); got != "one" || err == nil {
		t.Errorf("%q %v", got, err)
	}
}
