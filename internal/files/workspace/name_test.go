package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/files/workspace"
)

// TestShownNamesCanBeGivenBack makes files with names that are shown in another way, and finds each
// by what is shown.
func TestShownNamesCanBeGivenBack(t *testing.T) {
	dir := t.TempDir()
	root, err := workspace.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"plain.go": "plain.go", "with space": "with space", "a\nb": `"a\nb"`, "tab\t": `"tab\t"`, "exe\u202egpj.txt": `"exe\u202egpj.txt"`,
		"zero\u200bwidth": `"zero\u200bwidth"`, "tag\U000E0041": `"tag\U000e0041"`, "\xff.bin": `"\xff.bin"`, `"quoted"`: `"\"quoted\""`, "esc\x1b[31m": `"esc\x1b[31m"`,
		"日本.md": "日本.md", `back\slash`: `back\slash`, `'x'`: `'x'`, "`y`": "`y`",
	} {
		shown := workspace.ShownName(name)
		if shown != want {
			t.Errorf("%q is shown as %s, want %s", name, shown, want)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Logf("%q cannot be a name here: %v", name, err)
			continue
		}
		for _, given := range []string{name, shown} {
			if p, err := root.Resolve(given); err != nil || !p.Exists() || !strings.HasSuffix(p.Display(), name) {
				t.Errorf("%s is %q (%v, %v), want %q", given, p.Display(), p.Exists(), err, name)
			}
		}
	}
	// What is inside the quotes is judged as any other name.
	if p, err := root.Resolve(`"../\u202eout"`); err != nil || !p.Outside() {
		t.Errorf("%q, %v", p.Display(), err)
	}
}
