package diff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func randomText(rng *rand.Rand, lines, words int) string {
	var b strings.Builder
	for range rng.IntN(lines + 1) {
		fmt.Fprintf(&b, "%d\n", rng.IntN(words))
	}
	if rng.IntN(3) == 0 {
		b.WriteString("open")
	}
	return b.String()
}

// apply follows the changes, checking that what they leave out is equal.
func apply(t *testing.T, a, b []string, changes []Change) {
	t.Helper()
	x, y := 0, 0
	for _, c := range append(changes, Change{len(a), len(a), len(b), len(b)}) {
		if !slices.Equal(a[x:c.Old0], b[y:c.New0]) {
			t.Fatalf("kept lines differ: %q, %q", a[x:c.Old0], b[y:c.New0])
		}
		x, y = c.Old1, c.New1
	}
}

func size(changes []Change) (n int) {
	for _, c := range changes {
		n += c.Old1 - c.Old0 + c.New1 - c.New0
	}
	return n
}

// shortest is the number of removed and added lines of a smallest difference, by the plain table.
func shortest(a, b []string) int {
	prev := make([]int, len(b)+1)
	for i := range a {
		row := make([]int, len(b)+1)
		for j := range b {
			if a[i] == b[j] {
				row[j+1] = prev[j] + 1
			} else {
				row[j+1] = max(row[j], prev[j+1])
			}
		}
		prev = row
	}
	return len(a) + len(b) - 2*prev[len(b)]
}

func TestCompareIsRightAndSmallest(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		a, b := Lines(randomText(rng, 30, 6)), Lines(randomText(rng, 30, 6))
		changes := Compare(a, b)
		apply(t, a, b, changes)
		if got, want := size(changes), shortest(a, b); got != want {
			t.Fatalf("%q to %q: %d lines, smallest is %d", a, b, got, want)
		}
	}
}

// Where searchLimit cuts the search short, the result must still be right.
func TestCompareIsRightBeyondTheLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var a, b []string
	for range 12_000 {
		a = append(a, fmt.Sprint(rng.IntN(3000)))
		b = append(b, fmt.Sprint(rng.IntN(3000)))
	}
	apply(t, a, b, Compare(a, b))
}

func TestManyEditsStaySmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	var a []string
	for i := range 20_000 {
		a = append(a, fmt.Sprintf("line %d\n", i/3))
	}
	b := slices.Clone(a)
	edits := 2000
	for range edits {
		b[rng.IntN(len(b))] = fmt.Sprintf("new %d\n", rng.IntN(1e9))
	}
	changes := Compare(a, b)
	apply(t, a, b, changes)
	if got := size(changes); got > 2*edits {
		t.Errorf("%d edited lines became %d", edits, got)
	}
}

func TestUnified(t *testing.T) {
	got := Unified(Side{Name: "f.txt", Text: "a\nb\nc\nd\ne\nf\ng\nh"}, Side{Name: "f.txt", Text: "a\nb\nc\nd\nE\nf\ng\nh\n"})
	want := `--- a/f.txt
+++ b/f.txt
@@ -2,7 +2,7 @@
 b
 c
 d
-e
+E
 f
 g
-h
\ No newline at end of file
+h
`
	if got.Text != want || got.Added != 2 || got.Removed != 2 {
		t.Errorf("got %+v", got)
	}
	if d := Unified(Side{Name: "f", Text: "same\n"}, Side{Name: "f", Text: "same\n"}); d != (Diff{}) {
		t.Errorf("got %+v", d)
	}
	if d := Unified(Side{Name: "", Text: ""}, Side{Name: "a b", Text: "x\n"}); d.Text != "--- /dev/null\n+++ b/a b\t\n@@ -0,0 +1 @@\n+x\n" {
		t.Errorf("got %q", d.Text)
	}
}

// Setting the common ends aside changes nothing of the result.
func TestUnifiedOfEndsInCommon(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 3000 {
		a := randomText(rng, 30, 4)
		lines := Lines(a)
		for range rng.IntN(3) {
			if i := rng.IntN(len(lines) + 1); i < len(lines) {
				lines[i] = []string{"", "new\n", lines[i] + "more\n"}[rng.IntN(3)]
			}
		}
		from, to := Side{Name: "f", Text: a}, Side{Name: "f", Text: strings.Join(lines, "")}
		whole := Print(from, to, Compare(Lines(from.Text), Lines(to.Text)))
		if got := Unified(from, to); got.Added != whole.Added || got.Removed != whole.Removed {
			t.Fatalf("%q to %q:\n%s\nwant\n%s", from.Text, to.Text, got.Text, whole.Text)
		}
	}
}

func TestUnifiedOfAPartKeepsTheFilesLineNumbers(t *testing.T) {
	d := Unified(Side{Name: "f", Text: "a\nb\n", Skip: 99}, Side{Name: "f", Text: "a\nc\n", Skip: 99})
	if !strings.Contains(d.Text, "@@ -100,2 +100,2 @@") {
		t.Errorf("got %s", d.Text)
	}
}

func TestGitAppliesIt(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for i := range 25 {
		name := []string{"f.txt", "with space.txt", "tab\there", "quote\".txt", "größe"}[i%5]
		from, to := randomText(rng, 60, 9), randomText(rng, 60, 9)
		if i%3 == 0 {
			to = strings.ReplaceAll(from, "3\n", "3\r\n")
		}
		d := Unified(Side{Name: name, Text: from}, Side{Name: name, Text: to})
		if from == "" || to == "" || d.Text == "" {
			continue
		}
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(from), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(d.Text)
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %v\n%s\n%s", err, out, d.Text)
		}
		if got, _ := os.ReadFile(path); string(got) != to {
			t.Fatalf("git made %q, want %q of\n%s", got, to, d.Text)
		}
	}
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\n", "b\nc")
	f.Add("", "x")
	f.Add("1\n1\n2\n1\n", "1\n2\n1\n1\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		la, lb := Lines(a), Lines(b)
		apply(t, la, lb, Compare(la, lb))
		if d := Unified(Side{Name: "f", Text: a}, Side{Name: "f", Text: b}); (d.Text == "") != (a == b) {
			t.Fatalf("%q, %q: %q", a, b, d.Text)
		}
	})
}

func BenchmarkCompareEdits(b *testing.B) {
	var x []string
	for i := range 20_000 {
		x = append(x, fmt.Sprintf("line %d", i/2))
	}
	y := slices.Clone(x)
	for i := 0; i < len(y); i += 200 {
		y[i] = "changed"
	}
	for b.Loop() {
		Compare(x, y)
	}
}

func BenchmarkCompareShuffled(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	var x []string
	for i := range 20_000 {
		x = append(x, fmt.Sprint(i))
	}
	y := slices.Clone(x)
	rng.Shuffle(len(y), func(i, j int) { y[i], y[j] = y[j], y[i] })
	for b.Loop() {
		Compare(x, y)
	}
}
