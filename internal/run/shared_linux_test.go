package run_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sh runs a script in the user's folder with the real bash.
func (u *user) sh(script string) {
	u.t.Helper()
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = u.dir
	cmd.Env = append(u.env, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	if out, err := cmd.CombinedOutput(); err != nil {
		u.t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// shape is what stands in the user's folder: kinds, modes, contents and targets; without git's own
// state.
func (u *user) shape() string {
	u.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == ".git" {
			return errorOrSkip(err, d)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text = string(content)
		case info.Mode()&fs.ModeSymlink != 0:
			text, _ = os.Readlink(path)
		}
		rel, _ := filepath.Rel(u.dir, path)
		fmt.Fprintf(&b, "%s %v %q\n", rel, info.Mode(), text)
		return nil
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return b.String()
}

func errorOrSkip(err error, d fs.DirEntry) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}

func (u *user) wantTree(when, want string) {
	u.t.Helper()
	if got := u.shape(); got != want {
		u.t.Fatalf("%s the folder is\n%s\nwant\n%s", when, got, want)
	}
}

// repository is a user in a git repository with changed, untracked and ignored files.
func repository(t *testing.T) *user {
	t.Helper()
	needs(t, "bash")
	needs(t, "git")
	u := newUser(t)
	u.sh(`git init -q -b main; mkdir -p src/deep empty; printf '.env\n' > .gitignore; printf 'package a\n' > src/a.go; printf 'b\r\n' > src/b.txt
printf deep > src/deep/c; printf '#!/bin/sh\n' > run.sh; chmod 755 run.sh; ln -s src/a.go link; head -c 3000 /dev/zero > zeros
git add -A; git commit -qm one; printf 'package a // two\n' > src/a.go; git commit -qam two
printf dirty >> src/b.txt; printf untracked > new; printf SECRET=1 > .env; chmod 600 .env`)
	return u
}
