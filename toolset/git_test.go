package toolset

import (
	"context"
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

func TestGitInASubfolderSeesOnlyThat(t *testing.T) {
	b := gitBench(t, `git init -q; mkdir sub other; echo a > sub/in; echo a > other/out; git add .; git commit -qm both
		echo b > sub/in; echo b > other/out; touch sub/new other/new2; git commit -qm outside other/out; echo c > other/out`, "sub")
	for name, want := range map[string][2]string{
		"git_status": {" M in\n", "out"},
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
	for _, name := range []string{"git_status"} {
		p := b.play(t, name, `{}`)
		if p.outcome.Status != tool.Denied || !strings.Contains(p.needs, "read "+private) || strings.Contains(p.outcome.Output, "secret\n") {
			t.Errorf("%s asked %q: %s %s", name, p.needs, p.outcome.Status, p.outcome.Output)
		}
	}
}
