package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands that walk, link and remove whatever they find work in a view as they do without one: no
// folder stands in the workspace for what is not there.
func TestCommandsThatTakeAllThatIsThere(t *testing.T) {
	need(t, "git", "bash")
	for name, script := range map[string]string{
		"stash with new files": `echo new > new; echo more >> src/a; git stash -qu; test ! -e new; test "$(cat src/a)" = a; git stash pop -q; test -e new; test "$(tail -1 src/a)" = more; rm new; git checkout -q .`,
		"clean":                `echo new > new; mkdir -p dir/sub; git clean -qfd; test ! -e new; test ! -e dir; test -z "$(git status --porcelain)"`,
		"empty folders":        `mkdir -p e/e/e; test "$(find . -type d -empty -not -path './.git/*' -print -delete | wc -l)" = 3; test ! -e e`,
		"copy of links":        `cp -al src copy; test "$(cat copy/a)" = a`,
		"local clone":          `git clone -q --local --no-hardlinks . clone; test "$(cat clone/src/a)" = a; rm -rf clone`,
		"file becomes folder":  `rm f; mkdir f; echo > f/a; test -e f/a`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newViewBench(t)
			b.host(`git init -q -b main . && mkdir -p src && echo a > src/a && echo f > f && git add -A && git commit -qm one`)
			r := b.apart("set -e; ls -A; " + script)
			if r.Code != 0 || len(r.Messages) > 0 || len(r.Denied) > 0 {
				t.Errorf("exit %d, told %q, refused %v\n%s%s", r.Code, r.Messages, r.Denied, r.Output.Head, r.Errors.Head)
			}
			if seen := strings.Fields(r.Output.Head); strings.Join(seen, " ") != ".git f src" {
				t.Errorf("the command sees %v", seen)
			}
		})
	}
}

func TestCommandsOfAnOrdinaryUserThatTakeAllThatIsThere(t *testing.T) {
	asOrdinaryUser(t, "^TestCommandsThatTakeAllThatIsThere$")
}

