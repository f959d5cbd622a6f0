package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
)

// A folder that a command renames keeps its identity and that of all in it, with its times, and
// what the command does in it afterwards is done in it.
func TestAFolderIsRenamedWithAllThatIsInIt(t *testing.T) {
	need(t, "bash")
	b := newViewBench(t)
	b.host(`mkdir -p d/e new; echo a > d/a; echo b > d/e/b; echo c > d/e/c; ln -s a d/l; touch -h -d '2020-01-01 00:00:00.123456789' d/a d/l d/e d`)
	stat := func(name string) os.FileInfo {
		t.Helper()
		info, err := os.Lstat(filepath.Join(b.work, name))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	folder, a, e, c := stat("d"), stat("d/a"), stat("d/e"), stat("d/e/c")
	if r := b.apart("mv d new/D"); r.Code != 0 || len(r.Messages)+len(r.Notes) > 0 {
		t.Fatalf("%+v", r)
	}
	when := time.Date(2020, 1, 1, 0, 0, 0, 123456789, time.Local)
	for name, was := range map[string]os.FileInfo{"new/D": folder, "new/D/a": a, "new/D/e": e} {
		if now := stat(name); !os.SameFile(was, now) || !now.ModTime().Equal(when) {
			t.Errorf("%s is another one, or of another time: %v", name, now.ModTime())
		}
	}
	r := b.apart("mv new/D d; echo more >> d/a; rm d/e/b; mv d/l x; mv d/e/c new/c; mv d/e d/E; echo n > d/n; touch -h -d 2019-01-01 x")
	if r.Code != 0 || len(r.Messages)+len(r.Notes) > 0 {
		t.Fatalf("%+v", r)
	}
	for name, was := range map[string]os.FileInfo{"d": folder, "d/a": a, "d/E": e, "new/c": c} {
		if !os.SameFile(was, stat(name)) {
			t.Errorf("%s is another one", name)
		}
	}
	if got := b.read("d/a") + b.read("d/n"); got != "a\nmore\nn\n" {
		t.Errorf("%q", got)
	}
	if target, err := os.Readlink(filepath.Join(b.work, "x")); err != nil || target != "a" || stat("x").ModTime().Year() != 2019 {
		t.Errorf("the link leads to %q of %v: %v", target, stat("x").ModTime(), err)
	}
	var left []string
	entries, _ := os.ReadDir(filepath.Join(b.work, "d"))
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if _, err := os.Lstat(filepath.Join(b.work, "d/E/b")); err == nil || !slices.Equal(left, []string{"E", "a", "n"}) {
		t.Errorf("d holds %q", left)
	}
}

// What somebody else puts into a folder while a command renames it goes with the folder, and that
// is told.
func TestARenamedFolderTakesAlongWhatOthersPutThere(t *testing.T) {
	need(t, "bash")
	b := newViewBench(t)
	b.host("mkdir dir; echo x > dir/x")
	r := b.meanwhile("mv dir folder; echo ready; read x", func() { b.write("work/dir/theirs", "theirs\n") })
	want := "/folder/theirs: "
	if notes := strings.Join(r.Notes, "\n"); r.Code != 0 || len(r.Messages) > 0 || !strings.Contains(notes, want) {
		t.Errorf("exit %d, told %q, notes %q", r.Code, r.Messages, notes)
	}
	if _, err := os.Lstat(filepath.Join(b.work, "folder/theirs")); err != nil {
		t.Error(err)
	}
}

// Folders that exchange their names (RENAME_EXCHANGE) stay the ones that they were.
func TestFoldersExchangeTheirNames(t *testing.T) {
	need(t, "python3")
	b := newViewBench(t)
	b.host("mkdir -p d/e f; echo a > d/a; echo b > f/b; echo c > c")
	was := map[string]os.FileInfo{}
	for now, name := range map[string]string{"f": "d", "f/a": "d/a", "c": "f", "c/b": "f/b", "d": "c"} {
		info, err := os.Lstat(filepath.Join(b.work, name))
		if err != nil {
			t.Fatal(err)
		}
		was[now] = info
	}
	r := b.apart(`python3 -c 'import ctypes; c = ctypes.CDLL(None, use_errno=True)
for x, y in (b"d", b"f"), (b"c", b"d"):
    assert c.renameat2(-100, x, -100, y, 2) == 0, ctypes.get_errno()'`)
	if r.Code != 0 || len(r.Messages)+len(r.Notes) > 0 {
		t.Fatalf("%+v", r)
	}
	for name, info := range was {
		if now, err := os.Lstat(filepath.Join(b.work, name)); err != nil || !os.SameFile(info, now) {
			t.Errorf("%s is another one: %v", name, err)
		}
	}
}

// Renames in a circle or in a chain, and a change of somebody else to each file before they are
// applied, or while the user reviews them: what others wrote stays, and no file of the command's is
// lost.
func TestRenamesInACircleBesideOthers(t *testing.T) {
	need(t, "bash")
	b := newViewBench(t)
	for command, files := range map[string][]string{
		"mv f t; mv g f; mv t g": {"f", "g"}, "mv f t; mv g f; mv h g; mv t h": {"f", "g", "h"}, "mv h i; mv g h; mv f g": {"f", "g", "h"},
		"mv f f.1; echo ours > f": {"f"}, "mv f f.1; mkdir f; echo ours > f/ours": {"f"}, "mv d t; mv f d; mv t f": {"f", "d/a"},
		"mv d t; mv e d; mv t e": {"d/a", "e/a"}, "mv d t; mv e d; mv k e; mv t k": {"d/a", "e/a", "k/a"},
		"mkdir n; mv f n/f; mv g f": {"f", "g"}, "mv d n; mv f n/b; mv n/a f": {"f", "d/a"}, "mv d n; mv f n/a": {"d/a"},
	} {
		for _, event := range []string{"echo theirs > new; mv new X", "echo theirs >> X", "rm X", "mv X theirs", "echo theirs > new; mv new X # in review", "rm X; mkdir X; echo theirs > X/a # in review", "echo theirs >> X # in review"} {
			for _, file := range files {
				b.host("rm -rf *; mkdir d e k; for f in f g h d/a e/a k/a; do echo text of $f > $f; done")
				act := strings.ReplaceAll(event, "X", file)
				var r proc.Findings
				if strings.HasSuffix(act, "review") {
					pending := b.aside(command).Pending
					b.host(act)
					r = pending.Apply(everything(len(pending.Files)))
				} else {
					r = b.meanwhile(command+"; echo ready; read x", func() { b.host(act) }).Findings
				}
				b.host("cat $(find . -type f) > ../all")
				left, told := b.read("../all"), strings.Join(append(r.Messages, r.Notes...), "\n")
				writes := strings.Contains(act, "echo")
				if writes && !strings.Contains(left, "theirs\n") {
					t.Errorf("%s, then %s: that is gone: %q\n%s", command, act, left, told)
				}
				for _, other := range []string{"f", "g", "h", "d/a", "e/a", "k/a"} {
					replaced := other == file && (strings.HasPrefix(act, "rm") || strings.HasPrefix(act, "echo theirs > "))
					if !replaced && !strings.Contains(left, "text of "+other+"\n") {
						t.Errorf("%s, then %s: %s is gone: %q\n%s", command, act, other, left, told)
					}
					if writes && !strings.Contains(command, "mv d") && !strings.Contains(command, "ours") && other != file && len(r.Messages) > 0 && b.read(other) != "text of "+other+"\n" {
						t.Errorf("%s, then %s: the renames are done in part: %s has %q\n%s", command, act, other, b.read(other), told)
					}
				}
			}
		}
	}
}
