package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestAddRulesKeepsCommentsAndAddsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte("{\n\t// my favourite\n\t\"model\": \"ollama/qwen3\",\n\t\"allow\": [\"execute(go vet **)\"], // fine\n}\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := AddRules(path, "allow", "execute(go test ./...)", "execute(go vet **)"); err != nil {
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

func TestAddRulesMakesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adze", "config.json")
	if _, err := AddRules(path, "allow", "network(https://go.dev:443)"); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil || !slices.Equal(c.Allow, []string{"network(https://go.dev:443)"}) {
		t.Errorf("the file says %+v, %v", c, err)
	}
}

func TestAddRulesLeavesAFileWithAMistakeAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"denny": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := AddRules(path, "allow", "execute(make)"); err == nil {
		t.Error("no error")
	}
	if raw, _ := os.ReadFile(path); string(raw) != `{"denny": []}` {
		t.Errorf("it was changed to %s", raw)
	}
}

func TestAddRulesFollowsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "config.json")
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Skip(err)
	}
	if _, err := AddRules(link, "allow", "execute(make)"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Lstat(link); info.Mode().IsRegular() {
		t.Error("the link was replaced by a file")
	}
	if c, err := Load(real); err != nil || len(c.Allow) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestAddRulesWritesAFileThatSaysNothing(t *testing.T) {
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
		if _, err := AddRules(path, "allow", "execute(make)"); err != nil {
			t.Fatalf("%q: %v", before, err)
		}
		raw, _ := os.ReadFile(path)
		c, err := Parse(path, raw)
		if err != nil || len(c.Allow) != 1 || !strings.Contains(string(raw), want) {
			t.Errorf("%q became %q: %v", before, raw, err)
		}
	}
}

// What is taken out goes with its own comment; all else stays, and a list that is not there is no
// mistake.
func TestRemoveRulesLeavesTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	before := "{\n\t// mine\n\t\"deny\": [\n\t\t\"execute(a)\", // first\n\t\t// second\n\t\t\"execute(b)\",\n\t\t\"execute(c)\",\n\t],\n}\n"
	if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if removed, err := RemoveRules(path, "ask", "execute(b)"); err != nil || removed != nil {
		t.Errorf("removed %v, %v", removed, err)
	}
	removed, err := RemoveRules(path, "deny", "execute(b)", "execute(x)")
	if err != nil || !slices.Equal(removed, []string{"execute(b)"}) {
		t.Fatalf("removed %v, %v", removed, err)
	}
	c, err := Load(path)
	if err != nil || !slices.Equal(c.Deny, []string{"execute(a)", "execute(c)"}) {
		t.Errorf("%v %v", c.Deny, err)
	}
	raw, _ := os.ReadFile(path)
	if !strings.Contains(string(raw), "// mine") {
		t.Errorf("a comment is gone:\n%s", raw)
	}
	if added, err := AddRules(path, "ask", "write(work:x)", "write(work:x)"); err != nil || len(added) != 1 {
		t.Errorf("added %v, %v", added, err)
	}
}

func TestManyWhoWriteAtOnceLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adze", "config.json")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			_, err := AddRules(path, "allow", fmt.Sprintf("execute(make %d)", i))
			err = errors.Join(err, KeepServer(path, fmt.Sprintf("s%d", i), MCPServer{Command: "server"}))
			if i == 0 {
				err = errors.Join(err, Keep(path, "interface.theme", "dark"))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	c, err := Load(path)
	if err != nil || len(c.Allow) != 24 || len(c.MCP.Servers) != 24 || c.Interface.Theme != "dark" {
		t.Errorf("of 24 rules %d are left, of 24 servers %d, the theme is %q: %v", len(c.Allow), len(c.MCP.Servers), c.Interface.Theme, err)
	}
}
