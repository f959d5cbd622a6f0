package run_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"adze/docs"
	"adze/internal/run"
	"adze/internal/testkit/effort"
)

// notRun are lines of the documents that TestLinesOfDocumentsRun leaves out, and why.
func notRun() []struct{ line, why string } {
	return []struct{ line, why string }{
		{`^(git diff \| )?adze( [^-a-z].*)?$|^adze (-|--)(continue|resume|worktree|allow|transcript)\b`, "opens the interface: TestFirstMinutes, TestAWorkingDay"},
		{`adze --model |^OPENAI_BASE_URL=|^export `, "wants that provider: TestEachProviderHasTwoLines"},
		{`^adze (--demo|serve|acp|mcp serve)\b|mcp logs files --follow`, "goes on until it is ended: TestTheDemoStartsInPlace and the tests of each server"},
		{`nats:|ADZE_NATS|k3wq7dab|adze batch (list|worker|workers)`, "wants a NATS server: internal/fleet"},
		{`adze models login|adze models logout|adze mcp log(in|out)|adze acp login`, "wants a person, a browser or a key ring"},
		{`\bssh |\bsudo |\bpass |^slow |^cloudflared|^tailscale|go run \.`, "another machine or program"},
		{`--hash|--anchor|call_|--call `, "the value is an example"},
		{`adze mcp (add|import .)`, "starts what it gets from the network, or wants the files of another assistant: the tests of internal/cmd"},
		{`sessions delete [I2]`, "asks a person"},
		{`sessions (attach|stop|merge) `, "wants a session at work, or one with a work tree: TestStopEndsASessionInTheBackground, TestASessionIsMergedByAScript"},
		{`--staged take"?$|--accept-plan`, "wants a turn that left changes or a plan: TestAStagedTurnAsksNothingAndIsTakenOrDroppedAsAWhole, TestAPlanIsMadeAndAcceptedWithoutATerminal"},
	}
}

// linesOf are the lines of a page's blocks that call adze, without the words behind them.
func linesOf(page string) (out []string) {
	for line := range strings.SplitSeq(page, "\n") {
		text, shown := strings.CutPrefix(line, "    ")
		text = strings.TrimSpace(regexp.MustCompile(` {3,}.*| +# .*`).ReplaceAllString(text, ""))
		if shown && !strings.HasPrefix(text, " ") && len(run.CommandsOf("    "+text)) > 0 {
			out = append(out, text)
		}
	}
	return out
}

