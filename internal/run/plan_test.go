package run_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tree is what lies in the workspace, with contents.
func (u *user) tree() string {
	u.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(u.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", path, raw)
		return err
	})
	if err != nil {
		u.t.Fatal(err)
	}
	return b.String()
}

// changing are calls that would change something, in every way that is known for it.
func changing() (calls []string) {
	for _, command := range []string{
		"touch made", "echo x > made", "echo x >> kept", ">made", "ls > made", "ls 2> made", "ls | tee made", "ls; touch made", "ls && touch made", "ls $(touch made)",
		"ls `touch made`", "cat <(touch made)", "f() { touch made; }; f", "env touch made", "timeout 5 touch made", "xargs touch < kept", "sh -c 'touch made'", "eval 'touch made'",
		"find . -delete", "find . -name kept -exec rm {} +", "find . -fprint made", "sed -i s/k/x/ kept", "sed 'w made' kept", "awk 'BEGIN{print 1 > \"made\"}'", "sort -o made kept",
		"git commit --allow-empty -m x", "git stash", "git checkout .", "git config a.b c", "git diff --output=made", "git log --output=made", "git branch made", "git tag made", "git -c core.fsmonitor='touch made' status",
		"git -c alias.s='!touch made' s", "tar cf made kept", "dd if=kept of=made", "cp kept made", "ln -s kept made", "mkdir made", "rm kept", "mv kept made", "truncate -s 0 kept", "chmod 600 kept",
		"rg --pre touch made", "tree -o made", "uniq kept made", "PAGER='touch made' git -p log", "cd / && touch made",
	} {
		raw, _ := json.Marshal(command)
		calls = append(calls, fmt.Sprintf(`call bash: {"command":%s}`, raw), fmt.Sprintf(`call bash: {"command":%s,"background":true}`, raw))
	}
	return append(calls, `call write: {"path":"made","content":"x"}`, `call edit: {"path":"kept","old_string":"kept","new_string":"lost"}`,
		`call edit: {"path":"made","old_string":"","new_string":"x"}`, `call state: {}`, `call bash_kill: {"job":"job1"}`)
}

