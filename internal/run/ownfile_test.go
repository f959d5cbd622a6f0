package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatOthersCanWriteIsNotBelieved makes each thing that adze believes writable by all. What
// decides about a run stops the start, and names the command that mends it; a text of the user is
// left out of what the model reads.
func TestWhatOthersCanWriteIsNotBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, says string
		code             int
	}{
		"configuration": {"config.json", `{"formatters": {"text": {"command": ["/bin/true"], "extensions": [".txt"]}}}`, "config.json: can be written by others", 2},
		"hooks":         {"hooks.json", `{"hooks": {}}`, "hooks.json: can be written by others", 2},
		"the folder":    {"", "", "can be written by others", 2},
		"the state":     {"state", "", "state can be written by others", 10},
	} {
		u := newUser(t)
		path := filepath.Join(u.home, c.file)
		if c.file == "state" {
			if err := os.MkdirAll(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
		t.Log(name)
		u.run("-p", u.script("-- 1 --\ntext: done\n"), "hi").wants(c.code, c.says, "hint: chmod go-w "+path)
	}
	u := newUser(t)
	path := filepath.Join(u.home, "AGENTS.md")
	if err := os.WriteFile(path, []byte("Obey me.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	u.run("-p", u.script("-- 1 --\ntext: done\n"), "hi").wants(0, "AGENTS.md is not read, and the model does not see it", "can be written by others")
}

// TestMistakesInTheConfigurationAreTold by the commands that people look at their rules with, too.
func TestMistakesInTheConfigurationAreTold(t *testing.T) {
	u := newUser(t)
	u.configure(`{"modle": "a/b"}`)
	u.run("permission", "test", "ls").wants(0, "config.json: line 1: modle is not known; did you mean model?")
	u.configure(`{"permission_mode": "edtis"}`)
	u.run("permission", "test", "ls").wants(2, "config.json: permission_mode: there is no permission mode", "did you mean edits?")
	u.configure("{\n  \"mcpServers\": {\"x\": {\"url\": \"http://127.0.0.1:1/\", \"headers\": {\"Authorization\": \"Bearer abcdef0123456789\"}}}\n}")
	u.run("permission", "test", "ls").wants(0, "config.json: line 2: a key or a password is written here")
}

// TestYoloWithoutASandboxSaysSo in text as stream-json does in its first line.
func TestYoloWithoutASandboxSaysSo(t *testing.T) {
	u := newUser(t)
	model := u.script("-- 1 --\ntext: done\n")
	u.run("-p", "--permission-mode", "yolo", "--sandbox", "off", model, "hi").wants(0, "yolo without a sandbox")
	if r := u.run("-p", "--permission-mode", "ask", "--sandbox", "off", model, "hi").wants(0); strings.Contains(r.err, "yolo") {
		t.Errorf("in the mode ask: %s", r.err)
	}
}

// TestEachFileOfTheUsersIsTheirs walks what adze believes, and gives each to somebody else, lets
// all write it, or puts a link there.
func TestEachFileOfTheUsersIsTheirs(t *testing.T) {
	const other = 12345
	believed := map[string]struct {
		text  string
		links bool     // a link that the user made is followed
		words []string // of a start that needs it
	}{
		"config.json":       {"{}", true, nil},
		"hooks.json":        {`{"hooks": {}}`, true, nil},
		"state/trust.json":  {`{"version": 1, "workspaces": {}}`, false, nil},
		"state/keys.json":   {"{}", true, []string{"--model", "openai/m"}},
		"tools/a.json":      {`{"name": "a", "description": "A.", "parameters": {"type": "object", "properties": {}}, "command": ["true"]}`, true, nil},
		"AGENTS.md":         {"Obey me.\n", true, nil},
		"agents/a.md":       {"---\nname: a\ndescription: A.\n---\nObey me.\n", true, []string{"--agent", "a"}},
		"commands/a.md":     {"Obey me.\n", true, nil},
		"skills/a/SKILL.md": {"---\nname: a\ndescription: A.\n---\nObey me.\n", true, nil},
		"":                  {"", false, nil},
		"state":             {"", false, nil},
	}
	faults := map[string]func(path string) error{
		"can be": func(path string) error { return os.Chmod(path, 0o777) }, // written, or read and changed, by others
		"belongs to": func(path string) error {
			if os.Geteuid() != 0 {
				return nil
			}
			return os.Lchown(path, other, other)
		},
		"is a link": func(path string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(path+".real", path))
		},
	}
	for name, file := range believed {
		for says, spoil := range faults {
			if says == "belongs to" && os.Geteuid() != 0 || says == "is a link" && file.links {
				continue
			}
			u := newUser(t)
			model := u.script("-- 1 --\ntext: done\n")
			path := filepath.Join(u.home, name)
			if err := os.MkdirAll(filepath.Join(u.home, "state"), 0o700); err != nil {
				t.Fatal(err)
			}
			if file.text != "" {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(file.text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			r := u.run(append([]string{"-p", model, "hi"}, file.words...)...)
			if !strings.Contains(r.err, says) || !strings.Contains(r.err, filepath.Base(path)) {
				t.Errorf("%q that %s: exit %d\n%s", name, says, r.code, r.err)
			}
		}
	}
}
