package run_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/mcptest"
	"adze/tool"
)

// inGit runs git in a folder, as somebody with a name.
func inGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository makes one with a file and a commit beside the workspace.
func (u *user) repository(name string) string {
	u.t.Helper()
	dir := filepath.Join(u.home, "repos", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		u.t.Fatal(err)
	}
	inGit(u.t, dir, "init", "-q", "-b", "main")
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		u.t.Fatal(err)
	}
	inGit(u.t, dir, "add", "-A")
	inGit(u.t, dir, "commit", "-q", "-m", "first")
	return dir
}

// batchResult is what these tests read of a line of results.jsonl.
type batchResult struct {
	Task, Cause, Message, Text, Patch, Base, Pushed, Session string
	OK                                                       bool
	Changed                                                  int `json:"files_changed"`
	Resumed                                                  int
	Labels                                                   map[string]string
	Calls                                                    map[string]map[tool.Status]int
}

func (u *user) batchResults(out string) map[string][]batchResult {
	u.t.Helper()
	raw, err := os.ReadFile(filepath.Join(out, "results.jsonl"))
	if err != nil {
		u.t.Fatal(err)
	}
	all := map[string][]batchResult{}
	for line := range strings.Lines(string(raw)) {
		var r batchResult
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			u.t.Fatalf("%v: %s", err, line)
		}
		all[r.Task] = append(all[r.Task], r)
	}
	return all
}

// runningBelow lists processes that work in a folder or below it.
func runningBelow(dir string) string {
	var left []string
	found, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range found {
		if cwd, err := os.Readlink(link); err == nil && strings.HasPrefix(cwd, dir) {
			args, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			left = append(left, link+" "+strings.ReplaceAll(string(args), "\x00", " "))
		}
	}
	return strings.Join(left, "\n")
}

// listed is what adze models --json says.
type listed struct {
	Default *struct{ Model, Origin string }
	Problem string

	Providers []struct {
		Provider, Endpoint, Why string
		Key                     bool
		Usable                  *bool
		Models                  []struct {
			Model   string
			Context int
			Size    int64 `json:"size_bytes"`
			Tools   *bool
			Input   *float64 `json:"input_usd"`
		}
	}
}

func (u *user) models(args ...string) listed {
	u.t.Helper()
	var l listed
	if err := json.Unmarshal([]byte(u.run(append([]string{"models", "--json"}, args...)...).wants(0).out), &l); err != nil {
		u.t.Fatal(err)
	}
	return l
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// weighed is what adze tools context --json answers.
type weighed struct {
	Schema, Session, Model, Profile string
	Bytes                           int
	Estimate                        int `json:"estimate_tokens"`
	Sources                         []struct {
		Group, Name   string
		Bytes, Tokens int
	}
	LeftOut []struct{ Kind, Name, Why string } `json:"left_out"`
	Carried []struct{ Kind, Name, Origin, Path, State, Why string }
	Notices []string
}

func (u *user) weighs(args ...string) (w weighed) {
	u.t.Helper()
	r := u.run(append([]string{"context", "--json"}, args...)...).wants(0)
	if err := json.Unmarshal([]byte(r.out), &w); err != nil {
		u.t.Fatalf("%v: %s", err, r.out)
	}
	if w.Schema != "adze.context/1" {
		u.t.Errorf("schema %q", w.Schema)
	}
	return w
}

func (w weighed) source(name string) int {
	for _, s := range w.Sources {
		if s.Name == name {
			return s.Bytes
		}
	}
	return 0
}

// talk has sessions stored: what is asked of each, and what its model does.
func (u *user) talk(prompts map[string]string) {
	u.t.Helper()
	for prompt, steps := range prompts {
		u.run("-p", "--permission-mode", "yolo", u.script(steps), prompt).wants(0)
	}
}

// lastUsed is the id of the session that was used last.
func (u *user) lastUsed() string {
	u.t.Helper()
	var got struct{ ID string }
	decode(u.t, u.run("session", "list", "--json", "--limit", "1").wants(0).out, &got)
	return got.ID
}

// served is the entry of a server that leaves a byte in a file with each start, and behaves as it
// is told.
func (u *user) served(how string) (entry, starts string) {
	u.t.Helper()
	self, err := os.Executable()
	if err != nil {
		u.t.Fatal(err)
	}
	starts = filepath.Join(u.t.TempDir(), "starts")
	raw, _ := json.Marshal(map[string]any{"command": self, "args": []string{mcptest.Word, how + "; start " + starts}}) // texts always encode
	return string(raw), starts
}

func startsIn(t *testing.T, file string) int {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(raw)
}

// tamper copies a database and changes the copy behind the program's back.
func tamper(t *testing.T, from, to, change string) {
	t.Helper()
	path := filepath.Join(to, "state", "sessions.db")
	if err := os.CopyFS(filepath.Dir(path), os.DirFS(filepath.Join(from, "state"))); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var guards string // which forbid such a change
	if err := db.QueryRow("SELECT group_concat(sql, ';') FROM sqlite_master WHERE name IN ('entries_keep', 'entries_stay', 'entries_count')").Scan(&guards); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("DROP TRIGGER entries_keep; DROP TRIGGER entries_stay; DROP TRIGGER entries_count;" + change + ";" + guards); err != nil {
		t.Fatal(err)
	}
}
