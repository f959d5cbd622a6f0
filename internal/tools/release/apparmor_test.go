package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// The packages load the profile where AppArmor knows such profiles, leave one of the user's own as it
// is, and take theirs away at the end.
func TestThePackagesLoadTheProfile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the scripts are of Linux packages")
	}
	inRoot(t)
	dir, err := filepath.Abs(filepath.Join("deploy", "apparmor"))
	if err != nil {
		t.Fatal(err)
	}
	ours := string(read(t, filepath.Join(dir, "adze")))
	for name, c := range map[string]struct{ parser, before, want string }{
		"it knows them":         {"exit 0", "", ours},
		"it does not":           {"exit 1", "", ""},
		"one of an old version": {"exit 0", "# old\nprofile adze \"/usr/bin/adze\" {\n}\n", ours},
		"one of the user's own": {"exit 0", "profile adze /opt/adze {\n}\n", "profile adze /opt/adze {\n}\n"},
	} {
		root := t.TempDir()
		at := filepath.Join(root, "etc", "apparmor.d", "adze")
		for path, text := range map[string]string{filepath.Join(root, "usr/share/adze/apparmor"): ours, filepath.Join(root, "bin/apparmor_parser"): "#!/bin/sh\n" + c.parser + "\n", at: c.before} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if text != "" {
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
		}
		script := func(name string, argument string) {
			t.Helper()
			cmd := exec.Command("sh", filepath.Join(dir, name), argument)
			cmd.Env = []string{"DPKG_ROOT=" + root, "PATH=" + filepath.Join(root, "bin") + ":/usr/bin:/bin"}
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v %s", t.Name(), name, err, out)
			}
		}
		script("postinstall", "configure")
		if got, _ := os.ReadFile(at); string(got) != c.want {
			t.Errorf("%s: the profile is %q", name, got)
		}
		script("postremove", "upgrade")
		if got, _ := os.ReadFile(at); string(got) != c.want {
			t.Errorf("%s: after an upgrade it is %q", name, got)
		}
		script("postremove", "remove")
		if _, err := os.Stat(at); err == nil && c.want == ours {
			t.Errorf("%s: it stays", name)
		}
	}
}
