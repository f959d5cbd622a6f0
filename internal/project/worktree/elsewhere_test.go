package worktree

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/text/usage"
)

// The tree of a repository whose folder of git is not that of its checkout stands beside the
// checkout that the user is in.
func TestAWorkTreeStandsBesideTheCheckout(t *testing.T) {
	for name, c := range map[string]struct{ script, from, want, main string }{
		"of a submodule": {"git init -q super; cd super; git -c protocol.file.allow=always submodule --quiet add ../calc lib/part; git commit -qm part",
			"super/lib/part", "super/lib/part-fix", "super/lib/part"},
		"of a tree of a submodule": {"git init -q super; cd super; git -c protocol.file.allow=always submodule --quiet add ../calc part; git commit -qm part; git -C part worktree add -q ../../linked -b linked",
			"linked", "super/part-fix", "super/part"},
		"beside a hidden bare one":    {"git clone -q --bare calc hub/.bare; cd hub; echo 'gitdir: ./.bare' > .git; git worktree add -q trunk main", "hub/trunk", "hub/trunk-fix", "hub/trunk"},
		"beside a bare one":           {"git clone -q --bare calc hub.git; git -C hub.git worktree add -q ../trunk main", "trunk", "trunk-fix", "trunk"},
		"of a separate folder":        {"git init -q --separate-git-dir apart calc", "calc", "calc-fix", "calc"},
		"of a tree of a separate one": {"git init -q --separate-git-dir apart calc; git -C calc worktree add -q ../linked -b linked", "linked", "linked-fix", "linked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.sh(b.top, c.script)
			b.main = filepath.Join(b.top, c.from)
			m := b.make("fix")
			if m.Dir != filepath.Join(b.top, c.want) {
				t.Fatalf("made %s", m.Dir)
			}
			if in, main := Lookup(b.desk.State, m.Dir); in != "fix" || main != filepath.Join(b.top, c.main) {
				t.Errorf("%s belongs to %s", in, main)
			}
			b.main = m.Dir
			if other := b.make("other"); filepath.Dir(other.Dir) != filepath.Dir(m.Dir) || strings.Contains(other.Dir, "fix") {
				t.Errorf("from there: %s", other.Dir)
			}
			m.Release()
			b.main = filepath.Join(b.top, c.from)
			if got := b.remove("fix", RemoveOptions{}); !got.Removed {
				t.Errorf("removed %+v", got)
			}
		})
	}
}

func TestARepositoryWithoutAWorkTreeIsRefusedWithWords(t *testing.T) {
	b := newBench(t)
	b.sh(b.top, "git clone -q --bare calc hub/.bare; cd hub; echo 'gitdir: ./.bare' > .git; git worktree add -q trunk main")
	for _, dir := range []string{"hub", "hub/.bare"} {
		_, err := b.desk.Make(t.Context(), filepath.Join(b.top, dir), "fix")
		var e *usage.Error
		if !errors.As(err, &e) || !strings.Contains(e.Message, "in no work tree of it") || !strings.Contains(e.Hint, "git worktree list") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
