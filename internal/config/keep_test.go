package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/config"
)

func TestKeepWritesOneValueAndLeavesTheRest(t *testing.T) {
	const file = `// mine
{
	// the model at work
	"Model": "openai/old", // since May
	"deny": ["execute(rm **)",],
	"interface": {
		/* by day */ "inline": true,
	},
}
`
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(file), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"model", "ollama/qwen3:8b"}, {"interface.theme", "dark"}, {"interface.keys", "vim"}, {"interface.theme", "light"}} {
		if err := config.Keep(path, kv[0], kv[1]); err != nil {
			t.Fatal(kv, err)
		}
	}
	raw, _ := os.ReadFile(path)
	c, err := config.Parse(path, raw)
	if err != nil || c.Model != "ollama/qwen3:8b" || c.Interface.Theme != "light" || c.Interface.Keys != "vim" || !c.Interface.Inline || len(c.Deny) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, kept := range []string{"// mine", "// the model at work", "// since May", "/* by day */", `"Model"`} {
		if !strings.Contains(string(raw), kept) {
			t.Errorf("%s is gone:\n%s", kept, raw)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

func TestKeepMakesTheFileAndRefusesWhatItWouldBreak(t *testing.T) {
	path := filepath.Join(t.TempDir(), "adze", "config.json")
	if err := config.Keep(path, "interface.theme", "dark"); err != nil {
		t.Fatal(err)
	}
	if c, err := config.Load(path); err != nil || c.Interface.Theme != "dark" {
		t.Errorf("%+v, %v", c, err)
	}
	before, _ := os.ReadFile(path)
	if err := config.Keep(path, "interface.theme", "mauve"); err == nil {
		t.Error("a theme that there is not was written")
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("it was changed to %s", after)
	}
}
