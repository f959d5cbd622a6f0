package policy

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"adze/internal/policy/script"
	"adze/internal/testkit/effort"
	"adze/tool"
)

// What runs without a question in the modes ask, edits and auto runs here under strace, which sees
// every program that is started and every path that is written, whoever does it: both were told by
// the reading, or it is a fault of it. Many lines share one strace, and those of a line are told
// apart by whose child a process is.
//
//	ADZE_TESTS=long ADZE_SEED=7 go test -timeout 2h -run TracedLines ./internal/policy

// tracedShort is how many lines are traced with the other tests: each is judged, and each stop of a
// program costs two switches between processes.
const tracedShort = 60

// tracedBatch is how many lines share a strace: enough to make its start cheap, few enough that no
// process id comes twice.
const tracedBatch = 400

// tracedLine is a line that a mode allows.
type tracedLine struct {
	text string
	mode Mode // the most careful one
	v    verdict
	argv []string // as it runs
}

func TestTracedLinesRunAndWriteWhatWasRead(t *testing.T) {
	t.Parallel()
	strace := straceOrSkip(t)
	y := newYard(t, []string{"go", "git", "npm", "make", "rm", "zap", "evil"}, usualPrograms())
	modes := map[Mode]*Policy{}
	for _, m := range []Mode{AskFirst, Edits, Auto} {
		modes[m] = yardPolicy(t, y, m)
	}
	g := newJudgedLines(t)
	g.Rand = rand.New(rand.NewPCG(effort.Seed(t, 1), 9)) // other lines than those of the test without a tracer
	counts := map[Mode]int{}
	var batch []tracedLine
	long := effort.Is(effort.Long)
	for range effort.Rounds(bashLines, 2*bashLines, 50*bashLines) {
		l, ok := allowedLine(t, modes, g.next())
		if !ok {
			continue
		}
		counts[l.mode]++
		if !long && (len(batch) == tracedShort || (counts[AskFirst]+counts[Edits])%4 > 0) {
			continue
		}
		if batch = append(batch, l); len(batch) == tracedBatch {
			y.trace(t, strace, batch)
			batch = batch[:0]
		}
	}
	y.trace(t, strace, batch)
	t.Logf("lines allowed, by the most careful mode: %v", counts)
	if counts[AskFirst] < bashLines/40 || counts[Edits] == 0 {
		t.Error("too few lines were allowed to say anything")
	}
}

// yardPolicy has the rules that permittedStub knows, in the yard.
func yardPolicy(t *testing.T, y *yard, m Mode) *Policy {
	p := newPolicy(t, m, nil, "allow execute(go test **)", "allow execute(npm run {test,lint} **)", "allow execute(make)", "allow execute(git commit **)",
		"allow execute(rm -f **)", "deny read(keep.txt)", "deny write(keep.txt)")
	p.options.Paths, p.options.Home, p.options.Files = onDisk{y.work}, y.root+"/home", diskFiles{}
	return p
}

// allowedLine judges a line in every mode. Auto without a sandbox is edits, to the letter; what ask
// allows, edits allows in the same way.
func allowedLine(t *testing.T, modes map[Mode]*Policy, line string) (tracedLine, bool) {
	t.Helper()
	need := tool.Need{Permission: tool.Execute, Target: line, Sandboxed: true}
	ask, edits, auto := modes[AskFirst].judge(AskFirst, need), modes[Edits].judge(Edits, need), modes[Auto].judge(Auto, need)
	if edits.effect != auto.effect || !reflect.DeepEqual(edits.run, auto.run) {
		t.Errorf("%q: edits says %s, auto without a sandbox %s", line, edits.effect, auto.effect)
	}
	l := tracedLine{text: line, mode: Edits, v: edits}
	if ask.effect == Allow {
		l.mode, l.v = AskFirst, ask
		if !reflect.DeepEqual(ask.run, edits.run) {
			t.Errorf("%q runs in another way in mode ask (%+v) than in edits (%+v)", line, ask.run, edits.run)
		}
	}
	return l, l.v.effect == Allow
}

