package ownfile_test

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"adze/internal/osfile/ownfile"
	"adze/internal/testkit/posix"
)

func TestWhichFilesAreBelieved(t *testing.T) {
	other := 12345
	chown := func(path string) error {
		if os.Geteuid() != 0 {
			t.Skip("only root can give files away")
		}
		return os.Lchown(path, other, other)
	}
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir, path string) error
		says  string // empty: it is believed
	}{
		"as it is":          {func(*testing.T, string, string) error { return nil }, ""},
		"readable by all":   {func(_ *testing.T, _, p string) error { return os.Chmod(p, 0o644) }, ""},
		"a link to a sound": {func(_ *testing.T, d, p string) error { return linked(p, d+"/real") }, ""},
		"writable by all":   {func(_ *testing.T, _, p string) error { return os.Chmod(p, 0o646) }, "chmod go-w"},
		"by a shared group": {func(t *testing.T, _, p string) error { return groupWritable(t, p, 12345) }, "chmod go-w"},
		"by root's group":   {func(t *testing.T, _, p string) error { return groupWritable(t, p, 0) }, "chmod go-w"},
		"a folder of all":   {func(_ *testing.T, d, _ string) error { return os.Chmod(d, 0o777) }, "chmod go-w"},
		"a shared folder":   {func(_ *testing.T, d, _ string) error { return os.Chmod(d, 0o777|fs.ModeSticky) }, ""},
		"of somebody else":  {func(_ *testing.T, _, p string) error { return chown(p) }, "chown"},
		"their folder":      {func(_ *testing.T, d, _ string) error { return chown(d) }, "chown"},
		"their link": {func(_ *testing.T, d, p string) error {
			if err := linked(p, d+"/real"); err != nil {
				return err
			}
			return chown(p)
		}, "chown"},
		"a link to one that all can write": {func(_ *testing.T, d, p string) error {
			if err := linked(p, d+"/real"); err != nil {
				return err
			}
			return os.Chmod(d+"/real", 0o666)
		}, "chmod go-w"},
		"a link into a folder of all": {func(t *testing.T, _, p string) error {
			open := t.TempDir()
			if err := os.Chmod(open, 0o777); err != nil {
				return err
			}
			return linked(p, open+"/real")
		}, "chmod go-w"},
		"a FIFO": {func(_ *testing.T, _, p string) error {
			os.Remove(p)
			return posix.Fifo(t, p)
		}, "not a regular file"},
		"a folder": {func(_ *testing.T, _, p string) error {
			os.Remove(p)
			return os.Mkdir(p, 0o700)
		}, "not a regular file"},
		"too long": {func(_ *testing.T, _, p string) error { return os.Truncate(p, 20<<30) }, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "own")
			path := dir + "/file"
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(path, []byte("text"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(t, dir, path); err != nil {
				t.Fatal(err)
			}
			raw, err := ownfile.Mine(1 << 10).Read(path)
			if checked := ownfile.Mine(1 << 10).Check(path); (checked == nil) != (err == nil) {
				t.Errorf("reading says %v, looking %v", err, checked)
			}
			if c.says == "" {
				if err != nil || string(raw) != "text" {
					t.Errorf("%q, %v", raw, err)
				}
				return
			}
			var e *ownfile.Error
			if !errors.As(err, &e) || len(raw) > 0 && c.says != "more than" {
				t.Fatalf("%q, %v", raw, err)
			}
			if all := e.Error() + ": " + e.Next(); !strings.Contains(all, c.says) || !strings.Contains(e.Error(), e.Path) {
				t.Errorf("the error is %s", all)
			}
		})
	}
	if _, err := ownfile.Mine(1).Read(t.TempDir() + "/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// linked moves a file and leaves a link in its place.
func linked(path, to string) error { return errors.Join(os.Rename(path, to), os.Symlink(to, path)) }

// groupWritable gives a file to a group and lets that write it.
func groupWritable(t *testing.T, path string, group int) error {
	if err := os.Chown(path, -1, group); err != nil {
		t.Skipf("only root can give files to group %d", group)
	}
	return os.Chmod(path, 0o660)
}

// TestThePrivateGroupIsTheUser takes files that the user's own group can write, as a umask of 002
// makes them.
func TestThePrivateGroupIsTheUser(t *testing.T) {
	me := os.Geteuid()
	if me == 0 {
		me = 65534 // nobody, whose group has no members
	}
	group, err := user.LookupGroupId(strconv.Itoa(me))
	if err != nil {
		t.Skipf("there is no group %d", me)
	}
	dir := filepath.Join(t.TempDir(), "own")
	path := dir + "/file"
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(path, nil, 0o600), os.Chown(dir, me, me), os.Chown(path, me, me),
		os.Chmod(dir, 0o775), os.Chmod(path, 0o664)); err != nil {
		t.Fatal(err)
	}
	rule := ownfile.Rule{Owner: me, MaxSize: 1}
	if err := rule.Check(path); err != nil {
		t.Errorf("of the private group %s: %v", group.Name, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := rule.Check(path); err == nil {
		t.Error("a file that all can write is believed")
	}
}
