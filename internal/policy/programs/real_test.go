package programs

import (
	"context"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/policy/script"
	"adze/internal/testkit/effort"
)

// What the table calls harmless is run here with the real programs, in a tree, under strace:
// options of the table and of each program's own help, in any number and order, with words that
// somebody would try who wants more. No other program may start, no file may be opened for writing
// that was not predicted, none of the tree read that was not.
//
//	ADZE_TESTS=long ADZE_SEED=7 go test -timeout 2h -run RealPrograms ./internal/policy/programs

const usualRuns = 150

// tree is a workspace with a repository, and a folder beside it.
func plantTree(t *testing.T) (work string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work = filepath.Join(root, "work")
	for name, text := range map[string]string{
		"work/a.txt": "b\na\nc 1\n", "work/b.txt": "a\nb\n", "work/n.json": `{"a":1}`, "work/sub/c.txt": "c\n", "work/sub/.env": "S=1\n", "work/.env": "S=1\n",
		"work/names": "outside\x00", "work/list": "../outside/o.txt\n", "outside/o.txt": "o\n", "work/x.zip": "PK",
		"outside/b.gz": "b", "outside/k.go": "package k\n", "outside/z.zip": "PK", "work/d1/z.txt": "z\n", "work/d2/o.txt": "2\n", "work/d2/k.go": "package k\n", "work/pk/p.go": "package pk\n", "work/+5/a.txt": "5\n",
		"work/s/a/b/w out": "", "work/1/system(\"id\")": "",
	} {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"work/l.txt": "../outside/o.txt", "work/d1/o.txt": "../../outside/o.txt", "work/d1/k.go": "../../outside/k.go",
		"work/notes.gz": "../outside/b.gz", "work/old.zip": "../outside/z.zip", "work/out": "../outside", "work/pk/k.go": "../../outside/k.go"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}, {"tag", "v1"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = work
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skip("git: ", string(out))
		}
	}
	return work
}

// combiner makes commands of one program.
type combiner struct {
	*rand.Rand
	head    []string
	options []string
}

func (c combiner) pick(from []string) string { return from[c.IntN(len(from))] }

func (c combiner) command() []string {
	out := slices.Clone(c.head)
	values := strings.Fields("1 a.txt b.txt sub . out.txt -o -w x=y HEAD v1 a , %s ../outside/o.txt list names .env sub/.env n.json + +1 -- ; {} json HEAD:.env :a.txt 3,4 s/a/b/ 1p $1 {print} .a *.txt /dev/null @list --output=out.txt l.txt d1 d2 notes old out out/o.txt pk ./pk ./out ../outside k.go d1/k.go s/a/b/ 1/ +5 -exec {} sed awk cat %n PATH")
	for range c.IntN(5) {
		switch o := c.pick(c.options); c.IntN(6) {
		case 0:
			out = append(out, c.pick(values))
		case 1:
			out = append(out, o+c.pick(values))
		case 2:
			out = append(out, o, c.pick(values))
		case 3:
			out = append(out, strings.TrimSuffix(o, "=")+"="+c.pick(values))
		case 4:
			if other := c.pick(c.options); len(o) == 2 && len(other) == 2 {
				o += other[1:]
			}
			out = append(out, o)
		default:
			out = append(out, o)
		}
	}
	for range c.IntN(3) {
		out = append(out, c.pick(values))
	}
	return out
}

// optionsOf are the options of an entry, and those that the program's help names.
func optionsOf(head []string, p *program) []string {
	out := slices.Sorted(maps.Keys(p.options))
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	args := append(slices.Clone(head[1:]), "--help")
	if head[0] == "git" {
		args[len(args)-1] = "-h"
	}
	help, _ := exec.CommandContext(ctx, head[0], args...).CombinedOutput()
	for _, m := range regexp.MustCompile(`(?m)(?:^|[\s,|\[])(--?[A-Za-z0-9][A-Za-z0-9-]*)`).FindAllStringSubmatch(string(help), 400) {
		out = append(out, m[1])
	}
	return append(out, "-x", "--files0-from", "-i", "-o", "-w", "-e", "-f", "-z", "-c")
}

func TestRealProgramsDoNoMoreThanTheTableSays(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	work := plantTree(t)
	before := treeOf(work)
	r := rand.New(rand.NewPCG(effort.Seed(t, 1), 1))
	var programs []combiner
	for _, name := range slices.Sorted(maps.Keys(tabled())) {
		head := strings.Fields(name)
		if _, err := exec.LookPath(head[0]); err != nil || tabled()[name].changes || slices.Contains([]string{"type", "command", "clear", "sleep", "."}, head[0]) {
			continue
		}
		programs = append(programs, combiner{r, head, optionsOf(head, tabled()[name])})
	}
	ran := 0
	for most := effort.Rounds(usualRuns/2, usualRuns, 20_000); ran < most; {
		words := programs[r.IntN(len(programs))].command()
		given := make([]script.Word, len(words))
		for i, w := range words {
			given[i] = script.Literal(w)
		}
		use, ok := Judge(given)
		if !ok {
			continue
		}
		ran++
		watch(t, strace, work, use)
		if after := treeOf(work); !maps.Equal(before, after) {
			t.Fatalf("%q changed the tree: %v", use.Words, after)
		}
	}
	for _, line := range knownTricks() {
		if use, ok := Judge(words(strings.Fields(line)...)); ok {
			watch(t, strace, work, use)
		}
	}
	t.Logf("%d commands of %d programs", ran, len(programs))
}

