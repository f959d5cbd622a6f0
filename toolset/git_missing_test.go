package toolset

import (
	"strings"
	"testing"

	"adze/tool"
)

// git 2.39.5 and 2.55.0 name an untracked folder by itself, also where the workspace is all of it.
func TestTheWorkspaceMayBeAllThatIsUntracked(t *testing.T) {
	name := gitPlace{strip: "a/b/"}.name
	if got := name("a/b/") + " " + name("a/b/c") + " " + (gitPlace{}).name("c/"); got != "./ c c/" {
		t.Error(got)
	}
}

// TestGitToolsSayThatAPathIsNotThere: a name that neither the disk nor git has is an error with
// near names; a deleted file and one without changes are none.
func TestGitToolsSayThatAPathIsNotThere(t *testing.T) {
	b := gitBench(t, `git init -q; mkdir src; echo one > src/parse.go; echo two > old.txt; echo three > gone.txt
		git add .; git commit -qm first; git rm -q old.txt; git commit -qm "Remove old.txt"
		echo loose > loose.txt; rm gone.txt; git switch -q -c side; echo x > side.txt; git add side.txt
		git commit -qm side; git switch -q main`, "")
	for _, c := range []struct{ name, args, code, want string }{
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
