package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
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

// What bash runs is compared with what the policy read. Lines are made (bash_lines_test.go) and
// judged by the real policy; what it allows runs under the real bash, where every program is a stub
// that writes down how it was started.
//
//	ADZE_TESTS=long ADZE_SEED=7 go test -timeout 2h -run RealBash ./internal/policy
const (
	bashLines = 1000
	bashTime  = time.Second // a line that waits has run all it will
)

// stage is a folder to run lines in, with stubs on its PATH beside the real wrappers.
type stage struct {
	bash, root, dir string
	lines           *int
}

func newStage(t *testing.T, stubs, wrappers []string) stage {
	t.Helper()
	return newStageIn(t, "", stubs, wrappers)
}

func newStageIn(t *testing.T, room string, stubs, wrappers []string) stage {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	root, err := os.MkdirTemp(room, "bash") // not of the test: what a line left running may still write there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	s := stage{bash, root, filepath.Join(root, "work"), new(int)}
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{s.dir, bin} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range stubs {
		// One write, so that those of a pipeline do not mix.
		script := "#!/bin/sh\nprintf '%s\\001' " + name + " \"$@\" '\x02' >>\"${0%/*}.log\"\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range wrappers {
		if path, err := exec.LookPath(name); err == nil {
			if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// run gives a line to bash as the tool does, and returns the programs that ran and the files it
// left. Each line has a PATH of its own, so that what an earlier one left running is not taken for
// its doing.
func (s stage) run(t *testing.T, line string) (argvs [][]string, files []string) {
	t.Helper()
	ctx, cancel := contextWithTimeout(t, bashTime)
	defer cancel()
	*s.lines++
	bin := filepath.Join(s.root, fmt.Sprint("bin", *s.lines))
	if err := os.Symlink("bin", bin); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, s.bash, "--noprofile", "--norc", "-c", line)
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + bin, "HOME=" + s.dir, "LC_ALL=C.UTF-8", "X=zap", "SHELL=/bin/sh"}
	cmd.WaitDelay = time.Second
	endGroup(cmd)
	_, _ = cmd.CombinedOutput() // also waits for what runs in the background, which holds the pipe
	raw, err := os.ReadFile(bin + ".log")
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for call := range strings.SplitSeq(string(raw), "\x02\x01") {
		if call != "" {
			argvs = append(argvs, strings.Split(strings.TrimSuffix(call, "\x01"), "\x01"))
		}
	}
	_ = os.Remove(bin + ".log")
	_ = os.Remove(bin)
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files = append(files, e.Name())
		_ = os.RemoveAll(filepath.Join(s.dir, e.Name()))
	}
	return argvs, files
}

// permitted says, apart from the code under test, what the rules of
// TestRealBashRunsOnlyWhatRulesAllow allow.
func permitted(argv []string) bool {
	starts := func(words ...string) bool { return len(argv) >= len(words) && slices.Equal(argv[:len(words)], words) }
	switch {
	case starts("ls"), starts("go", "test"), starts("git", "status"), starts("npm", "run", "test"), starts("npm", "run", "lint"):
		return true
	case starts("grep"):
		return len(argv) > 1
	case starts("wc"), starts("date"): // which only look
		return !slices.ContainsFunc(argv, func(w string) bool { return strings.HasPrefix(w, "-s") || strings.HasPrefix(w, "--") && w != "--" })
	case starts("git", "log"), starts("git", "diff"), starts("git", "branch"), starts("go", "version"), starts("go", "list"), starts("go", "env"):
		return true
	}
	return slices.Equal(argv, []string{"go", "vet", "./..."}) || slices.Equal(argv, []string{"wc", "-l"})
}

