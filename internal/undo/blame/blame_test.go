package blame_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"adze/internal/files/diff"
	"adze/internal/undo/blame"
)

// person owns what no call wrote.
const person = -1

// replay is a file that is written to, and who wrote each of its lines.
type replay struct {
	lines   []string
	owners  []int
	changes []blame.Change
	kept    map[string]string
}

func (r *replay) text() string { return strings.Join(r.lines, "") }

func hash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// put makes the file other lines. What differs is the owner's, as the unified difference has it,
// which is followed line by line.
func (r *replay) put(next []string, owner int) string {
	d := diff.Unified(diff.Side{Name: "f", Text: r.text()}, diff.Side{Name: "f", Text: strings.Join(next, "")}).Text
	var owners []int
	old := 0
	for line := range strings.SplitSeq(strings.TrimSuffix(d, "\n"), "\n") {
		var from, to string
		if n, _ := fmt.Sscanf(line, "@@ -%s +%s @@", &from, &to); n == 2 {
			var at, size int
			if n, _ := fmt.Sscanf(from, "%d,%d", &at, &size); n < 2 || size > 0 {
				at--
			}
			owners = append(owners, r.owners[old:at]...)
			old = at
			continue
		}
		switch {
		case line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++"):
		case line[0] == '+':
			owners = append(owners, owner)
		case line[0] == '-':
			old++
		case line[0] == ' ':
			owners = append(owners, r.owners[old])
			old++
		}
	}
	r.lines, r.owners = next, append(owners, r.owners[old:]...)
	return d
}

// edited changes some places of a file.
func (r *replay) edited(rng *rand.Rand, word func() string) []string {
	next := slices.Clone(r.lines)
	for range 1 + rng.IntN(3) {
		at := rng.IntN(len(next) + 1)
		end := min(len(next), at+rng.IntN(4))
		var fresh []string
		for range rng.IntN(4) {
			fresh = append(fresh, word())
		}
		next = slices.Replace(next, at, end, fresh...)
	}
	return next
}

// call changes the file as a tool does, or, when its difference is not kept, as a command.
func (r *replay) call(next []string, command bool) {
	before := r.text()
	c := blame.Change{Call: "c", Created: len(r.lines) == 0 && len(r.changes) == 0}
	c.Diff = r.put(next, len(r.changes))
	if c.Diff == "" {
		return
	}
	if command {
		c.Diff, c.Before, c.After = "", hash(before), hash(r.text())
		r.kept[c.Before], r.kept[c.After] = before, r.text()
	}
	r.changes = append(r.changes, c)
}

func (r *replay) check(t *testing.T, name string) {
	t.Helper()
	kept := func(sum string) (string, bool) { text, ok := r.kept[sum]; return text, ok }
	got := blame.Lines(r.text(), hash(r.text()), r.changes, kept)
	if len(got) != len(r.lines) {
		t.Fatalf("%s: %d lines, want %d", name, len(got), len(r.lines))
	}
	for i, l := range got {
		if l.ChangeIndex != r.owners[i] {
			t.Fatalf("%s: line %d %q is of %d, want %d\n%s", name, i+1, r.lines[i], l.ChangeIndex, r.owners[i], r.text())
		}
	}
}

// Whatever calls do to a file, each line is of the one that a replay of all of them says, however
// alike lines are; and also when a user changes other lines in between, as long as lines are told
// apart.
func TestLinesAreThoseOfAReplay(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for round := range 1500 {
		r := &replay{kept: map[string]string{}}
		n := 0
		word := func() string { n++; return fmt.Sprintf("line %d\n", n) }
		alike := round%2 == 0
		if alike {
			word = func() string { return fmt.Sprintf("%d\n", rng.IntN(5)) }
		}
		if rng.IntN(2) == 0 { // the file was there before
			r.put([]string{word(), word(), word(), word(), word(), word()}, person)
		}
		for range rng.IntN(12) {
			next := r.edited(rng, word)
			if !alike && rng.IntN(3) == 0 {
				r.put(next, person)
				continue
			}
			r.call(next, !alike && rng.IntN(3) == 0)
		}
		r.check(t, fmt.Sprint("round ", round))
	}
}

func TestWhatIsNotKnownIsSaidSo(t *testing.T) {
	text := "a\nb\nc\n"
	long := blame.Change{Diff: "--- /dev/null\n+++ b/f\n@@ -0,0 +1,3 @@\n+a\n\\ 2 more lines are not shown\n", Created: true}
	blind := blame.Change{Command: "make", Before: hash("x"), After: hash("y")}
	made := blame.Change{Command: "make", Created: true, After: hash(text)}
	for name, c := range map[string]struct {
		changes []blame.Change
		want    string
	}{
		"nobody":                        {nil, "[{-1 []} {-1 []} {-1 []}]"},
		"a difference that was cut":     {[]blame.Change{long}, "[{0 []} {-1 [0]} {-1 [0]}]"},
		"a command of unknown effect":   {[]blame.Change{long, blind}, "[{0 []} {-1 [0]} {-1 [0]}]"},
		"only that command":             {[]blame.Change{blind}, "[{-1 [0]} {-1 [0]} {-1 [0]}]"},
		"a command that made the file":  {[]blame.Change{blind, made}, "[{1 []} {1 []} {1 []}]"},
		"a difference that is rubbish":  {[]blame.Change{{Diff: "@@ -9,9 +9,9 @@\n+zzz\n-a\n@@ -1 +x @@\n"}}, "[{-1 []} {-1 []} {-1 []}]"},
		"a call elsewhere":              {[]blame.Change{{OtherWorktree: true, Diff: "--- a/f\n+++ b/f\n@@ -1,1 +1,2 @@\n a\n+b\n"}}, "[{-1 []} {0 []} {-1 []}]"},
		"a part of a call elsewhere":    {[]blame.Change{{OtherWorktree: true, Diff: "--- a/f\n+++ b/f\n@@ -1,1 +1,3 @@\n a\n+B\n+c\n"}}, "[{-1 []} {-1 []} {-1 []}]"},
		"a command elsewhere":           {[]blame.Change{{OtherWorktree: true, Command: "make", Created: true, After: hash(text)}}, "[{-1 []} {-1 []} {-1 []}]"},
		"a line that was changed since": {[]blame.Change{{Diff: "--- a/f\n+++ b/f\n@@ -1,1 +1,3 @@\n a\n+B\n+c\n"}}, "[{-1 []} {-1 []} {0 []}]"},
	} {
		if got := fmt.Sprint(blame.Lines(text, hash(text), c.changes, nil)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
