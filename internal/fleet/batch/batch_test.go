package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"adze/internal/files/filelock"
	"adze/session"
)

func anyFlags([]string) error { return nil }

func TestTasksAreReadOrAllMistakesTold(t *testing.T) {
	good := `
# a comment
{"repo": "https://h/a.git", "prompt": "x"}
{"id": "b", "folder": "sub", "command": "true", "labels": {"k": "v"}, "flags": ["--model", "m"]}
{"repo": "git@h:a.git", "prompt": "x"}
{"repo": "../r", "prompt": "last, without an end of line"}`
	tasks, err := Read(strings.NewReader(good), "/here", anyFlags)
	if err != nil || len(tasks) != 4 {
		t.Fatal(tasks, err)
	}
	if tasks[1].Folder != "/here/sub" || tasks[2].Repo != "git@h:a.git" || tasks[3].Repo != "/r" || tasks[0].Line != 3 || len(tasks[0].ID) != 12 {
		t.Errorf("%+v", tasks)
	}
	again, _ := Read(strings.NewReader(good), "/here", anyFlags)
	if again[0].ID != tasks[0].ID || tasks[0].ID == tasks[2].ID {
		t.Error("an id is of what the line says")
	}
	bad := map[string]string{
		`{"repo": "r", "prompt": "x"`:     "unexpected EOF",
		`{"repo": "r", "prompt": "x"} {}`: "more than one",
		`{"repo": "r", "promt": "x"}`:     `unknown field "promt"`,
		`[]`:                              "no task",
		`{"repo": "r"}`:                   `"prompt" or "command"`,
		`{"prompt": "x"}`:                 `"repo" or "folder"`,
		`{"repo": "r", "folder": "f", "prompt": "x"}`:                    `"repo" or "folder"`,
		`{"repo": "r", "prompt": " "}`:                                   `"prompt" or "command"`,
		`{"id": "../x", "repo": "r", "prompt": "x"}`:                     "an id has letters",
		`{"id": "a.lock", "repo": "r", "prompt": "x"}`:                   "an id has letters",
		`{"repo": "--upload-pack=sh", "prompt": "x"}`:                    "begin with -",
		`{"repo": "ext::sh -c id", "prompt": "x"}`:                       "start a program",
		`{"repo": "r", "ref": "-x", "prompt": "x"}`:                      "begin with -",
		`{"repo": "r", "prompt": "x", "branch": "a..b"}`:                 "no name of a branch",
		`{"folder": "f", "prompt": "x", "branch": "a"}`:                  `pushed to a "repo"`,
		`{"repo": "r", "prompt": "x\u0000"}`:                             "NUL",
		`{"repo": "r", "prompt": "x", "flags": ["--nonsense"]}`:          "flags: no such flag",
		`{"repo": "r", "prompt": "` + strings.Repeat("x", 10<<20) + `"}`: "longer than 1024 KiB",
	}
	flags := func(f []string) error {
		if len(f) > 0 {
			return errors.New("no such flag")
		}
		return nil
	}
	for line, want := range bad {
		tasks, err := Read(strings.NewReader(`{"repo": "r", "prompt": "fine"}`+"\n"+line+"\n"), "/", flags)
		var wrong *Mistakes
		if !errors.As(err, &wrong) || tasks != nil || len(wrong.Lines) != 1 || !strings.HasPrefix(wrong.Lines[0], "line 2: ") || !strings.Contains(wrong.Lines[0], want) {
			t.Errorf("%.60s: %v, want %q", line, err, want)
		}
	}
	twice := strings.Repeat(`{"repo": "r", "prompt": "x"}`+"\n", 40)
	var wrong *Mistakes
	if _, err := Read(strings.NewReader(twice), "/", anyFlags); !errors.As(err, &wrong) || len(wrong.Lines) != maxMistakes || wrong.More != 19 || !strings.Contains(wrong.Lines[0], "line 1 has the same id") {
		t.Error(err)
	}
}

