package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/sandbox/proc"
	"adze/internal/testkit/effort"
)

// neighbourScript is a program of the user's that has files open while commands run. It takes one line
// for each thing that it does, and answers with a line of JSON.
const neighbourScript = `
import fcntl, hashlib, json, mmap, os, sqlite3, stat, subprocess, sys
held = {}
class Kept:
    def __init__(self, fd): self.fd = fd
    def close(self): os.close(self.fd)
def connect(name):
    c = sqlite3.connect(name, isolation_level=None); c.execute("pragma synchronous=off"); c.execute("select count(*) from t").fetchall(); return c
def fresh():
    for i in range(3):
        for n in ("log", "a.txt", "b.txt"):
            open(n, "a").write("".join("%s line %d of %d\n" % (n, k, i) for k in range(10)))
    os.makedirs("dir/sub")
    for n in ("dir/x", "dir/y", "dir/sub/z", "h1", "lone.txt"): open(n, "w").write(n + " as it was\n" * 3)
    os.link("h1", "h2"); open("data.bin", "wb").write(bytes(range(256)) * 800)
    subprocess.run(["git", "init", "-q", "-b", "main", "."]); open(".git/info/exclude", "w").write("*.db*\ndata.bin\n")
    subprocess.run("git add -A; git commit -qm first", shell=True)
    for n, mode in (("wal.db", "wal"), ("q.db", "delete")):
        c = sqlite3.connect(n); c.execute("pragma synchronous=off"); c.execute("pragma journal_mode=" + mode); c.execute("create table t (x)")
        c.executemany("insert into t values (?)", [(i,) for i in range(500)]); c.commit(); c.close()
def begin(event, f):
    if event in ("held", "rotate"): held["log"] = open("log", "ab", 0)
    if event == "flock": held["lock"] = open(f, "rb+"); fcntl.flock(held["lock"], fcntl.LOCK_EX)
    if event == "lock": held["lock"] = open(f, "rb+"); fcntl.lockf(held["lock"], fcntl.LOCK_EX)
    if event == "reader": held["lock"] = open(f, "rb")
    if event == "map":
        g = open("data.bin", "rb+"); held["map"] = mmap.mmap(g.fileno(), 0); g.close()
    if event == "wal": held["db"] = connect("wal.db"); held["db"].execute("insert into t values (1000)")
    if event == "rollback": held["db"] = connect("q.db")
def act(event, f):
    if event == "held": held["log"].write(b"theirs, held\n")
    if event == "once": open(f, "a").write("theirs, once\n")
    if event == "rename": os.rename(f, f + ".user")
    if event == "rotate":
        os.rename("log", "log.1"); held["log"].write(b"theirs, to the old one\n"); held["new"] = open("log", "ab", 0); held["new"].write(b"theirs, to the new one\n")
    if event == "map": held["map"][1000:1006] = b"THEIRS"; held["map"].flush()
    if event in ("wal", "rollback"):
        for i in range(100): held["db"].execute("insert into t values (?)", (2000 + i,))
    if event == "save": open(f + ".tmp", "w").write("theirs, saved\n"); os.rename(f + ".tmp", f)
    if event == "rewrite": open(f, "w").write("theirs, rewritten\n")
    if event == "git": subprocess.run(["git", "commit", "-qm", "theirs", "--allow-empty"])
    if event == "remove": os.unlink(f)
    if event == "link": os.link(f, f + ".link")
    if event == "move": os.rename(f, "dir/" + os.path.basename(f) + ".moved")
    if event == "lockfile": open(f + ".lock", "x")
def end():
    out = {}
    if "log" in held:
        out["held log"] = os.pread(os.open("/proc/self/fd/%d" % held["log"].fileno(), os.O_RDONLY), 1 << 20, 0).decode()
    if "map" in held: out["held map"] = hashlib.sha256(held["map"][:]).hexdigest()
    for n in [n for n, h in held.items() if not isinstance(h, Kept)]: held.pop(n).close()
    return out
def names(): # the descriptors keep the numbers of inodes from being given to others
    for d, ds, fs in os.walk("."):
        for n in ds + fs:
            if ".git" not in d: held[os.path.join(d, n)] = Kept(os.open(os.path.join(d, n), os.O_PATH | os.O_NOFOLLOW))
    return {"%d" % os.lstat(os.path.join(d, n)).st_ino: os.path.join(d, n)[2:] for d, ds, fs in os.walk(".") for n in ds + fs if ".git" not in d}
def dump(start):
    out = {}
    for d, ds, fs in os.walk("."):
        ds[:] = [n for n in ds if n != ".git"]
        for n in ds + fs:
            p = os.path.join(d, n)[2:]; st = os.lstat(p)
            if p.endswith(("-wal", "-shm")): continue
            one = [stat.filemode(st.st_mode), "was " + start.get("%d" % st.st_ino, "-")]
            if stat.S_ISREG(st.st_mode):
                if p.endswith(".db"):
                    try:
                        c = sqlite3.connect(p); one.append(str(c.execute("pragma integrity_check").fetchall()) + str(sorted(r[0] for r in c.execute("select x from t")))); c.close()
                    except Exception as e: one.append(str(e))
                else: one.append(open(p, "rb").read().decode("latin1")[:4000]); one.append(hashlib.sha256(open(p, "rb").read()).hexdigest()[:12])
                if st.st_mtime < 1e9: one.append(int(st.st_mtime))
            if stat.S_ISLNK(st.st_mode): one.append(os.readlink(p))
            out[p] = one
    out["git log"] = [subprocess.run(["git", "log", "--format=%s"], capture_output=True, text=True).stdout]
    out["git index"] = [subprocess.run(["git", "ls-files", "-s"], capture_output=True, text=True).stdout]
    return out
for line in sys.stdin:
    q = json.loads(line); os.chdir(q["dir"]); r = {}
    if q["do"] == "fresh": fresh()
    if q["do"] == "names": r = names()
    if q["do"] == "begin": begin(q["event"], q["file"])
    if q["do"] == "act":
        try: act(q["event"], q["file"])
        except OSError as e: r = {"failed": str(e)}
    if q["do"] == "end": r = end()
    if q["do"] == "dump":
        r = dump(q["start"])
        for h in held.values(): h.close()
        held.clear()
    print(json.dumps(r), flush=True)
`

