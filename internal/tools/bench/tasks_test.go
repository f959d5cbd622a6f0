//go:build unix

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/creack/pty"

	"adze/internal/testkit/effort"
)

// task is a piece of work as a current model does it: what stands in the folder, and its calls one
// by one. They are written, so that every program that is measured is asked the same.
type task struct {
	name  string
	files map[string]string
	plan  []call
	// most is how many questions are too many, by mode.
	most map[string]int
}

type call struct{ tool, args string }

func bash(command, what string) call {
	return call{"bash", object(map[string]any{"command": command, "description": what})}
}

func edit(path, old, next string) call {
	return call{"edit", object(map[string]any{"path": path, "old_string": old, "new_string": next})}
}

func read(path string) call { return call{"read", object(map[string]any{"path": path})} }

func object(fields map[string]any) string {
	raw, err := json.Marshal(fields)
	if err != nil {
		panic(err) // strings and numbers encode
	}
	return string(raw)
}

// stubs are programs of which only the output matters here: building and testing is not what is
// measured.
const stubs = `#!/bin/sh
case "$(basename "$0") $1" in
"go test") if grep -q 'len(values)%2' median.go 2>/dev/null; then echo 'ok  	tally	0.004s'; else printf -- '--- FAIL: TestMedian (0.00s)\n    median_test.go:9: got 3, want 2.5\nFAIL\nFAIL	tally	0.004s\n'; exit 1; fi ;;
"go vet"|"go build") ;;
"go list") echo tally ;;
"make "*) i=0; while [ $i -lt 4000 ]; do echo "cc -O2 -Wall -c src/unit$i.c -o obj/unit$i.o"; i=$((i+1)); done
  if grep -q 'int total' src/unit1907.c; then echo 'linking app'; else echo 'src/unit1907.c:4:10: error: total undeclared (first use in this function)'; exit 2; fi ;;
esac
`

func tasks() []task { return []task{fixABug(), renameEverywhere(), longBuildLog()} }

func fixABug() task {
	const wrong = "package tally\n\n// Median is the middle value.\nfunc Median(values []float64) float64 {\n\treturn values[len(values)/2]\n}\n"
	return task{
		name: "fix a bug",
		files: map[string]string{
			"go.mod": "module tally\n\ngo 1.24\n", "README.md": "# tally\n", "median.go": wrong,
			"median_test.go": "package tally\n\nimport \"testing\"\n\nfunc TestMedian(t *testing.T) {\n\tif got := Median([]float64{2, 3}); got != 2.5 {\n\t\tt.Fatalf(\"got %v, want 2.5\", got)\n\t}\n}\n",
		},
		plan: []call{
			bash("pwd && ls -la", "Look at the folder"),
			bash("git status --short && git log --oneline -5", "Check the state of the repository"),
			bash("cat go.mod README.md", "Read the basics"),
			bash("go test ./... 2>&1 | tail -20", "Run the tests"),
			{"grep", object(map[string]any{"pattern": "func Median"})},
			edit("median.go", "return values[len(values) / 2]", "return 0"), // not as it stands there, and not read
			read("median.go"),
			bash("sed -n '1,12p' median_test.go", "Read the test"),
			edit("median.go", "\treturn values[len(values)/2]\n", "\tif n := len(values); len(values)%2 == 0 {\n\t\treturn (values[n/2-1] + values[n/2]) / 2\n\t}\n\treturn values[len(values)/2]\n"),
			bash("go vet ./... && go test ./...", "Check and test"),
			bash("go test -run TestMedian -v ./...", "Run the one test"),
			bash("git diff --stat && git diff", "Look at the change"),
			bash("git add -A && git commit -m \"$(cat <<'EOF'\nTake the mean of the two middle values\n\nOf an even number of values the median is between two.\nEOF\n)\"", "Commit"),
			bash("git log --oneline | head -3", "Check the commit"),
		},
		most: map[string]int{"ask": 5, "edits": 4},
	}
}

func renameEverywhere() task {
	t := task{name: "rename over 20 files", files: map[string]string{"go.mod": "module names\n\ngo 1.24\n"}, most: map[string]int{"ask": 22, "edits": 2}}
	t.plan = []call{
		bash("ls && git status -s", "Look around"),
		bash("grep -rn 'OldName' --include='*.go' . | wc -l", "Count the places"),
		{"grep", object(map[string]any{"pattern": "OldName", "mode": "files"})},
	}
	for i := range 20 {
		name := fmt.Sprintf("pkg/part%02d.go", i)
		t.files[name] = fmt.Sprintf("package pkg\n\n// Part%02d uses OldName.\nfunc Part%02d() string { return OldName() + \"%02d\" }\n", i, i, i)
		t.plan = append(t.plan, read(name),
			call{"edit", object(map[string]any{"path": name, "old_string": "OldName", "new_string": "NewName", "replace_all": true})})
		if i%5 == 4 {
			t.plan = append(t.plan, bash("grep -rl OldName pkg | head", "See what is left"))
		}
	}
	t.plan = append(t.plan,
		bash("grep -rn OldName . --include='*.go' || echo none", "Check that none is left"),
		bash("go build ./... && go vet ./...", "Build"),
		bash("git diff --stat | tail -1", "Count the changes"))
	return t
}

