package undo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// owners tells of each path whose it is, without help of the package.
func (p *site) owners() map[string]string {
	p.t.Helper()
	all := p.shape(false)
	for rel := range all {
		st, err := os.Lstat(filepath.Join(p.root, rel))
		if err != nil {
			p.t.Fatal(err)
		}
		if st.Mode()&os.ModeSymlink == 0 {
			sys := st.Sys().(*syscall.Stat_t)
			all[rel] += fmt.Sprintf(" of %d:%d", sys.Uid, sys.Gid)
		}
	}
	return all
}

func TestOwnersComeBack(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	for _, script := range []string{"rm -r src", "chown -R 0:0 .", "chown 7:8 run.sh src bin", "sed -i s/a/b/ src/a.go; printf x >> run.sh", "mv src lib; chown 5:5 lib", "chgrp 9 src/a.go; chmod 640 src/a.go",
		"rm run.sh; mkdir run.sh; chown 3 run.sh"} {
		p := newSite(t)
		p.fill()
		p.sh("chown 1000:1001 src src/a.go run.sh; chown :50 bin; chown 77 src/crlf.txt")
		before, was := p.mark(), p.owners()
		p.sh(script)
		after, is := p.mark(), p.owners()
		undone := p.undo(false, Window{before, after})
		p.clean(undone)
		p.same(script+": undo", p.owners(), was)
		p.reopen()
		p.clean(p.undo(false, undone.Window))
		p.same(script+": redo", p.owners(), is)
	}
}

// TestAnOwnerThatCannotComeBackIsNamed runs itself again without the right to give files away.
func TestAnOwnerThatCannotComeBackIsNamed(t *testing.T) {
	if os.Getenv("ADZE_UNDO_NO_CHOWN") == "" {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil || os.Geteuid() != 0 {
			t.Skip("it takes root, and setpriv")
		}
		given := filepath.Join(scratch(t), "given")
		if err := errors.Join(os.WriteFile(given, []byte("one"), 0o644), os.Chown(given, 1000, 1000)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(setpriv, "--bounding-set", "-chown", "--inh-caps", "-chown", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "ADZE_UNDO_NO_CHOWN="+given)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	p := newSite(t)
	p.sh("printf mine > mine")
	if err := os.Rename(os.Getenv("ADZE_UNDO_NO_CHOWN"), filepath.Join(p.root, "a")); err != nil {
		t.Fatal(err)
	}
	before := p.mark()
	p.sh("rm a mine")
	r := p.undo(false, Window{before, p.mark()})
	if len(r.Done) != 2 || len(r.Refused) != 1 || r.Refused[0].Path != "a" || !strings.Contains(r.Refused[0].Reason, "it is put back, but its owner") {
		t.Errorf("done %v, refused %v", r.Done, r.Refused)
	}
	if got, _ := os.ReadFile(filepath.Join(p.root, "a")); string(got) != "one" {
		t.Errorf("a is %q", got)
	}
}