// TestLinesOfDocumentsRun runs each line of the documents as it stands there, by bash, in a
// repository with two sessions. A line that is not run has a row in notRun.
func TestLinesOfDocumentsRun(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil || runtime.GOOS == "windows" {
		t.Skip("it is for a shell")
	}
	u := newUser(t)
	id := "20261121t0245-0a1b2c" // the documents say its beginning
	u.prepareForDocuments(id)
	copyTo := func(from, to string) {
		t.Helper()
		if out, err := exec.Command("cp", "-a", from+"/.", to).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	places, kept := []string{u.dir, u.home, u.own}, t.TempDir()
	for i, dir := range places {
		copyTo(dir, filepath.Join(kept, fmt.Sprint(i)))
	}
	stands := strings.NewReplacer(" FILE:LINE", " main.go:3", "import FILE", "import session.json", " FILE", " "+filepath.Join(t.TempDir(), "new"), " ID", " "+id, "WORDS", "backoff", "TITLE", "a title", " PATH", " x0", "TOPIC", "start", "PROVIDER/NAME", "house/house-coder")
	// what is done before a line that begins so
	before := map[string]string{"adze undo redo": "adze undo", "{ echo": "git add ."}
	codes := map[string][]int{"doctor": {0, 3}, "permission test": {0, 7}, "permission why": {0, 7}, "tools test": {0, 2}, "-p --output-schema": {9}}
	if !strings.Contains(u.run("doctor").out, "full (Linux") {
		codes["-p --permission-mode"] = []int{2}
	}
	skipped := notRun()
	for _, name := range []string{"jq", "less", "git"} {
		if _, err := exec.LookPath(name); err != nil {
			skipped = append(skipped, struct{ line, why string }{`\| ` + name, "is not installed: " + name})
		}
	}
	pages := slices.Concat([]string{""}, docs.Topics())
	if !effort.Is(effort.Short) {
		pages = pages[:2] // the README and the first page
	}
	ran, left := map[string]bool{}, map[string]int{}
	for _, page := range pages {
		text := docs.Text(page)
		if page == "" {
			raw, err := os.ReadFile("../../README.md")
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
	lines:
		for _, shown := range linesOf(text) {
			if ran[shown] {
				continue
			}
			ran[shown] = true
			for _, n := range skipped {
				if regexp.MustCompile(n.line).MatchString(shown) {
					left[n.why]++
					continue lines
				}
			}
			for i, dir := range places {
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
				copyTo(filepath.Join(kept, fmt.Sprint(i)), dir)
			}
			words := run.CommandsOf("    " + shown)[0]
			want := codes[strings.Join(words[:min(len(words), 2)], " ")]
			if len(words) > 0 && want == nil {
				want = codes[words[0]]
			}
			script := stands.Replace(shown)
			for begins, first := range before {
				if strings.HasPrefix(shown, begins) {
					script = first + "\n" + script
				}
			}
			if got := u.shell(script); got.code != 0 && !slices.Contains(want, got.code) {
				t.Errorf("%s: %s exits with %d\n%s%s", page, shown, got.code, got.out, got.err)
			}
		}
	}
	if effort.Is(effort.Short) && len(ran) < 200 {
		t.Errorf("only %d lines were found", len(ran))
	}
	t.Logf("%d lines, not run: %v", len(ran), left)
	for _, page := range docs.Topics() {
		if got := u.run("help", page).wants(0); got.out != docs.Text(page) {
			t.Errorf("adze help %s does not show the page", page)
		}
	}
}

// prepareForDocuments makes what the lines of the documents are about.
func (u *user) prepareForDocuments(id string) {
	u.t.Helper()
	u.file("go.mod", "module example\n\ngo 1.26\n")
	u.file("main.go", "package main\n\nfunc main() {}\n"+strings.Repeat("// more\n", 50))
	u.file("tasks.jsonl", `{"id": "a", "folder": ".", "command": "true"}`+"\n")
	u.file("person.json", `{"type": "object"}`)
	u.file(".adze/tools/lint.json", `{"name": "lint", "description": "Lint.", "parameters": {"type": "object", "properties": {}}, "command": ["true"]}`)
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"config", "user.name", "ann"}, {"config", "user.email", "ann@example.com"}, {"add", "."}, {"commit", "-qm", "Begin"}} {
		if out, err := exec.Command("git", append([]string{"-C", u.dir}, args...)...).CombinedOutput(); err != nil {
			u.t.Skipf("git %v: %v %s", args, err, out)
		}
	}
	u.run("-p", "--session-id=20261120t1200-0a1b2c", u.script("-- 1 --\ntext: done\n"), "TestParse").wants(0)
	for n := range 4 {
		model := u.script(fmt.Sprintf("-- 1 --\ncall write: {\"path\":\"x%d\",\"content\":\"retry backoff\\n\"}\n-- 2 --\ntext: connection refused\n", n))
		u.run("-p", "--permission-mode=edits", []string{"--session-id=", "--resume="}[min(n, 1)]+id, model, "retry backoff").wants(0)
	}
	u.run("permission", "trust", "allow", "tool:lint").wants(0)
	entry, _ := u.served("")
	u.configure(`{"model": "house/house-coder", "allow": ["execute(go test **)"], "models": {"house/*": {"price": {"input": 0, "output": 0}}},
		"providers": {"house": {"base_url": "` + house(u.t).URL + `/v1"}}, "mcp": {"servers": {"files": ` + entry + `, "github": ` + entry + `}}}`)
	u.run("-p", "--worktree=fix-parser", "look").wants(0)
	u.file("session.json", u.run("sessions", "export", id, "--format=json").wants(0).out)
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