// neighbour is the program that runs the script.
type neighbour struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func newNeighbour(t *testing.T, env []string) *neighbour {
	cmd := exec.Command("python3", "-c", neighbourScript)
	cmd.Env, cmd.Stderr = env, os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	return &neighbour{t, in, bufio.NewReaderSize(out, 1<<20)}
}

func (n *neighbour) ask(dir, do, event, file string, start map[string]string) map[string]any {
	n.t.Helper()
	line, err := json.Marshal(map[string]any{"dir": dir, "do": do, "event": event, "file": file, "start": start})
	if err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		n.t.Fatal(err)
	}
	answer, err := n.out.ReadBytes('\n')
	if err != nil {
		n.t.Fatal("the neighbour has ended: ", err)
	}
	var out map[string]any
	if err := json.Unmarshal(answer, &out); err != nil {
		n.t.Fatal(err)
	}
	return out
}

// besideEvents are what happens beside a command.
var besideEvents = []string{"none", "held", "once", "rename", "rotate", "flock", "lock", "reader", "map", "wal", "rollback", "save", "rewrite", "git", "remove", "link", "move", "lockfile"}

// besideCommands are what a command does to the file F and another one, G.
var besideCommands = []string{
	`echo ours >> F`, `touch F`, `chmod 600 F`, `sed -i 's/line/LINE/' F`, `printf OURS | dd of=F bs=1 seek=4 conv=notrunc status=none`, `: > F`, `echo ours > F`, `mv F moved.txt`, `mv F G`, `cp F copy.txt`, `cp F G`, `rm F`,
	`ln F linked.txt`, `mkdir -p new && mv F new/`, `mv dir folder`, `mv dir folder && echo ours >> folder/x`, `rm -r dir`, `touch -d 1999-01-01 F`, `exec 8<>F`, `rm F; mkdir F; echo ours > F/a`, `mv F F.1 && echo ours > F`,
	`mv F t.txt; mv G F; mv t.txt G`, `head -3 F >> G; sed -i 1,3d F`, `python3 -c 'l = open("F").readlines(); open("G", "a").writelines(l[:3]); open("F", "w").writelines(l[3:])'`,
	`echo ours >> F; echo ours >> G`, `git add -A; git commit -qm ours`, `git stash -qu; git stash pop -q`, `ln -s F sym`, `echo ours >> data.bin`, `echo ours >> dir/x; mv dir/y dir/w`,
	`python3 -c 'import sqlite3; c = sqlite3.connect("wal.db"); print(c.execute("select count(*) from t").fetchall()); c.close()'`,
	`python3 -c 'import sqlite3; c = sqlite3.connect("wal.db", timeout=1); c.execute("insert into t values (9000)"); c.commit(); c.close()'`,
	`python3 -c 'import sqlite3; c = sqlite3.connect("q.db", timeout=1); print(c.execute("select count(*) from t").fetchall()); c.close()'`,
	`python3 -c 'import sqlite3; c = sqlite3.connect("q.db", timeout=1); c.execute("insert into t values (9000)"); c.commit(); c.close()'`,
}