func TestRealBashRunsOnlyWhatRulesAllow(t *testing.T) {
	t.Parallel()
	s := newStage(t, []string{"ls", "go", "git", "npm", "grep", "wc", "zap", "evil", "date"}, []string{"timeout", "nice", "nohup", "env", "xargs", "sh", "time"})
	p := newPolicy(t, AskFirst, nil, "allow execute(ls **)", "allow execute(go test **)", "allow execute(go vet ./...)", "allow execute(git status **)",
		"allow execute(npm run {test,lint} **)", "allow execute(grep * **)", "allow execute(wc -l)", "allow execute(echo **)", "allow execute(printf **)",
		"allow execute(test **)", "allow execute(true)", "deny execute(zap **)")
	g := newLines(t, []string{"ls", "ls -l", "go test ./...", "go vet ./...", "git status", "npm run test", "npm run lint -- x", "grep a b", "wc -l",
		"echo a", "printf x", "true", "timeout 5 ls", "nice ls", "nohup ls -l", "test -f x"}, 1)
	ran := 0
	for range effort.Rounds(bashLines, 2*bashLines, 50*bashLines) / 2 {
		line := g.next()
		v := p.judge(AskFirst, tool.Need{Permission: tool.Execute, Target: line})
		if v.effect != Allow {
			continue
		}
		ran++
		argvs, files := s.run(t, line)
		for _, argv := range argvs {
			if !permitted(argv) {
				t.Errorf("%q was allowed and ran %q", line, argv)
			}
		}
		if len(files) > 0 {
			t.Errorf("%q was allowed and left %q", line, files)
		}
	}
	t.Logf("%d lines allowed and run", ran)
	if ran < bashLines/20 {
		t.Error("too few lines were allowed to say anything")
	}
}

// forbiddenCall says, apart from the code under test, what the rules of
// TestRealBashRunsNothingDenied deny.
func forbiddenCall(argv []string) bool {
	if argv[0] != "git" {
		return argv[0] == "zap"
	}
	for i := 1; i < len(argv); i++ {
		switch {
		case slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source"}, argv[i]):
			i++ // its value: git(1)
		case !strings.HasPrefix(argv[i], "-") || argv[i] == "-":
			return argv[i] == "push"
		}
	}
	return false
}

func TestRealBashRunsNothingDenied(t *testing.T) {
	t.Parallel()
	s := newStage(t, []string{"ls", "go", "git", "npm", "zap", "date"}, []string{"timeout", "nice", "nohup", "env", "xargs", "sh", "bash", "time", "find", "flock",
		"script", "setpriv", "setarch", "prlimit", "choom", "stdbuf", "setsid", "ionice", "taskset", "chrt", "awk", "sed", "tar", "sort", "split", "cat", "parallel", "watch", "perl"})
	p := newPolicy(t, Yolo, nil, "deny execute(zap **)", "deny execute(git push **)")
	g := newLines(t, []string{"ls", "zap", "zap x", "zap", "git push", "zap", "git -C . push", "git status", "echo a", "X=1 ls"}, 2)
	told := map[Effect]int{}
	var idle int // denied, and would have run nothing denied: too careful, or harmless
	for range effort.Rounds(bashLines, 2*bashLines, 50*bashLines) / 2 {
		line := g.next()
		v := p.judge(Yolo, tool.Need{Permission: tool.Execute, Target: line})
		told[v.effect]++
		if v.effect == Deny && told[Deny] > 200 { // so many show that the lines are worth something
			continue
		}
		argvs, _ := s.run(t, line)
		bad := slices.IndexFunc(argvs, forbiddenCall)
		switch {
		case v.effect == Deny && bad < 0:
			idle++
		case v.effect != Deny && bad >= 0:
			t.Errorf("%q was not denied and ran %q", line, argvs[bad])
		}
	}
	t.Logf("%v; of the first 200 denied ones, %d run nothing denied", told, idle)
	if told[Allow] < bashLines/20 || idle > 150 {
		t.Error(fmt.Sprint("the lines say too little: ", maps.Collect(maps.All(told)), idle))
	}
}

func newLines(t *testing.T, commands []string, seed uint64) *lineMaker {
	n := effort.Seed(t, 1)
	return &lineMaker{Rand: rand.New(rand.NewPCG(n, seed)), commands: commands, plain: seed == 1}
}
