package textedit_test

import (
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"adze/internal/files/textedit"
	"adze/internal/testkit/effort"
)

// TestExactEditsOfHistoryAreApplied makes edits of what this repository's own commits changed,
// copied exactly, with up to two lines of context: none is refused. It runs with the long run of
// disturbed edits, because every commit changes what it reads.
func TestExactEditsOfHistoryAreApplied(t *testing.T) {
	effort.Needs(t, effort.Long, "every commit changes what it reads")
	git := func(args ...string) string {
		out, err := exec.Command("git", append([]string{"-C", "../../.."}, args...)...).Output()
		if err != nil {
			t.Skipf("git %s: %v", args[0], err)
		}
		return string(out)
	}
	hunk := regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	var made, refused [3]int // by lines of context
	for _, commit := range strings.Fields(git("log", "--no-merges", "--format=%H", "-n", "60")) {
		for _, path := range strings.Fields(git("diff", "--name-only", "--diff-filter=M", commit+"^", commit)) {
			before, after := git("show", commit+"^:"+path), git("show", commit+":"+path)
			a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
			for _, line := range strings.Split(git("diff", "-U0", commit+"^", commit, "--", path), "\n") {
				m := hunk.FindStringSubmatch(line)
				if m == nil {
					continue
				}
				at, n := position(m[1], m[2])
				to, k := position(m[3], m[4])
				for context := range 3 {
					if at-context < 0 || at+n+context > len(a) || to-context < 0 || to+k+context > len(b) {
						continue
					}
					old := strings.TrimSuffix(strings.Join(a[at-context:at+n+context], ""), "\n")
					next := strings.TrimSuffix(strings.Join(b[to-context:to+k+context], ""), "\n")
					if strings.TrimSpace(old) == "" || strings.Count(before, old) != 1 || old == next {
						continue
					}
					made[context]++
					spans, err := textedit.Match(textedit.Source{Text: before}, []textedit.Edit{{Old: old, New: next}})
					if err != nil {
						refused[context]++
						if refused[context] <= 25 {
							t.Logf("%d %s %s: %v\n--- old\n%s\n--- new\n%s", context, commit[:8], path, err, old, next)
						}
						continue
					}
					if got := textedit.Apply(before, spans); got != strings.Replace(before, old, next, 1) {
						t.Errorf("%s %s: another text came out for\n%s", commit[:8], path, old)
					}
				}
			}
		}
	}
	t.Logf("%v exact edits, %v refused, by lines of context", made, refused)
	all := made[0] + made[1] + made[2]
	if n := refused[0] + refused[1] + refused[2]; n > 0 {
		t.Errorf("%d of %d exact edits were refused", n, all)
	}
}

// position is where lines of a hunk begin, from 0, and how many they are.
func position(at, n string) (int, int) {
	first, _ := strconv.Atoi(at)
	count := 1
	if n != "" {
		count, _ = strconv.Atoi(n)
	}
	if count == 0 { // the line before
		return first, 0
	}
	return first - 1, count
}
