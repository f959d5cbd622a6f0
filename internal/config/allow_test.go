package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAddAllowKeepsCommentsAndAddsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte("{\n\t// my favourite\n\t\"model\": \"ollama/qwen3\",\n\t\"allow\": [\"execute(go vet **)\"], // fine\n}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := AddAllow(path, "execute(go test ./...)", "execute(go vet **)"); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(path)
	if err != nil || c.Model != "ollama/qwen3" || !slices.Equal(c.Allow, []string{"execute(go vet **)", "execute(go test ./...)"}) {
		t.Errorf("the file says %+v, %v", c, err)
	}
	raw, _ := os.ReadFile(path)
	if !strings.Contains(string(raw), "// my favourite") || !strings.Contains(string(raw), "// fine") {
		t.Errorf("comments are gone:\n%s", raw)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v", info.Mode())
	}
}

func TestAddAllowMakesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adze", "config.json")
	if err := AddAllow(path, "network(https://go.dev:443)"); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil || !slices.Equal(c.Allow, []string{"network(https://go.dev:443)"}) {
		t.Errorf("the file says %+v, %v", c, err)
	}
}

func TestAddAllowLeavesAFileWithAMistakeAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"denny": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := AddAllow(path, "execute(make)"); err == nil {
		t.Error("no error")
	}
	if raw, _ := os.ReadFile(path); string(raw) != `{"denny": []}` {
		t.Errorf("it was changed to %s", raw)
	}
}

func TestAddAllowFollowsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "config.json")
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if err := AddAllow(link, "execute(make)"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode().IsRegular() {
		t.Error("the link was replaced by a file")
	}
	if c, err := Load(real); err != nil || len(c.Allow) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAddAllowWritesAFileThatSaysNothing(t *testing.T) {
	for before, want := range map[string]string{
		"":                        "execute(make)",
		"\xef\xbb\xbf":            "execute(make)",
		"// mine\n":               "// mine",
		"\xef\xbb\xbf{/* a */}\n": "/* a */",
	} {
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := AddAllow(path, "execute(make)"); err != nil {
			t.Fatalf("%q: %v", before, err)
		}
		raw, _ := os.ReadFile(path)
		c, err := Parse(path, raw)
		if err != nil || len(c.Allow) != 1 || !strings.Contains(string(raw), want) {
			t.Errorf("%q became %q: %v", before, raw, err)
		}
	}
}
