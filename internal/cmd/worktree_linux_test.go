package cmd_test

import (
	"strings"
	"testing"
)

// In the sandbox git works in a work tree of adze's: it commits there, and can change neither the
// hooks and settings of the repository nor the main checkout.
func TestGitWorksInAWorkTreeInTheSandbox(t *testing.T) {
	u := newUser(t)
	sandboxed(t, u)
	sh := calcRepository(u)
	model := u.script(`-- 1 --
call write: {"path":"x.sh","content":"echo out > ../calc/a.txt; echo evil > ../calc/.git/hooks/pre-commit; git config core.pager evil\n"}
-- 2 --
call bash: {"command":"echo two > a.txt && git commit -qam inside"}
-- 3 --
call bash: {"command":"sh ./x.sh; rm x.sh"}
-- 4 --
text: done
`)
	r := u.run("-p", model, "-w", "it", "--sandbox", "required", "--permission-mode", "yolo", "--output-format", "stream-json", "go").wants(0, "done")
	got := sh(u.dir, "git log --format=%s it; cat a.txt; git log --format=%s main; ls .git/hooks | grep -v sample || true; git config core.pager || true; git -C ../calc-it status --porcelain")
	if want := "inside\nstart\none\nstart"; strings.TrimSpace(got) != want {
		t.Errorf("got\n%s\nwant\n%s\n%s", got, want, r.out)
	}
}
