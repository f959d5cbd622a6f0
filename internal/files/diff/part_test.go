package diff

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Leaving hunks out gives what git makes of the printed diff without them.
func TestWithoutIsWhatGitAppliesOfTheRest(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		from, to := texts(r)
		whole := Unified(Side{Name: "f", Text: from}, Side{Name: "f", Text: to})
		parts := strings.Split(whole.Text, "\n@@ ")
		if len(parts) < 2 {
			continue
		}
		var left []int
		patch := parts[0] + "\n"
		for i, hunk := range parts[1:] {
			if r.IntN(2) == 0 {
				left = append(left, i+1)
				continue
			}
			patch += "@@ " + strings.TrimSuffix(hunk, "\n") + "\n"
		}
		got, kept, err := ApplyExcept(from, to, left)
		if err != nil || kept != len(parts)-1-len(left) {
			t.Fatalf("seed %d: kept %d of %d, %v", seed, kept, len(parts)-1, err)
		}
		if want := applied(t, from, patch, kept); got != want {
			t.Fatalf("seed %d without %v:\n%q\nwant\n%q", seed, left, got, want)
		}
	}
	if _, _, err := ApplyExcept("a\n", "b\n", []int{2}); err == nil {
		t.Error("a hunk that is not there can be left out")
	}
}

// texts are two of 80 lines that differ in some places, of which the last may lack its newline.
func texts(r *rand.Rand) (from, to string) {
	var a, b strings.Builder
	for i := range 80 {
		line := strings.Repeat("x", r.IntN(4)) + string(rune('a'+i%7)) + "\n"
		a.WriteString(line)
		switch r.IntN(14) {
		case 0:
		case 1:
			b.WriteString("new\n" + line)
		case 2:
			b.WriteString("other\n")
		default:
			b.WriteString(line)
		}
	}
	from, to = a.String(), b.String()
	if r.IntN(3) == 0 {
		to = strings.TrimSuffix(to, "\n")
	}
	return from, to
}

func applied(t *testing.T, from, patch string, kept int) string {
	t.Helper()
	if kept == 0 {
		return from
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, []byte(from), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "apply", "--unidiff-zero", "--recount", "-")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(patch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s\n%s", err, out, patch)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
