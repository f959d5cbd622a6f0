package trust_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"adze/internal/project/trust"
)

// yard is a project and the book of its person.
type yard struct {
	t *testing.T
	trust.Project
}

func newYard(t *testing.T) *yard {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &yard{t, trust.Project{Dir: dir, Book: trust.OpenBook(filepath.Join(t.TempDir(), "state"))}}
}

func (y *yard) write(name, text string) {
	y.t.Helper()
	file := filepath.Join(y.Dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) items() map[string]trust.Item {
	y.t.Helper()
	items, err := y.Survey()
	if err != nil {
		y.t.Fatal(err)
	}
	out := map[string]trust.Item{}
	for _, i := range items {
		out[i.ID] = i
	}
	return out
}

func (y *yard) allow(ids ...string) {
	y.t.Helper()
	for _, id := range ids {
		i, ok := y.items()[id]
		if !ok {
			y.t.Fatalf("there is no %s in %v", id, y.items())
		}
		if err := y.Book.Allow(y.t.Context(), y.Dir, i); err != nil {
			y.t.Fatal(err)
		}
	}
}

func (y *yard) wants(id string, state trust.State) trust.Item {
	y.t.Helper()
	i := y.items()[id]
	if i.State != state {
		y.t.Errorf("%s is %q (%s), want %q", id, i.State, i.Problem, state)
	}
	return i
}

// Claude Code 2.1.332 runs no hook of a project where its file of one's own switches them off.
func TestAFileOfOnesOwnSwitchesHooksOff(t *testing.T) {
	y := newYard(t)
	y.write(".claude/settings.json", `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "check"}]}]}}`)
	y.write(".claude/settings.local.json", `{"disableAllHooks": true}`)
	if i := y.items()["hook:claude/PreToolUse/1"]; i.Hook == nil || i.Idle == "" || i.Hook.Unsupported != i.Idle {
		t.Errorf("%+v", i)
	}
}

// Each kind of thing is found in the files of adze and of other assistants, with what it would run.
func TestWhatAProjectWouldRunIsFound(t *testing.T) {
	y := newYard(t)
	y.write(".adze/tools/lint.json", `{"name": "lint", "command": ["./lint.sh", ["--only", "{path}"]], "workdir": "src"} // mine
`)
	y.write(".adze/tools/lint.sh", "echo")
	y.write(".claude/settings.json", `{"hooks": {"PreToolUse": [{"matcher": "Edit", "hooks": [
		{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/check.sh --fast"}, {"type": "command", "command": "prog", "args": ["a b"]}]}]}}`)
	y.write(".claude/check.sh", "echo")
	y.write(".mcp.json", `{"mcpServers": {"files": {"command": "node", "args": ["server.js"], "env": {"TOKEN": "x"}}, "far": {"url": "http://127.0.0.1:9/"}}}`)
	y.write("server.js", "")
	y.write("opencode.json", `{"mcp": {"own": {"type": "local", "command": ["bun", "x.ts"]}}, "formatter": {"prettier": {"command": ["./fmt.sh", "$FILE"]}}}`)
	y.write("opencode.jsonc", `{"mcp": false}`)
	y.write(".claude/commands/git/status.md", "---\ndescription: x\n---\nState: !`git status` and\n```!\nls -l\n```\n")
	y.write(".claude/commands/plain.md", "Only words! `code`\n")
	want := map[string][2]string{ // command, files
		"tool:lint":                {"./lint.sh --only {path}", ".adze/tools/lint.sh"},
		"hook:claude/PreToolUse/1": {`"$CLAUDE_PROJECT_DIR"/.claude/check.sh --fast`, ".claude/check.sh"},
		"hook:claude/PreToolUse/2": {"prog 'a b'", ""},
		"server:files":             {"node server.js", "server.js"},
		"server:far":               {"http://127.0.0.1:9/", ""},
		"server:own":               {"bun x.ts", ""},
		"command:git/status":       {"git status; ls -l", ""},
	}
	got := y.items()
	for id, w := range want {
		i := got[id]
		var files []string
		for _, f := range i.Files {
			files = append(files, f.Path)
		}
		if i.Command() != w[0] || strings.Join(files, " ") != w[1] || i.State != trust.Waiting || len(i.Hash) != 64 {
			t.Errorf("%s runs %q with the files %q, is %q; want %q", id, i.Command(), files, i.State, w)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("found beside them: %v", got)
	}
	if i := y.items()["server:files"]; strings.Join(i.Env, " ") != "TOKEN" {
		t.Errorf("the variables are %q", i.Env)
	}
}

// Consent pins everything that was shown, and the files that the command names. Editors put a mark
// before the first byte, which other assistants read over; what such a file would run is found all
// the same.
func TestAMarkBeforeTheFirstByteHidesNothing(t *testing.T) {
	const mark = "\xef\xbb\xbf"
	y := newYard(t)
	y.write(".adze/tools/lint.json", mark+`{"name": "lint", "command": ["./lint.sh"]}`)
	y.write(".adze/tools/lint.sh", "echo")
	y.write(".mcp.json", mark+`{"mcpServers": {"files": {"command": "node"}}}`)
	y.write(".claude/settings.json", mark+`{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "check"}]}]}}`)
	y.write(".cursor/mcp.json", "")
	got := y.items()
	for id, command := range map[string]string{"tool:lint": "./lint.sh", "server:files": "node", "hook:claude/PreToolUse/1": "check"} {
		if i := got[id]; i.Command() != command || i.State != trust.Waiting {
			t.Errorf("%s runs %q, is %q: %s", id, i.Command(), i.State, i.Problem)
		}
		delete(got, id)
	}
	if len(got) > 0 {
		t.Errorf("found beside them: %v", got)
	}
	y.allow("server:files")
	y.wants("server:files", trust.Allowed)
	y.write(".mcp.json", "\xff\xfe{\x00}\x00")
	if i := y.items()["server:mcp"]; !strings.Contains(i.Problem, "UTF-16") {
		t.Errorf("a file in UTF-16: %q", i.Problem)
	}
}

func TestAChangeAsksAgain(t *testing.T) {
	for name, change := range map[string]func(*yard){
		"definition": func(y *yard) {
			y.write(".adze/tools/lint.json", `{"name": "lint", "command": ["./lint.sh"], "timeout": "9s"}`)
		},
		"program":  func(y *yard) { y.write(".adze/tools/lint.sh", "curl evil") },
		"argument": func(y *yard) { y.write("conf/rules.js", "evil()") },
		"makefile": func(y *yard) { y.write("Makefile", "all:\n\tevil") },
		"new file": func(y *yard) { y.write("GNUmakefile", "all:\n\tevil") },
		"link": func(y *yard) {
			y.write("other.js", "evil()")
			if err := errorsJoin(os.Remove(filepath.Join(y.Dir, "conf/rules.js")), os.Symlink("../other.js", filepath.Join(y.Dir, "conf/rules.js"))); err != nil {
				y.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			y.write(".adze/tools/lint.json", `{"name": "lint", "command": ["./lint.sh", "--conf=conf/rules.js", "sh", "-c", "cd x && make all"]}`)
			y.write(".adze/tools/lint.sh", "echo")
			y.write("conf/rules.js", "x")
			y.write("Makefile", "all:")
			y.allow("tool:lint")
			was := y.wants("tool:lint", trust.Allowed)
			if err := y.Holds(was); err != nil {
				t.Errorf("it does not hold: %v", err)
			}
			y.write("unrelated.js", "x")
			y.wants("tool:lint", trust.Allowed)
			change(y)
			y.wants("tool:lint", trust.Changed)
			if err := y.Holds(was); err == nil || !strings.Contains(err.Error(), "changed") {
				t.Errorf("it still holds: %v", err)
			}
		})
	}
}

func errorsJoin(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A copy of a project elsewhere is another one; the same place by a link is the same.
func TestConsentBelongsToAPlace(t *testing.T) {
	y := newYard(t)
	y.write(".adze/tools/a.json", `{"name": "a", "command": ["true"]}`)
	y.allow("tool:a")
	copied := *y
	copied.Dir = t.TempDir()
	copied.write(".adze/tools/a.json", `{"name": "a", "command": ["true"]}`)
	copied.wants("tool:a", trust.Waiting)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(y.Dir, link); err != nil {
		t.Fatal(err)
	}
	linked := *y
	linked.Dir = link
	linked.wants("tool:a", trust.Allowed)
	if gone, err := y.Revoke(t.Context(), "tool:a", "tool:b"); err != nil || strings.Join(gone, " ") != "tool:a" {
		t.Errorf("revoked %q, %v", gone, err)
	}
	y.wants("tool:a", trust.Waiting)
}

// A file that cannot be used allows nothing, is told, and is kept when it is replaced; one of a
// newer adze is left alone.
func TestADamagedBookAllowsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(book string) error
		again bool
	}{
		"cut":      {func(b string) error { return os.Truncate(b, 40) }, true},
		"empty":    {func(b string) error { return os.Truncate(b, 0) }, true},
		"writable": {func(b string) error { return os.Chmod(b, 0o666) }, true},
		"a folder": {func(b string) error { return errorsJoin(os.Remove(b), os.Mkdir(b, 0o700)) }, true},
		"a link":   {func(b string) error { return errorsJoin(os.Rename(b, b+".real"), os.Symlink(b+".real", b)) }, true},
		"newer":    {func(b string) error { return os.WriteFile(b, []byte(`{"version": 9}`), 0o600) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			y := newYard(t)
			y.write(".adze/tools/a.json", `{"name": "a", "command": ["true"]}`)
			y.allow("tool:a")
			was := y.wants("tool:a", trust.Allowed)
			if info, err := os.Stat(y.Book.Path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the book has the mode %v, %v", info.Mode(), err)
			}
			if err := c.spoil(y.Book.Path); err != nil {
				t.Fatal(err)
			}
			items, err := y.Survey()
			if err == nil || items[0].State != trust.Waiting || y.Holds(was) == nil {
				t.Errorf("%v, %v", items, err)
			}
			if err := y.Book.Allow(t.Context(), y.Dir, was); (err == nil) != c.again {
				t.Errorf("allowing again: %v", err)
			}
			if !c.again {
				return
			}
			y.wants("tool:a", trust.Allowed)
			if _, err := os.Lstat(y.Book.Path + ".damaged-1"); err != nil {
				t.Errorf("the old file is gone: %v", err)
			}
		})
	}
}

// Several processes may write at once; none loses what another wrote.
func TestConsentsBesideEachOther(t *testing.T) {
	y := newYard(t)
	var all []trust.Item
	for _, n := range "abcdefgh" {
		all = append(all, trust.Item{ID: "tool:" + string(n), Hash: "x"})
	}
	var wait sync.WaitGroup
	for _, i := range all {
		wait.Go(func() {
			if err := y.Book.Allow(t.Context(), y.Dir, i); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if kept := y.ConsentedIDs(); len(kept) != len(all) {
		t.Errorf("kept %q", kept)
	}
}

// What the user allowed in the main checkout counts in a work tree, until they take it back
// there; the main checkout keeps it.
func TestConsentIsTakenBackInAWorkTree(t *testing.T) {
	y := newYard(t)
	tree := *y
	tree.Dir, tree.Main = t.TempDir(), y.Dir
	for _, name := range []string{"a", "b", "c"} {
		for _, at := range []*yard{y, &tree} {
			at.write(".adze/tools/"+name+".json", `{"name": "`+name+`", "command": ["true"]}`)
		}
	}
	y.allow("tool:a", "tool:b")
	tree.allow("tool:c")
	tree.wants("tool:a", trust.Allowed)
	if gone, err := tree.Revoke(t.Context(), "tool:a"); err != nil || strings.Join(gone, " ") != "tool:a" {
		t.Errorf("revoked %q, %v", gone, err)
	}
	item := tree.wants("tool:a", trust.Waiting)
	if tree.Holds(item) == nil {
		t.Error("what was taken back may be used")
	}
	y.wants("tool:a", trust.Allowed)
	tree.wants("tool:b", trust.Allowed)
	if kept := tree.ConsentedIDs(); strings.Join(kept, " ") != "tool:b tool:c" {
		t.Errorf("kept %q", kept)
	}
	if gone, err := tree.Revoke(t.Context()); err != nil || strings.Join(gone, " ") != "tool:b tool:c" {
		t.Errorf("revoked %q, %v", gone, err)
	}
	if kept := tree.ConsentedIDs(); len(kept) != 0 {
		t.Errorf("kept %q", kept)
	}
	tree.allow("tool:a")
	tree.wants("tool:a", trust.Allowed)
	y.wants("tool:b", trust.Allowed)
}
