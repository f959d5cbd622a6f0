package toolset

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adze/tool"
)

// gitBench is a bench whose workspace is the folder sub of a temporary one, after a script ran
// above it.
func gitBench(t *testing.T, script, sub string) *bench {
	t.Helper()
	needGit(t)
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runSetup(t, top, script)
	return newBench(t, filepath.Join(top, sub))
}

func TestGitDiffCountsExactlyWhatItLeavesOut(t *testing.T) {
	b := gitBench(t, `git init -q w; cd w; git commit -q --allow-empty -m start
		for i in $(seq 1 40); do seq 1 $((i * 5)) > file$(printf %02d $i); done
		head -c 5000 /dev/zero | tr '\0' x > long; git add .`, "w")
	o := b.play(t, "git_diff", `{"staged": true}`).outcome
	// 5 + 10 + … + 200 lines of files, 1 of long; each file has 6 lines of headers, long one more.
	if o.Title != "git diff --staged . +4101 −0 in 41 files" || o.Truncated || len(o.Output) > tool.DefaultBytes {
		t.Errorf("title %q, truncated %v, %d bytes", o.Title, o.Truncated, len(o.Output))
	}
	patch, footer, ok := strings.Cut(o.Output, "\n(41 files changed, +4101 -0; ")
	if !ok {
		t.Fatalf("no totals: …%s", o.Output[max(0, len(o.Output)-300):])
	}
	const whole = 4101 + 41*6 + 1
	shown := strings.Count(patch, "\n") + 1
	if want := fmt.Sprintf("%d of %d lines not shown", whole-shown, whole); !strings.HasPrefix(footer, want) {
		t.Errorf("footer %q, want %s", footer, want)
	}
	begun := strings.Count(patch, "diff --git")
	if want := fmt.Sprintf("not begun: file%02d +%d -0, ", begun+1, (begun+1)*5); !strings.Contains(footer, want) {
		t.Errorf("footer %q, want %s", footer, want)
	}
	o = b.play(t, "git_diff", `{"staged": true, "path": "long"}`).outcome
	if !strings.Contains(o.Output, "x … (4001 bytes more)\n") {
		t.Errorf("a long line: %q", o.Output)
	}
}

func TestGitInASubfolderSeesOnlyThat(t *testing.T) {
	b := gitBench(t, `git init -q; mkdir sub other; echo a > sub/in; echo a > other/out; git add .; git commit -qm both
		echo b > sub/in; echo b > other/out; touch sub/new other/new2; git commit -qm outside other/out; echo c > other/out`, "sub")
	for name, want := range map[string][2]string{
		"git_status": {" M in\n", "out"}, "git_diff": {"--- a/in\n+++ b/in\n", "out"}, "git_log": {": both", "outside"},
	} {
		p := b.play(t, name, `{}`)
		if out := " " + strings.TrimSpace(p.outcome.Output) + "\n"; p.needs != "read ." || p.outcome.Status != tool.Completed ||
			!strings.Contains(strings.ReplaceAll(out, "  M", " M"), want[0]) || strings.Contains(out, want[1]) {
			t.Errorf("%s asked %q: %s", name, p.needs, p.outcome.Output)
		}
	}
}

func TestGitAsksBeforeItReadsAPrivateRepository(t *testing.T) {
	b := gitBench(t, `git init -q private; echo secret > private/s; git -C private add .; git -C private commit -qm secret
		mkdir w; echo gitdir: ../private/.git > w/.git`, "w")
	private := filepath.Join(filepath.Dir(b.dir), "private", ".git")
	b.runner.Gate = tool.GateFunc(func(_ context.Context, q tool.Question) (tool.Decision, error) {
		b.needs = append(b.needs, q.Needs...)
		return tool.Decision{Allow: q.Needs[0].Target == "."}, nil
	})
	for _, name := range []string{"git_status", "git_diff", "git_log"} {
		p := b.play(t, name, `{}`)
		if p.outcome.Status != tool.Denied || !strings.Contains(p.needs, "read "+private) || strings.Contains(p.outcome.Output, "secret\n") {
			t.Errorf("%s asked %q: %s %s", name, p.needs, p.outcome.Status, p.outcome.Output)
		}
	}
}

func TestPatchSections(t *testing.T) {
	patch := "diff --git a/x b/x\n+diff --git no\ndiff --git a/x b/x\n+type changed\ndiff --git a/a b/c b/a b/c\ndiff --git a/old b/new name\nrename\n* Unmerged path u\ndiff --cc both\n"
	var paths []string
	whole := ""
	for _, s := range patchSections(patch) {
		paths, whole = append(paths, s.path), whole+s.text
	}
	if got := strings.Join(paths, "|"); got != "x|a b/c|new name|u|both" || whole != patch {
		t.Errorf("sections %s of %q", got, whole)
	}
}
