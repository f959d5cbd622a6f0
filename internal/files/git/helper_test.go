package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// desk is a folder with a repository in it, and a folder for canaries outside of it.
type desk struct {
	testing.TB
	work, canaries, home string
	extra                []string // environment of Git beside PATH and HOME
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	for _, program := range []string{"git", "sh"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{TB: t, work: filepath.Join(top, "work"), canaries: filepath.Join(top, "canaries"), home: filepath.Join(top, "home")}
	for _, dir := range []string{d.work, d.canaries, d.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.sh("git init -q -b main && printf 'one\ntwo\n' > f && printf 'x\n' > g && git add . && git commit -qm start && printf 'three\n' >> f && git commit -qam more")
	return d
}

func (d *desk) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "WORK=" + d.work}, d.extra...)
}

// sh runs a script in the work tree with the plain git. $CANARY is a program that leaves a file
// when it is run.
func (d *desk) sh(script string) {
	d.Helper()
	if out, err := d.try(script); err != nil {
		d.Fatalf("%s: %v\n%s", script, err, out)
	}
}

func (d *desk) try(script string) ([]byte, error) {
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = d.work
	cmd.Env = append(d.environ(), "CANARY="+d.canary(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	return cmd.CombinedOutput()
}

func (d *desk) canary() string {
	path := filepath.Join(d.home, "canary")
	if _, err := os.Stat(path); err != nil {
		script := "#!/bin/sh\necho \"$0 $*\" > " + d.canaries + "/$$\n"
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			d.Fatal(err)
		}
	}
	return path
}

// sang lists what the canaries wrote since the last call.
func (d *desk) sang() (all []string) {
	d.Helper()
	names, err := os.ReadDir(d.canaries)
	if err != nil {
		d.Fatal(err)
	}
	for _, n := range names {
		path := filepath.Join(d.canaries, n.Name())
		raw, _ := os.ReadFile(path)
		all = append(all, strings.TrimSpace(string(raw)))
		if err := os.Remove(path); err != nil {
			d.Fatal(err)
		}
	}
	return all
}

func (d *desk) git() Git { return Git{Env: d.environ()} }

func (d *desk) open() *Repo {
	d.Helper()
	r, err := d.git().Open(d.Context(), d.work)
	if err != nil {
		d.Fatal(err)
	}
	return r
}
