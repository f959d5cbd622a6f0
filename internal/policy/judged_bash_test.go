package policy

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/tool"
)

// What runs without a question is run here as bash reads it and as adze wrote it down, in a tree
// with a workspace and what lies around it. Oracles that know nothing of the reader hold: no
// program ran that no rule allows, no file changed that was not predicted, and nothing was printed
// that lies outside.
//
//	ADZE_TESTS=long ADZE_SEED=7 go test -timeout 2h -run JudgedLines ./internal/policy

const (
	canary  = "CANARY-7311"
	written = "as it was written down"
)

// yard is a folder with a workspace, a home folder, and stubs beside the usual programs.
type yard struct {
	stage
	work, bin string
	before    map[string]string
}

// onDisk resolves names as the workspace does: links followed, what does not exist as it stands.
type onDisk struct{ work string }

func (o onDisk) Judge(name string) (Place, error) {
	if !filepath.IsAbs(name) {
		name = o.work + "/" + name
	}
	named := filepath.Clean(name)
	abs := realPath(name)
	place := o.at(abs)
	if abs != named {
		at := o.at(named)
		place.Named = &at
	}
	return place, nil
}

func (o onDisk) at(abs string) Place {
	rel, inside := strings.CutPrefix(abs+"/", o.work+"/")
	return Place{Abs: abs, Rel: filepath.Clean("./" + rel), Outside: !inside, Protected: strings.Contains(abs+"/", "/.git/")}
}

// realPath follows links part by part, as far as there are files.
func realPath(name string) string {
	at := "/"
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			at = filepath.Dir(at)
		default:
			at = filepath.Join(at, part)
			if real, err := filepath.EvalSymlinks(at); err == nil {
				at = real
			}
		}
	}
	return at
}

type diskFiles struct{}