// trace runs lines as they were written down and as they stand, and compares what each did with
// what was read. Where a process id came twice, which a busy machine brings about, the traces of
// two processes are one: then it does so by halves.
func (y *yard) trace(t *testing.T, strace string, lines []tracedLine) {
	t.Helper()
	var forms []tracedLine
	for _, l := range lines {
		run := l
		if run.argv = l.v.run.Argv; run.argv == nil {
			run.argv = []string{y.bash, "--noprofile", "--norc", "-c", l.v.run.Script}
		}
		l.argv = []string{y.bash, "--noprofile", "--norc", "-c", l.text}
		forms = append(forms, run, l)
	}
	done, whole := y.record(t, strace, forms)
	for tries := 0; !whole && len(lines) == 1; tries++ {
		if tries == 20 {
			t.Fatalf("%q was not seen to run", lines[0].text)
		}
		done, whole = y.record(t, strace, forms)
	}
	if !whole {
		y.trace(t, strace, lines[:len(lines)/2])
		y.trace(t, strace, lines[len(lines)/2:])
		return
	}
	for i, l := range forms {
		printed, err := os.ReadFile(filepath.Join(y.root, "out", fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		y.compare(t, l, i%2 == 0, done[i], string(printed))
	}
}

// record runs forms of lines under strace; if false, not every one of them can be told apart.
func (y *yard) record(t *testing.T, strace string, forms []tracedLine) (done map[int][]doing, whole bool) {
	t.Helper()
	for _, dir := range []string{"out", "tmp", "trace"} {
		if err := os.RemoveAll(filepath.Join(y.root, dir)); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(y.root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	driver := filepath.Join(y.root, "driver")
	if err := os.WriteFile(driver, []byte(y.driver(forms)), 0o600); err != nil {
		t.Fatal(err)
	}
	calls := "execve,execveat,open,openat,creat,mkdir,mkdirat,mknod,mknodat,unlink,unlinkat,rmdir,rename,renameat,renameat2,link,linkat,symlink,symlinkat," +
		"chmod,fchmodat,chown,lchown,fchownat,truncate,utimensat,setxattr,lsetxattr,chdir,fchdir,clone,clone3,fork,vfork"
	cmd := exec.Command(strace, "-ff", "-z", "--seccomp-bpf", "-y", "-xx", "-s", "100000", "-e", "trace="+calls, "-o", filepath.Join(y.root, "trace", "of"), y.bash, "--noprofile", "--norc", driver)
	cmd.Env = []string{"PATH=" + y.bin, "HOME=" + y.root + "/home", "LC_CTYPE=C.UTF-8", "X=zap", "SHELL=/bin/sh", "V=../outside/o.txt", "TMPDIR=" + y.root + "/tmp"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.500s", err, out)
	}
	if done, whole = readTrace(t, y.root); !whole {
		return nil, false
	}
	for i := range forms {
		whole = whole && len(done[i]) > 0
	}
	return done, whole
}

// driver is a script that runs each form in the tree as it was, with a mark in its environment.
func (y *yard) driver(forms []tracedLine) string {
	var b strings.Builder
	q := func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
	fmt.Fprintf(&b, "cd %s; /bin/rm -rf keep; /bin/mkdir keep; /bin/cp -a work home outside keep/; cd work\n", q(y.root))
	for i, l := range forms {
		for _, set := range l.v.run.Env {
			name, value, _ := strings.Cut(set, "=")
			b.WriteString(name + "=" + q(value) + " ")
		}
		b.WriteString(timeoutProgram() + " -s KILL 2")
		for _, word := range l.argv {
			b.WriteString(" " + q(word))
		}
		fmt.Fprintf(&b, " </dev/null >%s 2>&1\n", q(fmt.Sprint(y.root, "/out/", i))) // by which the trace knows the line
		for _, path := range l.v.written {                                           // all else that changes files is a stub
			if rel, ok := strings.CutPrefix(path, y.root+"/"); ok {
				kept := q(y.root + "/keep/" + rel)
				fmt.Fprintf(&b, "/bin/rm -rf %s; [ ! -e %s ] || /bin/cp -a %s %s\n", q(path), kept, kept, q(path))
			}
		}
	}
	return b.String() + "exit 0\n" // not that of the last line
}

func timeoutProgram() string {
	path, _ := exec.LookPath("timeout") // straceOrSkip has found it
	return path
}

// compare reports what a line did and its reading did not tell.
func (y *yard) compare(t *testing.T, l tracedLine, writtenDown bool, did []doing, printed string) {
	t.Helper()
	form := "as it stands"
	if writtenDown {
		form = written
	}
	told := y.predicted(t, l.text)
	for _, d := range did {
		switch {
		case d.program && d.path == y.bash && slices.Equal(d.argv, l.argv), d.program && d.path == timeoutProgram():
		case d.program && !writtenDown && slices.Equal(d.argv, []string{"cat"}): // of a quoted text, which is written down without it
		case d.program && filepath.Dir(d.path) != y.bin || d.program && !told[filepath.Base(d.path)]:
			t.Errorf("%q, %s, was allowed in mode %s and ran %s %q; told were %v", l.text, form, l.mode, d.path, d.argv, told)
		case d.program && isStub(d.path) && !permittedStub(append([]string{filepath.Base(d.path)}, d.argv[1:]...)):
			t.Errorf("%q, %s, was allowed in mode %s and ran %q", l.text, form, l.mode, d.argv)
		case d.program, y.mayWrite(d, l):
		default:
			t.Errorf("%q, %s, was allowed in mode %s and wrote %s (%s by %s); told were %q", l.text, form, l.mode, d.path, d.call, d.by, l.v.written)
		}
	}
	if strings.Contains(printed, canary) && (writtenDown || !apart(l.v)) {
		t.Errorf("%q, %s, was allowed in mode %s and printed %.300q", l.text, form, l.mode, printed)
	}
}

// mayWrite allows what was told, the log of a stub, and what holds nothing.
func (y *yard) mayWrite(d doing, l tracedLine) bool {
	switch {
	case slices.Contains(l.v.written, d.path):
		return true
	case d.path == "/dev/null" || d.path == "/dev/tty" || strings.HasPrefix(d.path, "pipe:") || strings.HasPrefix(d.path, y.root+"/out/"):
		return true
	case d.path == y.bin+".log":
		return isStub(d.by)
	}
	return strings.HasPrefix(d.path, y.root+"/tmp/") // what a program writes for itself, of a name that nobody knows before
}

func isStub(path string) bool {
	return slices.Contains([]string{"go", "git", "npm", "make", "rm", "zap", "evil"}, filepath.Base(path))
}

// predicted are the programs that the reading finds in a line.
func (y *yard) predicted(t *testing.T, line string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	c := read(line, "")
	if c.refused != nil {
		t.Fatal(c.refused)
	}
	p := yardPolicy(t, y, Edits)
	s, err := p.script(c, p.dirOf("."))
	if err != nil {
		t.Fatalf("%q was allowed and is not read: %v", line, err)
	}
	for _, step := range s.Steps {
		for words := step.Words; len(words) > 0 && step.Enter == ""; {
			out[filepath.Base(words[0].Text)] = true
			runsBehind(words, out)
			inner, wrapped := behindWrapper(words)
			if !wrapped {
				break
			}
			words = inner
		}
	}
	return out
}

// runsBehind adds what find is told to run.
func runsBehind(words []script.Word, out map[string]bool) {
	for i := 1; i < len(words); i++ {
		if before := words[i-1].Text; before == "-exec" || before == "-execdir" {
			if name, ok := words[i].Text, words[i].Known; ok {
				out[filepath.Base(name)] = true
			}
		}
	}
}
