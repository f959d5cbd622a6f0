//go:build unix

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The file of the machine's owner counts only where nobody else could have written it, and every mistake in it is said:
// what it forbids must not be lost in silence.
func TestTheOwnersFile(t *testing.T) {
	me := uint32(os.Getuid())
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
		`{"allow": ["execute"]}`: "allow", `{"deny": ["a"], "deny": []}`: "deny stands", `{"deny": "execute"}`: "", `{`: "", `[]`: "",
	} {
		if _, err := loadManaged(file(t, text), me); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, spoil := range map[string]func(path string) error{
		"writable by all":     func(p string) error { return os.Chmod(p, 0o666) },
		"a folder of all":     func(p string) error { return os.Chmod(filepath.Dir(p), 0o777) },
		"a folder of a group": func(p string) error { return os.Chmod(filepath.Dir(p), 0o775) },
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
	if _, err := loadManaged(file(t, good), me+1); err == nil || !strings.Contains(err.Error(), "does not belong to root") {
		t.Errorf("of somebody else: %v", err)
	}
}
