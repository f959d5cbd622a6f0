package run_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"adze/docs"
	"adze/internal/run"
)

// harmless are the commands of the documents that are run: they need no network and no model, and
// change only what belongs to the user of the test. Each has the exit codes that it may end with.
func harmless() map[string][]int {
	return map[string][]int{
		"--version": {0}, "audit show": {0}, "audit stats": {0}, "audit verify": {0}, "completion": {0}, "tools context": {0}, "doctor": {0}, "help": {0}, "mcp list": {0},
		"models": {0, 3}, "permission add": {0}, "permission list": {0}, "permission test": {0, 7}, "permission why": {0, 7}, "sessions export": {0}, "sessions list": {0},
		"sessions rename": {0}, "sessions search": {0}, "sessions show": {0}, "sessions verify": {0}, "sessions why": {0}, "tools list": {0}, "tools run": {0}, "tools schema": {0},
		"tools test": {0, 2}, "permission trust list": {0}, "undo --dry-run": {0}, "undo --list": {0}, "doctor upgrade": {0}, "version": {0}, "worktree list": {0},
	}
}

// TestCommandsOfDocumentsRun runs each harmless command of the documents as it stands there, after a
// turn that changed a file.
func TestCommandsOfDocumentsRun(t *testing.T) {
	u := newUser(t)
	if out, err := exec.Command("git", "init", "-q", u.dir).CombinedOutput(); err != nil {
		t.Skipf("git init: %v %s", err, out)
	}
	u.file("a", "one\n")
	u.file("go.mod", "module example\n\ngo 1.26\n")
	u.file("main.go", "package main\n\nfunc main() {}\n"+strings.Repeat("// more\n", 50))
	id := "20261121t0245-0a1b2c" // the documents say its beginning
	model := u.script("-- 1 --\ncall write: {\"path\":\"x\",\"content\":\"retry backoff\\n\"}\n-- 2 --\ntext: done\n")
	u.run("-p", "--permission-mode=edits", "--session-id="+id, model, "retry backoff").wants(0)
	u.configure(`{"model": "` + strings.TrimPrefix(model, "--model=") + `"}`)

	stands := map[string]string{"ID": id, "FILE": filepath.Join(t.TempDir(), "new"), "FILE:LINE": "x:1", "WORDS": "backoff", "TITLE": "a title", "TOPIC": "start"}
	// words that stand for something, files elsewhere, arguments from standard input, servers, calls and
	// turns that the session has not
	placeholder := regexp.MustCompile(`^[A-Z][A-Z/:]+$|…|^~|^-$|^nats://|^--call$|^call_|^--turn$`)
	codes, ran, commands := harmless(), map[string]bool{}, map[string]int{}
	for _, page := range slices.Concat([]string{""}, docs.Topics()) {
		text := docs.Text(page)
		if page == "" {
			raw, err := os.ReadFile("../../README.md")
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		for _, words := range run.CommandsOf(text) {
			words = slices.Clone(words)
			for i, w := range words {
				if real, ok := stands[w]; ok {
					words[i] = real
				}
			}
			line := strings.Join(words, " ")
			var want []int
			for n := 3; n > 0 && want == nil; n-- {
				want = codes[strings.Join(words[:min(len(words), n)], " ")]
			}
			if want == nil || ran[line] || slices.ContainsFunc(words, placeholder.MatchString) {
				continue
			}
			ran[line] = true
			commands[words[0]]++
			if got := u.run(words...); !slices.Contains(want, got.code) {
				t.Errorf("%s: adze %s exits with %d, want %v\n%s%s", page, line, got.code, want, got.out, got.err)
			}
		}
	}
	if len(ran) < 40 || len(commands) < 9 {
		t.Errorf("only %d commands of %v ran", len(ran), commands)
	}
	for _, page := range docs.Topics() {
		if got := u.run("help", page).wants(0); got.out != docs.Text(page) {
			t.Errorf("adze help %s does not show the page", page)
		}
	}
}

// TestSettingsOfDocumentsAreTaken gives the program each setting that a page shows, in a block or in
// a sentence, as the configuration.
func TestSettingsOfDocumentsAreTaken(t *testing.T) {
	var known []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(docs.Text("settings"), -1) {
		known = append(known, m[1])
	}
	u, seen := newUser(t), map[string]bool{}
	for _, page := range docs.Topics() {
		text := docs.Text(page)
		shown := regexp.MustCompile(`(?m)(?:^    .*\n)+`).FindAllString(text, -1)
		for _, m := range regexp.MustCompile("`([{\"][^`]+)`").FindAllStringSubmatch(text, -1) {
			shown = append(shown, m[1])
		}
		for _, one := range shown {
			object := map[string]any{}
			if json.Unmarshal([]byte(one), &object) != nil {
				one = "{" + one + "}"
				if json.Unmarshal([]byte(one), &object) != nil {
					continue
				}
			}
			setting := func(name string) bool { return slices.Contains(known, name) }
			if seen[one] || len(object) == 0 || !slices.ContainsFunc(slices.Collect(maps.Keys(object)), setting) || object["permission_modes"] != nil { // of the owner's file
				continue
			}
			seen[one] = true
			u.configure(one)
			if got := u.run("permission", "list"); got.code != 0 || got.err != "" {
				t.Errorf("%s: %s is taken with %d: %s", page, one, got.code, got.err)
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d settings were found: %v", len(seen), slices.Collect(maps.Keys(seen)))
	}
}

// TestEachProviderHasTwoLines gives the program each pair of lines of the page on models, and looks
// for a pair of each provider that the program lists.
func TestEachProviderHasTwoLines(t *testing.T) {
	pairs := regexp.MustCompile(`(?m)^    (.+)\n    adze --model ([a-z]+)/(\S+)$`).FindAllStringSubmatch(docs.Section("providers", "Two lines for each"), -1)
	shown := map[string]bool{}
	for _, p := range pairs {
		u := newUser(t)
		if name, ok := strings.CutPrefix(p[1], "export "); ok {
			u.env = append(u.env, strings.Replace(name, "=…", "=a-key", 1))
		}
		full := p[2] + "/" + p[3]
		u.run("context", "--model", full).wants(0, full+" · ")
		shown[p[2]] = true
	}
	listed := regexp.MustCompile(`(?m)^([a-z]+) +(?:yes|no) `).FindAllStringSubmatch(newUser(t).run("models").out, -1)
	if len(listed) < 10 {
		t.Fatalf("adze models lists %v", listed)
	}
	for _, m := range listed {
		if !shown[m[1]] && m[1] != "script" {
			t.Errorf("the page on models has no two lines for %s", m[1])
		}
	}
}

// pipeline is a user with a repository whose newest commit is to be reviewed, and the hash of the
// commit before it.
func pipeline(t *testing.T, steps string) (u *user, base string) {
	u = newUser(t)
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-C", u.dir, "-c", "user.name=a", "-c", "user.email=a@example.org"}, args...)...)
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("git %s: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	u.file("a.go", "package a\n")
	git("add", ".")
	git("commit", "-qm", "begin")
	base = git("rev-parse", "HEAD")
	u.file("a.go", "package a\n\nvar Wrong = 1\n")
	git("commit", "-qam", "change")
	model := strings.TrimPrefix(u.script(steps), "--model=")
	u.configure(fmt.Sprintf(`{"model": %q, "models": {%[1]q: {"price": {"input": 0, "output": 0}}}}`, model))
	return u, base
}

// shell runs a script as a runner does, with this adze in PATH.
func (u *user) shell(script string, env ...string) ran {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	bin := u.t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "adze")); err != nil {
		u.t.Skip(err)
	}
	cmd := exec.Command("bash", "-e", "-c", script)
	cmd.Dir, cmd.Env = u.dir, append(slices.Clone(u.env), append(env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		u.t.Skip(err)
	}
	return ran{u.t, out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// ofPage is the YAML of a section of the page on CI.
func ofPage(t *testing.T, heading string, into any) {
	t.Helper()
	var text strings.Builder
	for line := range strings.Lines(docs.Section("ci", heading)) {
		if line, ok := strings.CutPrefix(line, "    "); ok {
			text.WriteString(line)
		}
	}
	if err := yaml.Unmarshal([]byte(text.String()), into); err != nil {
		t.Fatal(err)
	}
}

const reviewed = "-- 1 --\nexpect prompt: (?s)Review this change.*Wrong = 1\ncall read: {\"path\":\"a.go\"}\nusage: input=1 output=1\n-- 2 --\ntext: a.go:3 is wrong\nusage: input=1 output=1\n"

// TestTheWorkflowReviews runs the step of the GitHub example with a change, a budget that is spent,
// and a key that is refused.
func TestTheWorkflowReviews(t *testing.T) {
	var w struct {
		Jobs struct {
			Review struct {
				Steps []struct {
					Name, Run string
				}
			}
		}
	}
	ofPage(t, "GitHub Actions", &w)
	steps := w.Jobs.Review.Steps
	i := slices.IndexFunc(steps, func(s struct{ Name, Run string }) bool { return s.Name == "Review" })
	if i < 0 {
		t.Fatalf("there is no step Review in %v", steps)
	}
	var long strings.Builder
	for n := range 41 {
		fmt.Fprintf(&long, "-- %d --\ncall glob: {\"pattern\":\"%d*\"}\nusage: input=1 output=1\n", n+1, n)
	}
	for _, c := range []struct {
		steps       string
		code        int
		says, shows string
	}{
		{reviewed, 0, "", "a.go:3 is wrong"},
		{long.String(), 0, "::warning::adze reached its budget", ""},
		{"-- 1 --\nfail: auth the key is refused\n", 3, "the key is refused", ""},
	} {
		u, base := pipeline(t, c.steps)
		temp := t.TempDir()
		summary := filepath.Join(temp, "summary")
		u.shell(steps[i].Run, "BASE="+base, "RUNNER_TEMP="+temp, "GITHUB_STEP_SUMMARY="+summary).wants(c.code, c.says)
		if raw, err := os.ReadFile(summary); err != nil || !strings.Contains(string(raw), c.shows) {
			t.Errorf("the summary is %q, %v; want %q", raw, err, c.shows)
		}
	}
}

// TestTheGitLabJobReviews runs the script of the GitLab example.
func TestTheGitLabJobReviews(t *testing.T) {
	var w struct{ Review struct{ Script []string } }
	ofPage(t, "GitLab", &w)
	u, base := pipeline(t, reviewed)
	script := strings.ReplaceAll(strings.Join(w.Review.Script, "\n"), "/tmp/", t.TempDir()+"/")
	u.shell(script, "CI_MERGE_REQUEST_DIFF_BASE_SHA="+base).wants(0)
	if raw, err := os.ReadFile(filepath.Join(u.dir, "review.md")); err != nil || !strings.Contains(string(raw), "a.go:3 is wrong") {
		t.Errorf("review.md is %q, %v", raw, err)
	}
}