func (diskFiles) Names(abs string) (names []string, err error) {
	entries, err := os.ReadDir(abs)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

func (diskFiles) Walk(abs string, visit fs.WalkDirFunc) error { return filepath.WalkDir(abs, visit) }

func newYard(t *testing.T, stubs, programs []string) *yard {
	t.Helper()
	return newYardIn(t, "", stubs, programs)
}

// newYardIn makes one below a folder; if empty, in that for temporary files.
func newYardIn(t *testing.T, room string, stubs, programs []string) *yard {
	t.Helper()
	s := newStageIn(t, room, stubs, programs)
	real, err := filepath.EvalSymlinks(s.root)
	if err != nil {
		t.Fatal(err)
	}
	s.root, s.dir = real, filepath.Join(real, "work")
	y := &yard{stage: s, work: s.dir, bin: filepath.Join(real, "bin")}
	y.fill(t)
	y.before = y.snapshot(t)
	return y
}

// fill makes the tree anew.
func (y *yard) fill(t *testing.T) {
	t.Helper()
	for _, dir := range []string{y.work, y.root + "/home", y.root + "/outside"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		names, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range names { // not the folder, to which a sandbox is tied
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, text := range map[string]string{
		"work/a.go": "package a\n", "work/b.go": "package b\n", "work/a b": "two words\n", "work/sub/c.go": "package c\n", "work/sub/deep/d.txt": "d\n",
		"work/-rf": "dash\n", "work/--include=x": "x\n", "work/$(zap)": "s\n", "work/;zap": "s\n", "work/names.txt": "a.go\n../outside/o.txt\n-f\n$(zap)\n",
		"work/.env": canary + "\n", "work/keep.txt": canary + "\n", "work/.git/config": "c\n", "work/sub/.env.local": canary + "\n",
		"outside/o.txt": canary + "\n", "home/h.txt": canary + "\n", "home/.ssh/id": canary + "\n", "work/odd/x'y\"z": "q\n", "work/dash/-o": "o\n",
		"work/s/a/b/e": "the flag of sed that runs what it made\n", "work/1/system(\"zap\")": "code for awk\n", "work/0/ls": "#!/bin/sh\nzap\n",
		"outside/" + canary: "a name is told like a text\n", "home/.ssh/" + canary: "k\n", "work/patterns.txt": "*/*\n../outside/*\n~/.ssh/*\n[a]*.go\nlink/*\n",
	} {
		name = filepath.Join(y.root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"work/link": "../outside", "work/sub/out.txt": "../../outside/o.txt", "work/in": "sub", "work/odd/away": "../../outside/o.txt",
		"work/far": "sub/deep", "work/lost": "../nowhere"} {
		if err := os.Symlink(to, filepath.Join(y.root, link)); err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot is every file with its text, links as where they lead.
func (y *yard) snapshot(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"work", "home", "outside"} {
		_ = filepath.WalkDir(filepath.Join(y.root, dir), func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				out[at] = err.Error()
			case d.Type()&fs.ModeSymlink != 0:
				out[at], _ = os.Readlink(at)
			case d.IsDir():
				out[at] = "folder"
			default:
				text, _ := os.ReadFile(at)
				out[at] = string(text)
			}
			return nil
		})
	}
	return out
}

// try runs a line, and tells the stubs that ran, the files that changed and what was printed.
func (y *yard) try(t *testing.T, argv, env []string) (calls [][]string, changed []string, printed string) {
	t.Helper()
	ctx, cancel := contextWithTimeout(t, bashTime)
	defer cancel()
	*y.lines++
	bin := filepath.Join(y.root, fmt.Sprint("bin", *y.lines))
	if err := os.Symlink("bin", bin); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(argv[0], "/") {
		argv = append([]string{filepath.Join(bin, argv[0])}, argv[1:]...)
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = y.work
	cmd.Env = append([]string{"PATH=" + bin, "HOME=" + y.root + "/home", "LC_ALL=C.UTF-8", "X=zap", "SHELL=/bin/sh", "V=../outside/o.txt"}, env...)
	cmd.WaitDelay = time.Second
	endGroup(cmd)
	out, _ := cmd.CombinedOutput()
	raw, _ := os.ReadFile(bin + ".log")
	for call := range strings.SplitSeq(string(raw), "\x02\x01") {
		if call != "" {
			calls = append(calls, strings.Split(strings.TrimSuffix(call, "\x01"), "\x01"))
		}
	}
	_ = os.Remove(bin + ".log")
	_ = os.Remove(bin)
	after := y.snapshot(t)
	for at := range after {
		if before, was := y.before[at]; !was || before != after[at] {
			changed = append(changed, at)
		}
	}
	for at := range y.before {
		if _, is := after[at]; !is {
			changed = append(changed, at)
		}
	}
	if len(changed) > 0 {
		y.fill(t)
	}
	return calls, changed, string(out)
}

// permittedStub says, apart from the code under test, what the rules of
// TestJudgedLinesDoWhatWasRead allow.
func permittedStub(argv []string) bool {
	if len(argv) > 3 && argv[0] == "git" && argv[1] == "-C" {
		argv = append([]string{"git"}, argv[3:]...)
	}
	starts := func(words ...string) bool { return len(argv) >= len(words) && slices.Equal(argv[:len(words)], words) }
	switch {
	case starts("go", "test"), starts("npm", "run", "test"), starts("npm", "run", "lint"), slices.Equal(argv, []string{"make"}), starts("rm", "-f"):
		return true
	case starts("git", "commit"), starts("git", "status"), starts("git", "log"), starts("git", "show", "HEAD"), starts("git", "diff"):
		return true
	}
	if starts("git", "branch") {
		if argv[len(argv)-1] == "--" { // behind which no name follows
			argv = argv[:len(argv)-1]
		}
		return !slices.ContainsFunc(argv[2:], func(w string) bool { return !slices.Contains([]string{"-a", "-v", "-r", "-i", "--list"}, w) })
	}
	// Of git, only what looks may come with the options that keep it to that.
	return len(argv) > 1 && argv[0] == "git" && slices.Contains([]string{"status", "log", "diff", "show", "ls-files"}, argv[1]) && !slices.ContainsFunc(argv, func(w string) bool {
		return strings.HasPrefix(w, "--output") || w == "--ext-diff" || w == "-O"
	})
}

func usualPrograms() []string {
	return strings.Fields("ls cat head tail wc grep sort uniq cut tr tee find sed awk date basename dirname xargs env timeout nice nohup seq diff stat " +
		"sha256sum nl tac cmp comm du realpath readlink sleep true false sh bash mkdir touch cp mv ln chmod dd perl python3")
}

func TestJudgedLinesDoWhatWasRead(t *testing.T) {
	t.Parallel()
	y := newYard(t, []string{"go", "git", "npm", "make", "rm", "zap", "evil"}, usualPrograms())
	p := newPolicy(t, Edits, nil, "allow execute(go test **)", "allow execute(npm run {test,lint} **)", "allow execute(make)", "allow execute(git commit **)",
		"allow execute(rm -f **)", "deny read(keep.txt)", "deny write(keep.txt)")
	p.options.Paths, p.options.Home, p.options.Files = onDisk{y.work}, y.root+"/home", diskFiles{}
	g := newJudgedLines(t)
	ran, forms := 0, map[string]int{}
	for range effort.Rounds(bashLines, 2*bashLines, 50*bashLines) / 2 {
		line := g.next()
		v := p.judge(Edits, tool.Need{Permission: tool.Execute, Target: line})
		if v.effect != Allow {
			continue
		}
		ran++
		argv := v.run.Argv
		if argv == nil {
			argv = []string{y.bash, "--noprofile", "--norc", "-c", v.run.Script}
			forms["script"]++
		} else {
			forms["argv"]++
		}
		y.holds(t, line, written, v, argv)
		y.holds(t, line, "as it stands", v, []string{y.bash, "--noprofile", "--norc", "-c", line})
	}
	t.Logf("%d lines allowed and run, %v", ran, slices.Sorted(maps.Keys(forms)))
	if ran < bashLines/20 {
		t.Error("too few lines were allowed to say anything")
	}
}

// holds runs one form of a line and reports what it should not have done.
func (y *yard) holds(t *testing.T, line, form string, v verdict, argv []string) {
	t.Helper()
	calls, changed, printed := y.try(t, argv, v.run.Env)
	for _, call := range calls {
		if !permittedStub(call) {
			t.Errorf("%q, %s, was allowed and ran %q", line, form, call)
		}
	}
	for _, at := range changed {
		if !slices.ContainsFunc(v.written, func(made string) bool { return made == at }) {
			t.Errorf("%q, %s, was allowed and changed %s; predicted were %q", line, form, at, v.written)
		}
	}
	if strings.Contains(printed, canary) && (form == written || !apart(v)) {
		t.Errorf("%q, %s, was allowed and printed %.300q", line, form, printed)
	}
}

// apart reports what says as it stands what it would not say when it runs: it runs with options
// that leave secrets out, or in a shell that puts no file names in for what it has split.
func apart(v verdict) bool {
	return strings.Contains(v.run.Script+strings.Join(v.run.Argv, " "), "--exclude=.env") || strings.HasPrefix(v.run.Script, "set -f; ")
}