// besideRound is one thing that happens beside one command.
type besideRound struct {
	event, command, file, other string
	after                       bool // it happens when the command has done its work, and not before
}

// outcome is what is there in the end.
type outcome struct {
	dump, end map[string]any
	told      string
}

// run plays the round in a folder: in the sandbox, or without one where the cage is nil.
func (r besideRound) run(b *bench, n *neighbour, cage proc.Cage, dir string) (out outcome) {
	b.t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			b.t.Fatal(err)
		}
	}
	if said, err := exec.Command("cp", "-a", filepath.Join(b.home, "template")+"/.", dir).CombinedOutput(); err != nil {
		b.t.Fatalf("%v %s", err, said)
	}
	start := map[string]string{}
	for ino, name := range n.ask(dir, "names", "", "", nil) {
		start[ino] = name.(string)
	}
	n.ask(dir, "begin", r.event, r.file, nil)
	command := strings.NewReplacer("F", r.file, "G", r.other).Replace(r.command)
	script := "echo ready; read x; " + command
	if r.after {
		script = command + "; echo ready; read x; true"
	}
	res, err := proc.Supervisor{Cage: cage}.Run(context.Background(), proc.Command{
		Argv: []string{"bash", "--noprofile", "--norc", "-c", script}, Dir: dir, Env: b.env(), Transaction: true, Timeout: time.Minute,
		Talk: func(in io.WriteCloser, text io.Reader) {
			lines := bufio.NewScanner(text)
			for lines.Scan() && lines.Text() != "ready" {
			}
			n.ask(dir, "act", r.event, r.file, nil)
			_, _ = io.WriteString(in, "go\n")
			for lines.Scan() {
			}
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	out.told = strings.Join(slices.Concat(res.Messages, res.Notes), "\n")
	for _, d := range res.Denied {
		out.told += "\n" + d.Target + " " + d.Reason
	}
	out.end = n.ask(dir, "end", "", "", nil)
	out.dump = n.ask(dir, "dump", "", "", start)
	return out
}

// differences are what the sandbox left otherwise than plain bash did.
func (o outcome) differences(plain outcome) (names []string) {
	for _, pair := range [][2]map[string]any{{o.dump, plain.dump}, {o.end, plain.end}} {
		for _, name := range slices.Sorted(maps.Keys(pair[0])) {
			if fmt.Sprint(pair[0][name]) != fmt.Sprint(pair[1][name]) {
				names = append(names, name)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(pair[1])) {
			if _, ok := pair[0][name]; !ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// tells reports that a difference is told: by its name, or by that of what it belongs to.
func (o outcome) tells(name string, r besideRound) bool {
	if strings.HasPrefix(name, "git ") {
		name = ".git"
	}
	if strings.HasPrefix(name, "held ") {
		name = map[string]string{"held log": "log", "held map": "data.bin"}[name]
	}
	for _, suffix := range []string{".user", ".moved", ".link"} { // what the user renamed or linked meanwhile stays so
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	for _, suffix := range []string{".user/a", ".moved/a", ".1/a"} { // it renamed the folder that the command made of the file, and here the file
		if strings.HasSuffix(name, suffix) && strings.Contains(o.told, "/"+r.file) {
			return true
		}
	}
	if r.event == "move" && name == r.file && (strings.Contains(o.told, filepath.Base(r.file)+".moved") || strings.Contains(o.told, "/dir ")) {
		return true // it went where the user moved it, and with that folder
	}
	name = strings.TrimSuffix(name, ".tmp")              // what is saved takes the place of the file, or cannot
	if name == "h1" || name == "h2" || name == "log.1" { // the other name of the file
		return strings.Contains(o.told, "h1") || strings.Contains(o.told, "h2") || name == "log.1" && o.told != ""
	}
	for at := name; at != "."; at = filepath.Dir(at) {
		if strings.Contains(o.told, "/"+at+" ") || strings.Contains(o.told, "/"+at+",") || strings.Contains(o.told, "/"+at+": ") || strings.Contains(o.told, at+" because") {
			return true
		}
	}
	return false
}

// TestWhatHappensBesideACommand plays what programs and people do beside a command, once with the
// command in the sandbox and once without one. What is there in the end must be the same, to the byte
// and by inode, or be told. ADZE_TESTS says how many rounds, ADZE_SEED which: a long run makes
// others each time.
func TestWhatHappensBesideACommand(t *testing.T) {
	need(t, "git", "bash", "python3")
	b := newViewBench(t)
	rounds := effort.Rounds(10, 80, 2000)
	seed := uint64(1)
	if effort.Is(effort.Long) {
		seed = rand.Uint64()
	}
	seed = effort.Seed(t, seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	n := newNeighbour(t, b.env())
	plain := filepath.Join(b.home, "plain")
	template := filepath.Join(b.home, "template")
	if err := errors.Join(os.Mkdir(plain, 0o755), os.Mkdir(template, 0o755)); err != nil {
		t.Fatal(err)
	}
	n.ask(template, "fresh", "", "", nil)
	told, same := map[string]int{}, 0
	failed, renumbered := 0, 0
	for i := range rounds {
		files := []string{"log", "a.txt", "b.txt", "h1", "lone.txt"}
		rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
		r := besideRound{besideEvents[rng.IntN(len(besideEvents))], besideCommands[rng.IntN(len(besideCommands))], files[0], files[1], rng.IntN(2) == 0}
		if only := os.Getenv("BESIDE"); only != "" && fmt.Sprint(i) != only {
			continue
		}
		want := r.run(b, n, nil, plain)
		got := r.run(b, n, b.box, b.work)
		untold := 0
		for _, name := range got.differences(want) {
			if got.tells(name, r) {
				continue
			}
			if sameBytes(got.dump[name], want.dump[name]) {
				renumbered++ // a known limit of package overlay
				continue
			}
			untold++
			t.Errorf("round %d, %+v: %s is\n%s\nwithout a sandbox\n%s\ntold: %s", i, r, name, brief(got.dump[name]), brief(want.dump[name]), got.told)
		}
		switch diff := got.differences(want); {
		case untold > 0:
			failed++
		case len(diff) == 0:
			same++
		default:
			told[r.event]++
		}
		if failed > 12 {
			t.Fatalf("seed %d, after %d rounds", seed, i+1)
		}
	}
	t.Logf("seed %d, user %d: of %d rounds %d ended as without a sandbox; told, by what happened beside: %v; %d files have another inode and the same content", seed, os.Getuid(), rounds, same, told, renumbered)
	if renumbered > 1+rounds/40 {
		t.Errorf("%d files have another inode than without a sandbox", renumbered)
	}
}

// The same as a user without rights.
func TestWhatHappensBesideACommandOfAnOrdinaryUser(t *testing.T) {
	asOrdinaryUser(t, "^TestWhatHappensBesideACommand$")
}

// sameBytes reports that only the inode differs.
func sameBytes(a, b any) bool {
	x, ok := a.([]any)
	y, ok2 := b.([]any)
	return ok && ok2 && len(x) == len(y) && len(x) > 2 && x[0] == y[0] && slices.Equal(x[2:], y[2:])
}

// brief is what is there of a file, without its middle.
func brief(v any) string {
	text := fmt.Sprint(v)
	if len(text) > 400 {
		text = text[:120] + " ... " + text[len(text)-200:]
	}
	return text
}
