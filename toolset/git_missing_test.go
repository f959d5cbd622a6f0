package toolset

import (
	"strings"
	"testing"

	"adze/tool"
)

// TestGitToolsSayThatAPathIsNotThere: a name that neither the disk nor git has is an error with
// near names, and is told apart from files that were deleted, are not tracked, or have no changes.
func TestGitToolsSayThatAPathIsNotThere(t *testing.T) {
	b := gitBench(t, `git init -q; mkdir src; echo one > src/parse.go; echo two > old.txt; echo three > gone.txt
		git add .; git commit -qm first; git rm -q old.txt; git commit -qm "Remove old.txt"
		echo loose > loose.txt; rm gone.txt; git switch -q -c side; echo x > side.txt; git add side.txt
		git commit -qm side; git switch -q main`, "")
	for _, c := range []struct{ name, args, code, want string }{
		{"git_diff", `{"path": "src/parser.go"}`, tool.CodeNotFound, "did you mean src/parse.go?"},
		{"git_diff", `{"path": "src/parser.go", "staged": true}`, tool.CodeNotFound, "src/parser.go does not exist"},
		{"git_diff", `{"path": "nowhere/at/all", "commit": "HEAD~1..HEAD"}`, tool.CodeNotFound, "nowhere/at/all does not exist"},
		{"git_diff", `{"path": "nope", "commit": "HEAD~1...side"}`, tool.CodeNotFound, "nope does not exist"},
		{"git_diff", `{"path": "nope", "base": "HEAD~1", "stat": true}`, tool.CodeNotFound, "nope does not exist"},
		{"git_diff", `{"path": "old.txt"}`, tool.CodeNotFound, "git_log tells of files that were deleted"},
		{"git_diff", `{"path": "old.txt", "commit": "HEAD"}`, "", "-two"},
		{"git_diff", `{"path": "side.txt", "commit": "side"}`, "", "+x"},
		{"git_diff", `{"path": "side.txt", "commit": "side..side"}`, "", "nothing differs in side.txt there"},
		{"git_diff", `{"path": "gone.txt"}`, "", "-three"},
		{"git_diff", `{"path": "loose.txt"}`, "", "git does not track it"},
		{"git_diff", `{"path": "src"}`, "", "nothing differs in src; staged changes"},
		{"git_diff", `{"path": "src/parse.go", "base": "nosuch"}`, tool.CodeNotFound, `there is no commit "nosuch"`},
		{"git_log", `{"path": "src/parser.go"}`, tool.CodeNotFound, "no commit of HEAD changed it; did you mean src/parse.go?"},
		{"git_log", `{"path": "side.txt"}`, tool.CodeNotFound, "no commit of HEAD changed it"},
		{"git_log", `{"path": "side.txt", "commit": "side"}`, "", ": side"},
		{"git_log", `{"path": "old.txt"}`, "", "Remove old.txt"},
		{"git_log", `{"path": "loose.txt"}`, "", "no commit changed loose.txt"},
		{"git_log", `{"commit": "nosuch"}`, tool.CodeNotFound, `there is no commit "nosuch"`},
		{"git_status", `{"path": "src/parser.go"}`, tool.CodeNotFound, "did you mean src/parse.go?"},
		{"git_status", `{"path": "gone.txt"}`, "", "gone.txt"},
		{"git_status", `{"path": "src"}`, "", "clean: nothing changed in src"},
	} {
		o := b.play(t, c.name, c.args).outcome
		if o.Code != c.code || !strings.Contains(o.Output, c.want) {
			t.Errorf("%s %s: code %q, want %q with %q\n%s", c.name, c.args, o.Code, c.code, c.want, o.Output)
		}
	}
}

func TestGitDiffOfAPathInARepositoryWithoutCommits(t *testing.T) {
	b := gitBench(t, `git init -q; echo one > a.txt`, "")
	if o := b.play(t, "git_diff", `{"path": "b.txt"}`).outcome; o.Code != tool.CodeNotFound {
		t.Errorf("%s %s", o.Code, o.Output)
	}
	if o := b.play(t, "git_diff", `{"path": "a.txt"}`).outcome; o.Status != tool.Completed {
		t.Errorf("%s %s", o.Code, o.Output)
	}
}
