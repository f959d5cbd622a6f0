package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that walk, link and remove whatever they find work in a view as they do without one: no
// folder stands in the workspace for what is not there.
func TestCommandsThatTakeAllThatIsThere(t *testing.T) {
	need(t, "git", "bash")
	for name, script := range map[string]string{
		"stash with new files": `echo new > new; echo more >> src/a; git stash -qu; test ! -e new; test "$(cat src/a)" = a; git stash pop -q; test -e new; test "$(tail -1 src/a)" = more; rm new; git checkout -q .`,
		"clean":                `echo new > new; mkdir -p dir/sub; git clean -qfd; test ! -e new; test ! -e dir; test -z "$(git status --porcelain)"`,
		"empty folders":        `mkdir -p e/e/e; test "$(find . -type d -empty -not -path './.git/*' -print -delete | wc -l)" = 3; test ! -e e`,
		"copy of links":        `cp -al src copy; test "$(cat copy/a)" = a`,
		"local clone":          `git clone -q --local . ../work/clone; test "$(cat clone/src/a)" = a; rm -rf clone`,
		"file becomes folder":  `rm f; mkdir f; echo > f/a; test -e f/a`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newViewBench(t)
			b.host(`git init -q -b main . && mkdir -p src && echo a > src/a && echo f > f && git add -A && git commit -qm one`)
			r := b.apart("set -e; ls -A; " + script)
			if r.Code != 0 || len(r.Told) > 0 || len(r.Denied) > 0 {
				t.Errorf("exit %d, told %q, refused %v\n%s%s", r.Code, r.Told, r.Denied, r.Output.Head, r.Errors.Head)
			}
			if seen := strings.Fields(r.Output.Head); strings.Join(seen, " ") != ".git f src" {
				t.Errorf("the command sees %v", seen)
			}
		})
	}
}

func TestCommandsOfAnOrdinaryUserThatTakeAllThatIsThere(t *testing.T) {
	asOrdinaryUser(t, "^TestCommandsThatTakeAllThatIsThere$")
}

// A link that a command makes to a file that was there is one in the workspace, too.
func TestLinksOfACommandAreLinks(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "a\n")
	before, err := os.Stat(filepath.Join(b.work, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if r := b.apart("ln a b; mv a c; echo more >> c"); r.Code != 0 || len(r.Told) > 0 {
		t.Fatalf("%+v", r)
	}
	for _, name := range []string{"b", "c"} {
		after, err := os.Stat(filepath.Join(b.work, name))
		if err != nil || !os.SameFile(before, after) || b.read(name) != "a\nmore\n" {
			t.Errorf("%s: %v, %q", name, err, b.read(name))
		}
	}
}
