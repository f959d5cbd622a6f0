//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

// seatbeltRule is one line of a profile that is about paths.
type seatbeltRule struct {
	allow      bool
	operations []string
	match      string // subpath, literal; if empty, everything
	path       string
}

var seatbeltLine = regexp.MustCompile(`^\((allow|deny) ((?:[a-z-]+\*? ?)+)(?: ?\((subpath|literal) \(param "(P[0-9]+)"\)\))?\)$`)

// readSeatbelt reads a profile as macOS does: lines of it that name no path of a parameter are not
// about the places that are asked for here.
func readSeatbelt(t *testing.T, text string, params []string) (rules []seatbeltRule) {
	t.Helper()
	values := map[string]string{}
	for _, kv := range params {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	for line := range strings.Lines(text) {
		m := seatbeltLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		rules = append(rules, seatbeltRule{m[1] == "allow", strings.Fields(m[2]), m[3], values[m[4]]})
	}
	return rules
}

// allowed decides as macOS does: the last rule that is about an operation upon a path counts.
func allowed(rules []seatbeltRule, operation, path string) bool {
	verdict := false
	for _, r := range rules {
		about := false
		for _, o := range r.operations {
			prefix, wide := strings.CutSuffix(o, "*")
			about = about || o == operation || wide && strings.HasPrefix(operation, prefix) || o == "default"
		}
		switch r.match {
		case "subpath":
			about = about && isWithin(path, r.path)
		case "literal":
			about = about && path == r.path
		}
		if about {
			verdict = r.allow
		}
	}
	return verdict
}

// TestTheSeatbeltProfileHoldsWhatThePageSays asks the profile of a real plan for each sentence of
// the page about the sandbox.
func TestTheSeatbeltProfileHoldsWhatThePageSays(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, state := filepath.Join(top, "home"), filepath.Join(top, "home", ".local", "state", "adze")
	work := filepath.Join(home, "work")
	for _, dir := range []string{state, filepath.Join(work, ".git", "hooks"), filepath.Join(home, ".ssh"), filepath.Join(home, "other")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{filepath.Join(work, ".git", "HEAD"): "ref: refs/heads/main\n", filepath.Join(work, ".git", "config"): "[core]\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Options{Workspace: work, Home: home, OwnPaths: []string{state}, State: state})
	defer s.Close()
	p, err := s.plan(proc.Command{Argv: []string{"true"}, Dir: work}, Seatbelt)
	if err != nil {
		t.Fatal(err)
	}
	text, params := seatbelt(p)
	rules := readSeatbelt(t, text, params)
	in := func(name string) string { return filepath.Join(work, name) }
	at := func(name string) string { return filepath.Join(home, name) }
	for _, c := range []struct {
		sentence, operation, path string
		want                      bool
	}{
		{"it may change this folder", "file-write-data", in("main.go"), true},
		{"it may make files in it", "file-write-create", in("sub/new"), true},
		{"it may use the programs of this machine", "file-read-data", "/usr/bin/env", true},
		{"it cannot change other files", "file-write-data", "/etc/hosts", false},
		{"it cannot change other files of the home", "file-write-create", at("other/x"), false},
		{"it cannot read the keys", "file-read-data", at(".ssh/id_ed25519"), false},
		{"it sees nothing of the home", "file-read-data", at("other/notes"), false},
		{"it cannot read adze's own files", "file-read-data", filepath.Join(state, "sessions.db"), false},
		{"hooks of git are read only", "file-write-create", in(".git/hooks/pre-commit"), false},
		{"what hooks are can be read", "file-read-data", in(".git/hooks/pre-commit"), true},
		{"the configuration of git is read only", "file-write-data", in(".git/config"), false},
		{"settings of editors are read only where there are none yet", "file-write-create", in(".vscode/tasks.json"), false},
		{"so are adze's own of the project", "file-write-create", in(".adze/config.json"), false},
		{"the folder itself stays", "file-write-unlink", work, false},
		{"the folder of git stays", "file-write-unlink", in(".git"), false},
		{"private caches can be written", "file-write-create", filepath.Join(p.cache, "go-build", "x"), true},
		{"there is no network", "network-outbound", "", false},
		{"no other process is signalled", "signal", "", false},
		{"no service is looked up", "mach-register", "", false},
	} {
		if got := allowed(rules, c.operation, c.path); got != c.want {
			t.Errorf("%s: %s upon %s is allowed: %v\n%s\n%q", c.sentence, c.operation, c.path, got, text, params)
		}
	}
}
