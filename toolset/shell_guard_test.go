package toolset

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/tool"
)

// byRule lets every call pass as one that a rule allowed and nobody has seen.
func byRule(context.Context, tool.Question) (tool.Decision, error) {
	return tool.Decision{Allow: true, Rule: "allow execute(ls **)", ByRule: true}, nil
}

func plant(t *testing.T, path, script string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// A folder of the workspace on PATH is the user's own doing, and yet a rule that allows ls does
// not mean bin/ls of a repository.
func TestWhatARuleAllowedIsNotFoundInTheWorkspace(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	b.shell.Env = []string{"PATH=" + filepath.Join(b.dir, "bin") + ":" + filepath.Join(b.dir, "later") + ":" + os.Getenv("PATH")}
	plant(t, filepath.Join(b.dir, "bin/ls"), "echo planted")
	plant(t, filepath.Join(b.dir, "bin/bash"), "echo planted shell")
	if o := b.bash(t.Context(), "ls"); !strings.Contains(o.Output, "planted\n") || strings.Contains(o.Output, "planted shell") {
		t.Errorf("what a person allowed says %q", o.Output)
	}
	b.runner.Gate = tool.GateFunc(byRule)
	if o := b.bash(t.Context(), "ls"); strings.Contains(o.Output, "planted") || !strings.Contains(o.Output, "bin\n") {
		t.Errorf("what a rule allowed says %q", o.Output)
	}
}

func TestGitThatARuleAllowedRunsNoProgramOfTheRepository(t *testing.T) {
	needBash(t)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	b := newShellBench(t, nil)
	b.shell.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	canary := filepath.Join(b.dir, "evil")
	plant(t, canary, "echo ran >> "+b.dir+"/canary")
	plain := "git init -q . && git init -q sub && git config core.fsmonitor " + canary + " && git -C sub config core.fsmonitor " + canary
	if o := b.bash(t.Context(), plain); o.Status != tool.Completed {
		t.Fatal(o.Output)
	}
	_ = os.Remove(filepath.Join(b.dir, "canary"))
	b.runner.Gate = tool.GateFunc(byRule)
	for _, line := range []string{"git status --short", "git -C sub status", "cd sub && git status"} {
		o := b.bash(t.Context(), line)
		if _, err := os.Stat(filepath.Join(b.dir, "canary")); err == nil || o.Status != tool.Completed {
			t.Fatalf("%s: the repository's program ran, or git failed: %s", line, o.Output)
		}
		if !strings.Contains(o.Output, "without the hooks and programs") {
			t.Errorf("%s does not say that it was switched off: %s", line, o.Output)
		}
	}
}

// What runs is what the gate has read: one program without a shell, or the script that it wrote.
func TestAJudgedCommandRunsAsItWasRead(t *testing.T) {
	needBash(t)
	b := newShellBench(t, nil)
	plant(t, filepath.Join(b.dir, "a b"), "")
	for _, c := range []struct {
		judged tool.CommandReading
		want   string
	}{
		{tool.CommandReading{Argv: []string{"ls", "-d", "*", "$HOME"}, Looks: true}, "'*'"},
		{tool.CommandReading{Argv: []string{"printenv", "LC_ALL"}, Env: []string{"LC_ALL=C"}}, "C\n"},
		{tool.CommandReading{Script: "'ls' '-d' 'a b'", Looks: true}, "a b\n"},
	} {
		b.runner.Gate = tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
			return tool.Decision{Allow: true, ByRule: true, Reading: &c.judged}, nil
		})
		if o := b.bash(t.Context(), "echo as it was written"); !strings.Contains(o.Output, c.want) || strings.Contains(o.Output, "as it was written") {
			t.Errorf("%+v ran as %q", c.judged, o.Output)
		}
	}
}

// TestAJudgedCommandReadsItsWordsAsTheyWereJudged: with POSIXLY_CORRECT cat takes -n behind a name
// for a file, which was not judged, and which may be a link to anything.
func TestAJudgedCommandReadsItsWordsAsTheyWereJudged(t *testing.T) {
	needBash(t)
	for _, judged := range []tool.CommandReading{{Argv: []string{"cat", "a.go", "-n"}, Looks: true}, {Argv: []string{"cat", "a.go", "-n"}}, {Script: "'cat' 'a.go' '-n' > 'b.txt'; cat b.txt"}} {
		b := newShellBench(t, func(s *Shell) { s.Env = append(s.Env, "POSIXLY_CORRECT=1") })
		plant(t, filepath.Join(b.dir, "a.go"), "package a\n")
		plant(t, filepath.Join(b.dir, "-n"), "another file\n")
		b.runner.Gate = tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) {
			return tool.Decision{Allow: true, ByRule: true, Reading: &judged}, nil
		})
		if o := b.bash(t.Context(), "cat a.go -n"); !strings.Contains(o.Output, "\tpackage a") || strings.Contains(o.Output, "another") {
			t.Errorf("%+v printed %q", judged, o.Output)
		}
	}
}