// knownTricks are commands that once did more than the table said, or nearly did.
func knownTricks() []string {
	return strings.Split("diff d1 d2|diff -r d1 d2|diff -rq d1 d2|zcat notes|unzip -l old|unzip -l *.zip|gofmt -d .|gofmt -l d1|go doc -src ./out|go doc -all -src ../outside|"+
		"go doc -src ../outside.x|go list ./out|find s/a/b/ -exec sed -n {} a.txt ;|find 1/ -exec awk {} a.txt ;|find +5 -exec tail {} ;|grep -r o .|grep -R o .|rg -L o d1|find . -exec cat {} ;", "|")
}

func treeOf(dir string) map[string]string {
	out := map[string]string{}
	_ = filepath.WalkDir(filepath.Dir(dir), func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(at)
			out[at] = string(text)
		} else if err == nil {
			out[at] = d.Type().String()
		}
		return nil
	})
	return out
}

// watch runs a command and reports what it did beyond what was predicted.
func watch(t *testing.T, strace, work string, use Use) {
	t.Helper()
	if slices.ContainsFunc(use.Accesses, func(a Access) bool { return a.Kind == Write }) {
		return // its files are the caller's to judge
	}
	log := filepath.Join(t.TempDir(), "log")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, strace, append([]string{"-f", "-qq", "-y", "-o", log, "-e", "trace=execve,execveat,open,openat,openat2,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,symlink,symlinkat,truncate,chmod,fchmodat,sethostname,settimeofday,clock_settime,kill,connect"}, use.Words...)...)
	cmd.Dir, cmd.WaitDelay = work, time.Second
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat")
	_ = cmd.Run()
	data, _ := os.ReadFile(log)
	execs := 0
	for line := range strings.Lines(string(data)) {
		_, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		call = strings.TrimSpace(call)
		name, _, _ := strings.Cut(call, "(")
		failed := strings.Contains(call, ") = -1 ") || strings.Contains(call, "ENOENT")
		switch {
		case failed, strings.HasPrefix(call, "???"), strings.HasPrefix(call, "---"), strings.HasPrefix(call, "+++"), strings.HasPrefix(call, "<..."):
		case name == "execve" || name == "execveat":
			if execs++; execs > 1 && !(use.Words[0] == "find" && strings.Contains(call, "bin/"+inner(use.Words)+"\"")) && !slices.Contains([]string{"zcat", "egrep", "fgrep", "which", "git", "lsof", "go"}, use.Words[0]) {
				t.Errorf("%q started %s", use.Words, call)
			}
		case strings.HasPrefix(name, "open"):
			opened(t, work, use, call)
		case name == "connect" || name == "kill", goTool(use):
		default:
			t.Errorf("%q did %s", use.Words, call)
		}
	}
}

// inner is what find is told to run.
func inner(words []string) string {
	if at := slices.Index(words, "-exec"); at >= 0 && at+1 < len(words) {
		return words[at+1]
	}
	return "?"
}

// goTool reports the toolchain of Go, which keeps counts and built things of its own.
func goTool(use Use) bool { return oneOf(use.Words[0], "go", "gofmt") }

// predicted reports that a file is one that an access leads to, through links too where it says so.
func predicted(work string, a Access, file string) (yes bool) {
	at := a.Path
	if !filepath.IsAbs(at) {
		at = work + "/" + at
	}
	real, err := filepath.EvalSymlinks(at)
	if err != nil || a.Kind == List || a.Kind == Read {
		return err == nil && a.Kind == Read && file == real
	}
	_ = filepath.WalkDir(real, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink != 0 && a.Follow {
			to, _ := filepath.EvalSymlinks(name)
			yes = yes || file == to || !a.Flat && strings.HasPrefix(file, to+"/")
		}
		yes = yes || name == file
		return err
	})
	return yes
}

var openedFile = regexp.MustCompile(`= \d+<([^>]*)>`)

func opened(t *testing.T, work string, use Use, call string) {
	t.Helper()
	m := openedFile.FindStringSubmatch(call)
	if m == nil {
		return
	}
	file := m[1]
	writes := strings.Contains(call, "O_WRONLY") || strings.Contains(call, "O_RDWR") || strings.Contains(call, "O_CREAT")
	if writes && !goTool(use) && !strings.HasPrefix(file, "/dev/") && !strings.HasPrefix(file, "/proc/") && !strings.HasPrefix(file, "/tmp/sort") {
		t.Errorf("%q opened %s for writing", use.Words, file)
	}
	if !strings.HasPrefix(file, filepath.Dir(work)+"/") || strings.Contains(call, "O_DIRECTORY") || strings.HasPrefix(file, work+"/.git/") || strings.HasSuffix(file, "/log") {
		return
	}
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		return
	}
	for _, a := range use.Accesses {
		if predicted(work, a, file) {
			return
		}
	}
	listed := len(use.Words) > 1 && use.Words[0] == "go" && oneOf(use.Words[1], "version", "list") // they tell what a file is, and whom it imports
	if (!use.Git || goTool(use)) && !oneOf(use.Words[0], "df", "find") && !listed {                // df and find open a file to learn what it is; git reads work files to compare them, and shows those that its path patterns let through
		t.Errorf("%q read %s, predicted were %v", use.Words, file, use.Accesses)
	}
}
