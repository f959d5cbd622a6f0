package toolset

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// Bash does the same with the question behind a command line as without it: the same output, the
// same exit code. And what it answers is what PIPESTATUS says.
func TestAskingAPipelineChangesNothing(t *testing.T) {
	needBash(t)
	lines := []string{
		"false | true", "sh -c 'echo out; echo err >&2; exit 7' 2>&1 | tail -1", "exit 3 | cat", "cd /nowhere && false | cat", "true && false | cat # comment",
		"set -e; false | cat; echo a | cat", "set -euo pipefail; false | cat", "sh -c 'kill -9 $$' | cat", "cat </dev/null | sh -c 'kill -TERM $$'",
		"yes | head -2", "IFS=,; false | false | true", "echo a |& cat", "echo x | { read v; echo $v; exit 4; }", "(exit 5) | cat", "sleep 0 & false | cat",
		"f() { return 6; }; f | cat", "printf no-newline | cat", "echo a |\n  cat", "cat /nowhere | wc -l", "false | cat;", "x=1; false | echo $x\n\n", "echo ${x:?unset} | cat; false | cat",
		"for i in 1 2; do echo $i; done | cat", "false | cat >&-", "exit 9; false | cat", "(exit 2) && false | cat", "false | cat && false | true",
	}
	parts := []string{"true", "false", "echo a", "cat", "sh -c 'exit 3'", "(exit 4)", "{ echo g; }", "head -1", "grep x", "printf b", "nosuchprogram", "cat /nowhere", "sh -c 'kill -15 $$'", "echo \"q | r\"", "x=1"}
	before := []string{"", "", "true && ", "false && ", "echo first; ", "false || true; ", "set -e; ", "cd / && ", "a=$(false); ", "exit 3; ", "true & "}
	after := []string{"", "", " # done", ";", "\n", " 2>&1", " >/dev/null", " &", "; echo last", " || true", " && echo b | cat"}
	r := rand.New(rand.NewPCG(5, 6))
	for range 250 {
		line := before[r.IntN(len(before))]
		for n := range 2 + r.IntN(2) {
			if n > 0 {
				line += []string{" | ", " |& "}[r.IntN(2)]
			}
			line += parts[r.IntN(len(parts))]
		}
		lines = append(lines, line+after[r.IntN(len(after))])
	}
	asked := 0
	for _, line := range lines {
		p, ok := endsInPipeline(line, nil)
		if !ok {
			continue
		}
		asked++
		want, code := underBash(t, line)
		got, also := underBash(t, p.asks(line))
		text := proc.Text{Head: got, Bytes: int64(len(got)), Lines: outputLines(got)}
		p.taken(&text)
		if letters(text.Head) != letters(want) || also != code || strings.HasSuffix(want, "\n") == strings.HasSuffix(text.Head, "\n") && want != "" && text.Lines != outputLines(want) {
			t.Errorf("%q: %q, exit %d, %d lines; without the question %q, exit %d", line, text.Head, also, text.Lines, want, code)
		}
	}
	if asked < len(lines)/3 {
		t.Errorf("only %d of %d lines were asked", asked, len(lines))
	}
}

// letters are those of a text, sorted: the parts of a pipeline write in any order, and cat writes
// an error in pieces.
func letters(s string) string {
	b := []byte(s)
	slices.Sort(b)
	return string(b)
}

func underBash(t *testing.T, line string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command("bash", "--noprofile", "--norc", "-c", line)
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &out, []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

func TestWhatCouldSeeTheQuestionIsNotAsked(t *testing.T) {
	for _, line := range []string{
		"trap 'echo bye' EXIT; a | b", "set -x; a | b", "set -v; a | b", "a | b &", "! a | b", "a | b || c | d", "time a | b", "exec >f; a | b", "eval x; a | b", "ps aux | grep x", "$cmd; a | b", "$cmd | b",
		"cat <<E | b\nx\nE", "a | b \\", "a", "echo 'a | b'", ". f; a | b", "printf() { :; }; a | b", "a | b; c", "if a | b; then c; fi", "a | b; echo $BASH_EXECUTION_STRING | c", "alias x=y; a | b", "coproc a; a | b", "a | b )",
	} {
		if _, ok := endsInPipeline(line, nil); ok {
			t.Errorf("%q is asked", line)
		}
	}
	if _, ok := endsInPipeline("a | b", []string{"BASH_ENV=/x"}); ok {
		t.Error("a shell with a file to read first is asked")
	}
}

func TestTheFirstFailingPartIsTold(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	for command, want := range map[string]string{
		"(echo FAIL; exit 1) | tail -5":                                 "FAIL\nexit code 0; part 1: 1 after 0s",
		"cat /nowhere/x 2>/dev/null | tail -5":                          "(no output)\nexit code 0; cat: 1 after 0s",
		"sort --nosuch 2>/dev/null | cat | head -3":                     "(no output)\nexit code 0; sort: 2 after 0s",
		"yes | head -1":                                                 "y\nexit code 0 after 0s",
		"true && printf x | cat":                                        "x\nexit code 0 after 0s",
		"for ((i = 0; i < 60000; i++)); do echo $((i * i)); done | cat": "\n3599880001\nexit code 0 after 0s",
	} {
		o := b.bash(t.Context(), command)
		if !strings.HasSuffix(o.Output, want) || strings.Contains(o.Output, "\x1e") || strings.Contains(o.Output, "adze") && !strings.Contains(o.Output, "whole is in") {
			t.Errorf("%s: %.300q … %q, want %q", command, o.Output, o.Output[max(0, len(o.Output)-100):], want)
		}
		if o.OutputFile != "" {
			if raw, err := exec.Command("tail", "-c", "20", o.OutputFile).Output(); err != nil || !strings.HasSuffix(string(raw), "3599880001\n") {
				t.Errorf("the whole ends with %q, %v", raw, err)
			}
		}
	}
	if b.saw("\x1e") {
		t.Error("a pane saw the answer")
	}
}
