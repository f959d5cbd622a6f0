package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/tool"
)

// listedYard is a workspace in which names of files lead elsewhere when they are split, looked up
// or taken for options.
func listedYard(t *testing.T) (*yard, *Policy) {
	t.Helper()
	y := newYard(t, []string{"git"}, usualPrograms())
	if err := os.RemoveAll(y.work); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain.go", "sub/other.go", "x ../outside/o.txt", "-e", "--files0-from=names", "@a", "+1", "a*", "quo'te", "back\\slash", "new\nline", "sub/.env", "$(zap)"} {
		text := "text of " + filepath.Base(name) + "\n"
		if strings.HasSuffix(name, ".env") {
			text = canary
		}
		path := filepath.Join(y.work, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	y.before = y.snapshot(t)
	p := newPolicy(t, AskFirst, nil)
	p.options.Paths, p.options.Home, p.options.Files = onDisk{y.work}, y.root+"/home", diskFiles{}
	return y, p
}

// TestNamesThatOtherProgramsPrintAreAskedFor: what they hold is known only when they run.
func TestNamesThatOtherProgramsPrintAreAskedFor(t *testing.T) {
	y, p := listedYard(t)
	ask := func(lines ...string) {
		t.Helper()
		for _, line := range lines {
			if v := p.judge(AskFirst, tool.Need{Permission: tool.Execute, Target: line}); v.effect != Ask {
				t.Errorf("%q: %s", line, v.effect)
			}
		}
	}
	ask("cat $(cat names)", "cat $(echo plain.go)", "find . | xargs sed -n 1p", "find . | xargs awk '{print}'", "find . | xargs rm", "find . | xargs sh", "find . -print0 | xargs -0 cat",
		"find . | xargs -d . cat", "find . | xargs -I{} cat {}", "cat names | xargs cat", "grep $(find .)", "find . | xargs sort -o plain.go", "find . | xargs", "find . | xargs -a names cat",
		"cat $(find . ; echo x)", "cat a$(find .)", "find . | xargs git show", "find . | xargs grep -r x", "echo x > plain.go; cat $(find .)", "cat $(find . > list)", "cat $({ find .; } 2>&1)", "{ find .; } 2>&1 | xargs cat", "cat $(find . | { cat; } 2>&1)")
	if err := os.Symlink(filepath.Join(y.root, "outside", "o.txt"), filepath.Join(y.work, "sub", "link")); err != nil {
		t.Fatal(err)
	}
	ask("cat $(find . -type f)", "find . | xargs cat", "find sub -exec cat {} +", "find . | xargs ls", "ls $(find .)", "find . -type l | xargs ls", "ls -l $(find . -type l) | head")
}