// A link that a command makes to a file that was there is one in the workspace, too.
func TestLinksOfACommandAreLinks(t *testing.T) {
	b := newViewBench(t)
	b.write("work/a", "a\n")
	before, err := os.Stat(filepath.Join(b.work, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if r := b.apart("ln a b; mv a c; echo more >> c"); r.Code != 0 || len(r.Messages) > 0 {
		t.Fatalf("%+v", r)
	}
	for _, name := range []string{"b", "c"} {
		after, err := os.Stat(filepath.Join(b.work, name))
		if err != nil || !os.SameFile(before, after) || b.read(name) != "a\nmore\n" {
			t.Errorf("%s: %v, %q", name, err, b.read(name))
		}
	}
}

// A command and another program work on one database: in the real folder where that holds nothing
// else. Of a database among other files a command is asked about before it runs.
func TestADatabaseThatIsInUseIsTheRealOne(t *testing.T) {
	need(t, "python3")
	b := newViewBench(t)
	n := newNeighbour(t, b.env())
	n.ask(b.work, "fresh", "", "", nil)
	b.host("mkdir db && mv wal.db db/")
	n.ask(filepath.Join(b.work, "db"), "begin", "wal", "", nil)
	insert := `python3 -c 'import sqlite3; c = sqlite3.connect("db/wal.db"); c.execute("insert into t values (9000)"); c.commit(); print(c.execute("select count(*) from t").fetchall()); c.close()'`
	r := b.apart(insert)
	if r.Code != 0 || len(r.Messages) > 0 || text(r) != "[(502,)]" {
		t.Errorf("%+v", r)
	}
	n.ask(filepath.Join(b.work, "db"), "act", "wal", "", nil)
	n.ask(b.work, "end", "", "", nil)
	b.host(`test "$(python3 -c 'import sqlite3; c = sqlite3.connect("db/wal.db"); print(c.execute("select count(*) from t").fetchone()[0], c.execute("pragma integrity_check").fetchone()[0])')" = "602 ok"`)

	if why := b.box.DatabaseInUse([]string{"sqlite3 q.db 'select 1'"}, b.work); why != "" {
		t.Errorf("nobody has q.db open, and it is said: %s", why)
	}
	n.ask(b.work, "begin", "rollback", "", nil)
	if why := b.box.DatabaseInUse([]string{"sqlite3 q.db 'select 1'"}, b.work); !strings.Contains(why, "q.db") || !strings.Contains(why, "python3") {
		t.Errorf("python3 has q.db open, and it is said: %q", why)
	}
	n.ask(b.work, "end", "", "", nil)
}

// Nothing that a command does to a file that has another link reaches that link: the kernel does not
// say whether the command wrote into the file or replaced it. That is told, once a file.
func TestOtherLinksOfAFileKeepWhatTheyWere(t *testing.T) {
	need(t, "bash", "tar", "git")
	for name, c := range map[string]struct {
		script string
		notes  int
		f      string
	}{
		"edit":           {`sed -i '$a x' f`, 1, "l1\nl2\nx\n"},
		"copy and grow":  {`cp f t; echo q >> t; mv t f`, 1, "l1\nl2\nq\n"},
		"copy with time": {`cp -p f t; echo q >> t; mv t f`, 1, "l1\nl2\nq\n"},
		"append":         {`echo q >> f`, 1, "l1\nl2\nq\n"},
		"link over":      {`ln -f d/a f`, 0, "a\n"},
		"link over late": {`ln -f z f`, 0, "z\n"},
		"unpack":         {`tar cf t.tar f; rm f; tar xf t.tar`, 1, "l1\nl2\n"},
		"check out":      {`rm f; git checkout -q HEAD f`, 1, "committed\n"},
		"folder":         {`mv d D; sed -i '$a x' D/h`, 1, "l1\nl2\n"},
		"read and write": {`: <> f`, 0, "l1\nl2\n"},
		"rename":         {`mv f k; cp -p k f`, 0, "l1\nl2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newViewBench(t)
			b.host(`printf 'l1\nl2\n' > f; mkdir d snap; echo a > d/a; echo z > z; printf 'h\n' > d/h; ln d/h snap/dh
				git init -q .; cp f was; echo committed > f; git add f; git commit -qm one; cat was > f; rm was
				ln f snap/h; ln f ../outside; touch -d '2020-01-01 00:00:00.123456789' f d/h`)
			before, err := os.Stat(filepath.Join(b.work, "snap/h"))
			if err != nil {
				t.Fatal(err)
			}
			r := b.apart("set -e; " + c.script)
			if r.Code != 0 || len(r.Messages) > 0 || len(r.Notes) != c.notes || c.notes > 0 && !strings.Contains(r.Notes[0], "other names") {
				t.Errorf("exit %d, told %q, notes %q: %s", r.Code, r.Messages, r.Notes, r.Errors.Head)
			}
			if got := b.read("f"); got != c.f {
				t.Errorf("f is %q", got)
			}
			for path, content := range map[string]string{"snap/h": "l1\nl2\n", "../outside": "l1\nl2\n", "snap/dh": "h\n"} {
				after, err := os.Stat(filepath.Join(b.work, path))
				if err != nil || b.read(path) != content || path != "snap/dh" && (!os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime())) {
					t.Errorf("%s: %q, %v, changed %v", path, b.read(path), err, after.ModTime())
				}
			}
		})
	}
}

// What a command appends to a file that it renamed comes behind what was there, once, also where
// another program has the file open.
func TestAnAppendToARenamedFileIsAppended(t *testing.T) {
	for name, c := range map[string]struct{ script, at string }{
		"file":   {"mv d/app.log d/app.log.1; echo rotated >> d/app.log.1", "d/app.log.1"},
		"folder": {"mv d D; echo rotated >> D/app.log", "D/app.log"},
	} {
		for mode, flag := range map[string]int{"read": os.O_RDONLY, "append": os.O_WRONLY | os.O_APPEND} {
			t.Run(name+" "+mode, func(t *testing.T) {
				t.Parallel()
				b := newViewBench(t)
				b.write("work/d/app.log", "one\n")
				f, err := os.OpenFile(filepath.Join(b.work, "d/app.log"), flag, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if r := b.apart(c.script); r.Code != 0 || len(r.Messages) > 0 {
					t.Errorf("exit %d, told %q", r.Code, r.Messages)
				}
				if got := b.read(c.at); got != "one\nrotated\n" {
					t.Errorf("it holds %q", got)
				}
			})
		}
	}
}

// A link is to the file that the command saw, not to one that the user puts in its place meanwhile.
func TestALinkIsToWhatTheCommandSaw(t *testing.T) {
	b := newViewBench(t)
	b.write("work/f", "old\n")
	b.meanwhile("ln f bak; echo ready; read go", func() { b.host("echo theirs > t && mv t f") })
	if got := b.read("bak") + b.read("f"); got != "old\ntheirs\n" {
		t.Errorf("bak and f hold %q", got)
	}
}