// TestAResultIsWholeOrNotThere cuts the file of results at each byte, as a crash does.
func TestAResultIsWholeOrNotThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	j, err := openJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5
	for i, cause := range []string{"done", "check", "done"} {
		if err := j.Add(Result{Task: fmt.Sprint("t", i%2), Cause: cause, Cost: &half}); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	raw, _ := os.ReadFile(path)
	for cut := range len(raw) + 1 {
		if err := os.WriteFile(path, raw[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := openJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.Count(string(raw[:cut]), "\n")
		if len(j.all) != whole || j.cost() != half*float64(whole) {
			t.Fatalf("cut at %d: %d results, want %d", cut, len(j.all), whole)
		}
		if err := j.Add(Result{Task: "new", Cause: "done"}); err != nil {
			t.Fatal(err)
		}
		_ = j.Close()
		if again, err := openJournal(path); err != nil || len(again.all) != whole+1 {
			t.Fatalf("cut at %d and written on: %v, %d results", cut, err, len(again.all))
		}
	}
}

// none is a store without sessions.
type none struct{}

func (none) Last(context.Context, string, time.Time) (session.ID, *session.Result, error) {
	return "", nil, nil
}

// fake is a batch whose adze is a shell script; tasks work in a folder that git does not know.
func fake(t *testing.T, script string, tasks int) *Batch {
	t.Helper()
	dir := t.TempDir()
	program, folder := filepath.Join(dir, "adze"), filepath.Join(dir, "folder")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "a"), []byte("a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := &Batch{Out: filepath.Join(dir, "out"), Mirrors: filepath.Join(dir, "mirrors"), Jobs: 1, Program: program, Env: os.Environ(), Sessions: none{},
		Gate: func([]string) []string { return nil }}
	for i := range tasks {
		b.Tasks = append(b.Tasks, Task{ID: fmt.Sprint("t", i), Folder: folder, Prompt: "x", Line: i + 1})
	}
	return b
}

// TestMoneyEndsABatch: what runs counts as it costs, and what an earlier run has cost counts too.
func TestMoneyEndsABatch(t *testing.T) {
	const costs = `cat >/dev/null
printf '{"type":"context","cost_usd":0.4}\n'
printf '{"type":"result","cause":"done","text":"t","turns":1,"cost_usd":0.4,"session":"s"}\n'`
	b := fake(t, costs, 5)
	b.MaxCost = 1
	report, err := b.Run(t.Context())
	// The third is over the limit as soon as it says what it costs; it may end by itself before it
	// is told to.
	if n := len(report.Results); !errors.Is(err, ErrMaxCost) || n != 2 && n != 3 || len(report.Waiting) != 5-n {
		t.Fatalf("%v: %+v", err, report)
	}
	again := fake(t, costs, 5)
	again.Out, again.Tasks, again.MaxCost = b.Out, b.Tasks, 1.1
	if report, err := again.Run(t.Context()); !errors.Is(err, ErrMaxCost) || report.Already != len(report.Results) || len(report.Waiting) < 2 {
		t.Fatalf("the money of the first run is forgotten: %v: %+v", err, report)
	}
	again = fake(t, costs, 5)
	again.Out, again.Tasks, again.MaxCost = b.Out, b.Tasks, 9
	if report, err := again.Run(t.Context()); err != nil || len(report.Results) != 5 {
		t.Fatalf("%v: %+v", err, report)
	}
	// One that runs and costs more than there is ends before its end, and has no result.
	endless := fake(t, `tail -f /dev/null >/dev/null & trap 'kill $!; printf "{\"type\":\"result\",\"cause\":\"interrupted\"}\n"; exit 130' INT
cat >/dev/null; printf '{"type":"context","cost_usd":7}\n'; wait`, 2)
	endless.MaxCost = 5
	if report, err := endless.Run(t.Context()); !errors.Is(err, ErrMaxCost) || len(report.Results) != 0 || len(report.Waiting) != 2 {
		t.Fatalf("%v: %+v", err, report)
	}
}

// TestWhatAnAdzeSaysIsBounded: rubbish, lines without end and no result have one outcome each.
func TestWhatAnAdzeSaysIsBounded(t *testing.T) {
	for script, want := range map[string]string{
		"cat >/dev/null; echo hello; echo '{'; echo '{\"type\":\"result\"'; exit 3":           "adze ended with 3 and without a result",
		"cat >/dev/null; echo oh no >&2; exit 1":                                              "without a result: oh no",
		"exec head -c 200000000 /dev/zero":                                                    "without a result",
		`(printf '{"type":"result","cause":"'; head -c 70000000 /dev/zero | tr '\0' x; echo)`: "without a result",
		"kill -9 $$": "without a result",
	} {
		report, err := fake(t, script, 1).Run(t.Context())
		if err != nil || len(report.Results) != 1 || report.Results[0].Cause != "internal" || !strings.Contains(report.Results[0].Message, want) {
			t.Errorf("%s: %v: %+v", script, err, report)
		}
	}
	b := fake(t, "", 1)
	b.Program = "/nowhere/adze"
	if report, err := b.Run(t.Context()); err == nil || len(report.Waiting) != 1 {
		t.Errorf("an adze that is not there: %v: %+v", err, report)
	}
}

func TestTwoBatchesDoNotShareAFolder(t *testing.T) {
	b := fake(t, "", 1)
	if err := os.MkdirAll(b.Out, 0o700); err != nil {
		t.Fatal(err)
	}
	unlock, err := filelock.Try(filepath.Join(b.Out, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := b.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another adze batch works there") {
		t.Error(err)
	}
}

// TestANewTryThatIsStoppedGoesOn: its result is not the one before, whose cause was to be tried
// again.
func TestANewTryThatIsStoppedGoesOn(t *testing.T) {
	b := fake(t, "cat >/dev/null; exit 3", 1)
	if report, err := b.Run(t.Context()); err != nil || report.Results[0].Cause != "internal" {
		t.Fatal(report, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	b.Retry = map[string]bool{"internal": true}
	b.Watch = func(s State) {
		if s.Stage == Working {
			stop()
		}
	}
	report, err := b.Run(ctx)
	if err == nil || len(report.Waiting) != 1 {
		t.Fatalf("stopped, it came to %+v, %v", report, err)
	}
	b.Watch = nil
	clone := filepath.Join(b.clone(b.Tasks[0]), "made")
	if err := os.WriteFile(clone, []byte("work"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, retry := range []map[string]bool{{"internal": true}, nil} {
		b.Retry = retry
		left, err := func() (bool, error) {
			var err error
			if b.journal, err = openJournal(filepath.Join(b.Out, "results.jsonl")); err != nil {
				return false, err
			}
			defer b.journal.Close()
			return b.finished(b.Tasks[0])
		}()
		if err != nil || left {
			t.Errorf("with %v to try again, it is finished: %v, %v", retry, left, err)
		}
		if _, err := os.Stat(clone); err != nil {
			t.Errorf("with %v to try again, what it did is gone: %v", retry, err)
		}
	}
	if report, err = b.Run(t.Context()); err != nil || len(report.Results) != 1 || report.Already != 0 || report.Results[0].Resumed != 1 {
		t.Errorf("it came to %+v, %v", report, err)
	}
	if report, err = b.Run(t.Context()); err != nil || report.Already != 1 {
		t.Errorf("then it came to %+v, %v", report, err)
	}
}

// TestATaskWhoseStateCannotBeReadIsNotBegunAnew: nobody knows what it has done.
func TestATaskWhoseStateCannotBeReadIsNotBegunAnew(t *testing.T) {
	b := fake(t, "cat >/dev/null; exit 3", 1)
	state := filepath.Join(b.Out, "work", b.Tasks[0].ID, "state.json")
	if err := os.MkdirAll(state, 0o700); err != nil { // no file can be read there
		t.Fatal(err)
	}
	if _, err := b.Run(t.Context()); !errors.Is(err, ErrKept) || !strings.Contains(err.Error(), "remove "+state) {
		t.Errorf("it came to %v", err)
	}
}