func longBuildLog() task {
	return task{
		name:  "a long build log",
		files: map[string]string{"Makefile": "all:\n\t@true\n", "src/unit1907.c": "/* unit */\nint sum(int a)\n{\n\treturn a + total;\n}\n"},
		plan: []call{
			bash("ls -la; wc -l src/*.c | tail -1", "Look around"),
			bash("make all 2>&1 | tee build.log", "Build"),
			bash("grep -n 'error' build.log | head -20", "Find the errors"),
			bash("wc -l build.log && tail -5 build.log", "Look at the end of the log"),
			bash("sed -n '3995,4001p' build.log", "Look around the error"),
			bash("cat src/unit1907.c", "Read the unit"),
			edit("src/unit1907.c", "\treturn a + totals;\n", "\tint total = 0;\n"), // not there
			read("src/unit1907.c"),
			edit("src/unit1907.c", "\treturn a + total;\n", "\tint total = 0;\n\treturn a + total;\n"),
			bash("make all > build.log 2>&1; echo exit $?; tail -3 build.log", "Build again"),
			bash("git diff -- src | head -40", "Look at the change"),
			bash("rm build.log && git status --short", "Clean up"),
		},
		most: map[string]int{"ask": 5, "edits": 3},
	}
}

// asking is one run of a task: how often the user was asked, and what was sent.
type asking struct {
	questions int
	bytes     int64
	requests  int64
}

// question is a printed one; the row after it names the answers.
var (
	question = regexp.MustCompile(`(?m)^(?:Run|Edit|Read|Open|Allow) .*\?\r?$`)
	answers  = regexp.MustCompile(`(?m)^y allows it once.*why:\r?$`)
	tooSoon  = regexp.MustCompile(`(?m)^This came too soon`)
)

// work runs a task in the interface of lines, with a user who allows everything for as long as that
// is offered.
func work(t *testing.T, binary string, of task, mode string) asking {
	t.Helper()
	var plan []string
	for _, c := range of.plan {
		plan = append(plan, object(map[string]any{"name": c.tool, "arguments": c.args}))
	}
	server := newInstant(t, plan...)
	r := newRunner(t, server)
	lay(t, r, of)
	cmd := r.command("adze", "--plain", "--permission-mode", mode, "--model", "openai/m", of.name)
	if binary != "" {
		cmd.Path, cmd.Args[0] = binary, binary
	}
	cmd.Env = append(cmd.Env, "TERM=dumb", "PATH="+filepath.Join(r.home, "bin")+":"+os.Getenv("PATH"), "HOME="+r.home,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	defer f.Close()
	var a asking
	out, asked := []byte{}, 0
	buffer := make([]byte, 64<<10)
	for !bytes.Contains(out, []byte("Ready.")) {
		n, err := f.Read(buffer)
		if err != nil {
			t.Fatalf("%s, %s: the end before it was ready: %v\n%s", of.name, mode, err, lastOf(out))
		}
		out = append(out, buffer[:n]...)
		a.questions = len(question.FindAll(out, -1))
		if rows := answers.FindAll(out, -1); len(rows)+len(tooSoon.FindAll(out, -1)) > asked {
			asked = len(rows) + len(tooSoon.FindAll(out, -1))
			time.Sleep(350 * time.Millisecond) // what comes sooner is no answer
			fmt.Fprintln(f, answer(string(rows[len(rows)-1])))
		}
	}
	fmt.Fprintln(f, "/quit")
	for {
		if _, err := f.Read(buffer); err != nil { // EIO on Linux
			break
		}
	}
	_ = cmd.Wait() // how it ended is not measured
	a.bytes, a.requests = server.allBytes.Load(), server.requests.Load()
	if want := int64(len(plan)) + 1; a.requests != want {
		t.Errorf("%s, %s: %d requests, want %d\n%s", of.name, mode, a.requests, want, lastOf(out))
	}
	return a
}

// answer is the widest that is offered for this session and not for ever.
func answer(offered string) string {
	for _, key := range []string{"f", "p", "s"} {
		if regexp.MustCompile(`\b` + key + ` `).MatchString(offered) {
			return key
		}
	}
	return "y"
}

func lastOf(out []byte) string { return string(out[max(len(out)-3000, 0):]) }

// lay puts the files of a task and the stubs where they belong, in a repository with one commit.
func lay(t *testing.T, r runner, of task) {
	t.Helper()
	put := func(path, content string, mode os.FileMode) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range of.files {
		put(filepath.Join(r.dir, name), content, 0o644)
	}
	for _, name := range []string{"go", "make"} {
		put(filepath.Join(r.home, "bin", name), stubs, 0o755)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", "begin"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("no git here: %v %s", err, out)
		}
	}
}

// TestTasksAskLittle counts what tasks cost a user in questions and in bytes: one of them shortly,
// all with ADZE_TESTS=long. ADZE_BINARY names another build of adze to measure in place of this
// one, whose bars are not this one's.
//
//	ADZE_TESTS=long go test -v -run TasksAskLittle ./internal/tools/bench
func TestTasksAskLittle(t *testing.T) {
	effort.Needs(t, effort.Short, "it answers each question as slowly as a person must")
	all, modes, binary := tasks(), []string{"ask", "edits"}, os.Getenv("ADZE_BINARY")
	if !effort.Is(effort.Long) && binary == "" {
		all, modes = all[len(all)-1:], modes[1:]
	}
	for _, of := range all {
		for _, mode := range modes {
			a := work(t, binary, of, mode)
			t.Logf("%s · %s · %d calls: %d questions, %d requests, %d bytes", of.name, mode, len(of.plan), a.questions, a.requests, a.bytes)
			if most := of.most[mode]; binary == "" && a.questions > most {
				t.Errorf("%s in mode %s asked %d times, at most %d", of.name, mode, a.questions, most)
			}
		}
	}
}
