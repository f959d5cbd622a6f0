//go:build unix

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The file of the machine's owner counts only where nobody else could have written it, and every
// mistake in it is said: what it forbids must not be lost in silence.
func TestTheOwnersFile(t *testing.T) {
	me := os.Getuid()
	file := func(t *testing.T, text string) string {
		dir := filepath.Join(t.TempDir(), "adze")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "config.json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := `{"deny": ["execute(sudo **)"], "ask": ["network"], "permission_modes": ["plan", "ask"]} // of us all` + "\n"
	m, err := loadManaged(file(t, good), me)
	if err != nil || !slices.Equal(m.Deny, []string{"execute(sudo **)"}) || !slices.Equal(m.Ask, []string{"network"}) || len(m.Modes) != 2 {
		t.Errorf("%+v %v", m, err)
	}
	if m, err := loadManaged(filepath.Join(t.TempDir(), "none.json"), me); err != nil || m.Path != "" {
		t.Errorf("no file: %+v %v", m, err)
	}
	for text, says := range map[string]string{
		`{"allow": ["execute"]}`: "allow", `{"deny": ["a"], "deny": []}`: "deny stands", `{"deny": "execute"}`: "", `{"sandbox": "off"}`: "can only be on", `{`: "", `[]`: "",
	} {
		if _, err := loadManaged(file(t, text), me); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, spoil := range map[string]func(path string) error{
		"writable by all": func(p string) error { return os.Chmod(p, 0o666) },
		"a folder of all": func(p string) error { return os.Chmod(filepath.Dir(p), 0o777) },
		"a folder of a group": func(p string) error { // a user's private group is no other
			if err := os.Chown(filepath.Dir(p), -1, 1); err != nil {
				return os.Chmod(filepath.Dir(p), 0o777)
			}
			return os.Chmod(filepath.Dir(p), 0o775)
		},
		"a link": func(p string) error {
			if err := os.Rename(p, p+".real"); err != nil {
				return err
			}
			return os.Symlink(p+".real", p)
		},
		"a folder in its place": func(p string) error { os.Remove(p); return os.Mkdir(p, 0o755) },
	} {
		path := file(t, good)
		if err := spoil(path); err != nil {
			t.Fatal(err)
		}
		if m, err := loadManaged(path, me); err == nil {
			t.Errorf("%s: %+v", name, m)
		}
	}
	path, owner := file(t, good), me+1
	if me == 0 {
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		owner = 0
	}
	if _, err := loadManaged(path, owner); err == nil || !strings.Contains(err.Error(), "belongs to") {
		t.Errorf("of somebody else: %v", err)
	}
}

// TestWhatIsRequiredStands sets the sandbox in each place where it can be set.
func TestWhatIsRequiredStands(t *testing.T) {
	for name, c := range map[string]struct{ owner, file, flag, becomes string }{
		"nowhere":                  {"", "", "", ""},
		"the owner":                {"required", "", "", "required"},
		"all":                      {"required", "required", "required", "required"},
		"the owner, not the file":  {"required", "off", "", ""},
		"the owner, not the flag":  {"required", "", "off", ""},
		"the owner, the usual":     {"required", "", "auto", ""},
		"the file, not the flag":   {"", "required", "off", ""},
		"the file, the usual":      {"", "required", "auto", ""},
		"the file":                 {"", "required", "", "required"},
		"the flag, not the file":   {"", "off", "required", "off"}, // the flag is laid over it
		"off in both":              {"", "off", "off", "off"},
		"the usual, then switched": {"", "auto", "off", "auto"},
	} {
		cfg := Config{Sandbox: Sandbox{Use: c.file}}
		err := cfg.RequireSandbox(Managed{Path: "/etc/adze/config.json", Sandbox: c.owner}, c.flag)
		refused := c.becomes == "" && c.owner+c.file != ""
		if (err != nil) != refused || !refused && cfg.Sandbox.Use != c.becomes {
			t.Errorf("%s: %q, %v", name, cfg.Sandbox, err)
		}
	}
}
