package git

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// guarded runs git as a command that a rule allowed does: the plain git, in the environment that
// Guard adds.
func (d *desk) guarded(dir string, args ...string) (string, bool) {
	d.Helper()
	env := proc.WithoutPathsIn(d.environ(), d.work)
	g := Git{Env: env}
	settings, found := g.Guard(d.Context(), false, filepath.Join(d.work, dir), d.work)
	git, err := exec.LookPath("git")
	if err != nil {
		d.Fatal(err)
	}
	cmd := exec.Command(git, args...)
	cmd.Dir, cmd.Env = filepath.Join(d.work, dir), append(env, settings...)
	out, _ := cmd.CombinedOutput()
	return string(out), found
}

func TestAGuardedGitRunsNothingThatARepositoryNames(t *testing.T) {
	for name, v := range someVectors() {
		if len(v.extra) > 0 && !strings.HasPrefix(v.extra[0], "PATH=") {
			continue // of the environment, which proc.Environ cleans
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.sh(v.plant)
			d.sang()
			for _, kv := range v.extra {
				d.extra = append(d.extra, d.expand(kv))
			}
			for _, line := range []string{"status", "diff", "diff HEAD", "log -p", "show", "blame f", "branch other", "add f", "-c user.name=a -c user.email=a@b commit -qm x", "stash list", "ls-files -m"} {
				d.guarded(v.dir, strings.Fields(line)...)
				if songs := d.sang(); len(songs) > 0 {
					t.Errorf("git %s ran %q", line, songs)
				}
			}
		})
	}
}

func TestAGuardedGitKeepsWhatThePersonConfigured(t *testing.T) {
	d := newDesk(t)
	d.sh(`git config --global core.hooksPath "$HOME/hooks"; mkdir "$HOME/hooks"; cp "$CANARY" "$HOME/hooks/pre-commit"
		git config --global filter.mine.clean 'sed s/a/b/'; git config --global user.name A; git config --global user.email a@example.com
		git config --global alias.st 'status --short'; echo 'new filter=mine' > .gitattributes; echo a > new`)
	d.sang()
	for _, line := range []string{"add .", "commit -qm x"} {
		if out, found := d.guarded("", strings.Fields(line)...); out != "" || found {
			t.Errorf("git %s: %s, found %v", line, out, found)
		}
	}
	if len(d.sang()) != 1 {
		t.Error("the person's own hook did not run")
	}
	if out, _ := d.guarded("", "show", "HEAD:new"); out != "b\n" {
		t.Errorf("the person's own filter did not run: %q", out)
	}
	if out, _ := d.guarded("", "st"); out != "" {
		t.Errorf("the person's own alias says %q", out)
	}
}

func TestAGuardedDiffShowsTheChange(t *testing.T) {
	d := newDesk(t)
	d.sh(`git config diff.external "$CANARY"; echo changed >> f`)
	if out, found := d.guarded("", "diff"); !found || !strings.Contains(out, "+changed\n") || !strings.Contains(out, "+++ b/f") {
		t.Errorf("%v, %s", found, out)
	}
}
