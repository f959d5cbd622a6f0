package settings

import (
	"path/filepath"
	"testing"

	"adze/internal/cmd"
	"adze/internal/config/paths"
	"adze/internal/llm/credentials"
	"adze/internal/run/process"
)

func TestDefaultsAreKept(t *testing.T) {
	dir := t.TempDir()
	p := process.New(nil, cmd.Env{}, credentials.NewRing(func(string) string { return "" }))
	d := &Settings{Process: p, Places: paths.Places{State: dir}, File: filepath.Join(dir, "config.json")}
	if d.Kept("model") != "" || d.Kept("interface.theme") != "auto" || d.Kept("interface.keys") != "usual" {
		t.Errorf("without a file: %q %q %q", d.Kept("model"), d.Kept("interface.theme"), d.Kept("interface.keys"))
	}
	for name, value := range map[string]string{"model": "ollama/qwen3", "interface.theme": "light", "interface.keys": "vim"} {
		if err := d.Keep(name, value); err != nil || d.Kept(name) != value {
			t.Errorf("%s: %q, %v", name, d.Kept(name), err)
		}
	}
}