// Nothing that changes something runs in the plan mode: by no tool, at no depth, whatever rules
// allow.
func TestNothingChangesInThePlanMode(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("as root, too")
	}
	calls := strings.Join(changing(), "\n") + "\n"
	for name, steps := range map[string]string{
		"main":     "-- 1 --\n" + calls + "-- 2 --\ntext: Nothing went.\n",
		"subagent": delegating("general", "-- general: the job: 1 --\n"+calls+"-- general: the job: 2 --\ntext: Nothing went.\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.file("kept", "kept\n")
			if err := os.MkdirAll(filepath.Join(u.home, "tools"), 0o755); err != nil {
				t.Fatal(err)
			}
			declared := `{"name":"state","description":"Show the state.","parameters":{"type":"object","properties":{}},"command":["git","status"]}`
			if err := os.WriteFile(filepath.Join(u.home, "tools", "state.json"), []byte(declared), 0o644); err != nil {
				t.Fatal(err)
			}
			before := u.tree()
			r := u.run("-p", "--output-format=stream-json", "--permission-mode=plan", "--allow=execute(**)", "--allow=write(work:**)", u.script(steps), "go").wants(0, "Nothing went.")
			for _, end := range r.ends() {
				aside := end == "bash completed" || end == "bash failed exit_status" // its changes are dropped
				if end != "task completed" && !aside && !strings.HasSuffix(end, " denied denied") {
					t.Errorf("%s", end)
				}
			}
			if got, want := len(r.ends()), len(changing()); got < want {
				t.Errorf("%d calls ended of %d", got, want)
			}
			if after := u.tree(); after != before {
				t.Errorf("the workspace was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// planned is a run that makes a plan and nothing else.
func (u *user) planned(more ...string) ran {
	u.t.Helper()
	steps := "-- 1 --\ncall plan: {\"plan\":\"# Split main\\n\\n1. move a\\n2. run go test\"}\n-- 2 --\ntext: This is never asked.\n"
	return u.run(append([]string{"-p", "--permission-mode=plan", u.script(steps), "Split it."}, more...)...)
}

// Without a terminal the plan is the answer; its file may be edited; accepting it is an entry with
// its hash, and the model is told what was accepted and what was changed.
func TestAPlanIsMadeAndAcceptedWithoutATerminal(t *testing.T) {
	u := newUser(t)
	made := u.planned("--output-format=json").wants(0).result()
	plan, _ := made["plan"].(map[string]any)
	path, _ := plan["path"].(string)
	raw, err := os.ReadFile(path)
	if err != nil || string(raw) != "# Split main\n\n1. move a\n2. run go test\n" || made["text"] != strings.TrimSpace(string(raw)) || plan["state"] != "proposed" {
		t.Fatalf("%v %q\n%v", err, raw, made)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 || !strings.HasPrefix(path, u.home) {
		t.Errorf("%s: %v %v", path, info.Mode(), err)
	}
	if err := os.WriteFile(path, []byte("# Split main\n\n1. move a\n2. run go vet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	work := u.script("-- 1 --\nexpect prompt: Carry out the plan that I accepted\ncall write: {\"path\":\"b.go\",\"content\":\"package b\\n\"}\n-- 2 --\nexpect write completed: created\ntext: Done.\n")
	r := u.run("-p", "--continue", "--accept-plan", "--output-format=stream-json", work).wants(0, `-2. run go test\n+2. run go vet`)
	lines := r.lines()
	if lines[0]["type"] != "init" || lines[0]["permission_mode"] != "edits" {
		t.Errorf("it begins with %v", lines[0])
	}
	told := ""
	for _, l := range lines {
		if l["type"] == "plan" && (l["state"] != "accepted" || l["mode"] != "edits" || l["sha256"] == plan["sha256"]) {
			t.Errorf("accepted: %v", l)
		}
		if l["type"] == "note" {
			told += fmt.Sprint(l["text"])
		}
	}
	for _, part := range []string{"not plan any more", "2. run go vet", "+2. run go vet"} {
		if !strings.Contains(told, part) {
			t.Errorf("the model was not told %q but:\n%s", part, told)
		}
	}
	u.run("-p", "--continue", "--accept-plan", work).wants(2, "accepted before")
	u.run("audit", "verify", "--all").wants(0)
}

func TestWhatTheFlagForPlansRefuses(t *testing.T) {
	u := newUser(t)
	u.run("-p", u.script("-- 1 --\ntext: No plan.\n"), "hi").wants(0)
	for want, flags := range map[string][]string{
		"name one":                    {"--accept-plan"},
		"this session has no plan":    {"--continue", "--accept-plan"},
		`which "edit" is not`:         {"--continue", "--accept-plan=edit"},
		`which "plan" is not`:         {"--continue", "--accept-plan=plan"},
		"leave --permission-mode out": {"--continue", "--accept-plan", "--permission-mode=edits"},
	} {
		u.run(append(flags, "-p", u.script("-- 1 --\ntext: No.\n"))...).wants(2, want)
	}
}

// The request begins with the same bytes whatever the mode is: what changes is told at the end.
func TestThePlanModeLeavesTheRequestAsItBegins(t *testing.T) {
	u := newUser(t)
	digest := regexp.MustCompile(`"tools_digest":"\w+"`)
	begins := func(mode string) string {
		u.run("-p", "--permission-mode="+mode, u.script("-- 1 --\ntext: Yes.\n"), "hi").wants(0)
		return digest.FindString(u.run("session", "show", "--json").out)
	}
	if ask, plan := begins("ask"), begins("plan"); ask != plan {
		t.Errorf("tools: %s in ask, %s in plan", ask, plan)
	}
}

// A model that plans where nobody asked for a plan alone is not stopped by it.
func TestAPlanOutsideThePlanModeDoesNotEndTheWork(t *testing.T) {
	u := newUser(t)
	steps := "-- 1 --\ncall plan: {\"plan\":\"first this\"}\n-- 2 --\nexpect plan completed: go on with the work\ntext: Done at once.\n"
	u.run("-p", u.script(steps), "do it").wants(0, "Done at once.")
}

// In a terminal the user edits the plan, sends it back, and accepts it with the mode to go on in;
// nothing else does.
func TestThePersonDecidesOnAPlanInATerminal(t *testing.T) {
	u := newUser(t)
	editor := filepath.Join(u.home, "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\nsed -i 's/go test/go vet/' \"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "VISUAL="+editor)
	p := u.openPane(100, 30)
	p.begin(u.script("-- 1 --\ncall plan: {\"plan\":\"# First\\n\\n1. move a\"}\n"+
		"-- 2 --\nexpect plan completed: sends the plan back: test it, too\ncall plan: {\"plan\":\"# Second\\n\\n1. move a\\n2. run go test\"}\n"+
		"-- 3 --\nexpect plan completed: (?s)accepted the plan. The permission mode is edits now.*-2. run go test\\n\\+2. run go vet\ncall write: {\"path\":\"b.go\",\"content\":\"package b\\n\"}\n"+
		"-- 4 --\nexpect write completed: created\ntext: All done.\n"), "--permission-mode=plan")
	p.sees("Ask, or say what to do")
	p.shell("split it")
	p.sees("the model's plan", "1. move a", "1 accept it; ask me", "enter answer")
	p.shell("test it, too")
	p.sees("Second", "2. run go test", "enter answer")
	p.shell("4")
	p.sees("2. run go vet", "enter answer")
	p.shell("2")
	p.sees("b.go +", "Ask, or say what to do", "edits") // the turn is over
	p.shell("/plan")
	p.sees("permission mode: plan")
	p.quit()
}
