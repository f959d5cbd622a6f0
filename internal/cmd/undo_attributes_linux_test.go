package cmd_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Nobody sees that a command sets an extended attribute, and it is put back without a word about
// the user.
func TestUndoOfAnAttributeThatACommandSet(t *testing.T) {
	u := repository(t)
	needs(t, "perl")
	file := filepath.Join(u.dir, "src", "a.go")
	if err := unix.Setxattr(file, "user.kept", []byte("before"), 0); err != nil {
		t.Skip("no extended attributes here: " + err.Error())
	}
	set := func(path, name, value string) string {
		return fmt.Sprintf(`perl -e 'my ($p, $n, $v) = @ARGV; syscall(%d, $p, $n, $v, length $v, 0) == 0 or die "$!"' %s user.%s %s; `, unix.SYS_SETXATTR, path, name, value)
	}
	u.work("-- 1 --\n" + bash(set("src/a.go", "made", "x")+set("src/a.go", "kept", "after")+set("src/deep", "made", "x")+"echo more >> src/b.txt") + "-- 2 --\ntext: done\n")
	value := make([]byte, 10)
	if _, err := unix.Getxattr(file, "user.made", value); err != nil {
		t.Fatal("the command set nothing")
	}
	u.undo().wants(0, "src/a.go", "src/deep", "src/b.txt")
	if _, err := unix.Getxattr(file, "user.made", value); err == nil {
		t.Error("the attribute is still there")
	}
	if n, err := unix.Getxattr(file, "user.kept", value); err != nil || string(value[:n]) != "before" {
		t.Errorf("%v, %q", err, value[:max(n, 0)])
	}
}

// What undo does not cover is named where nothing else was changed.
func TestUndoOfAModeThatIsNotCoveredSaysSo(t *testing.T) {
	for name, c := range map[string][2]string{
		"large":   {"head -c 70000000 /dev/zero > big; git add big; git commit -qm big", "chmod 600 big"},
		"ignored": {"echo big >> .gitignore; head -c 2000000 /dev/zero > big", "chmod 600 big; chown 1:1 big || true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := repository(t)
			u.sh(c[0])
			u.work("-- 1 --\n" + bash(c[1]) + "-- 2 --\ntext: done\n")
			r := u.undo().wants(2)
			if !strings.Contains(r.err, "undo does not cover 1 path") || !strings.Contains(r.err, "big") || !strings.Contains(r.err, "no turn of this session has changed another file") {
				t.Errorf("%s", r.err)
			}
		})
	}
}
