package hostio

import (
	"path/filepath"
	"testing"
)

func TestDefaultsAreKept(t *testing.T) {
	d := Defaults{File: filepath.Join(t.TempDir(), "config.json")}
	if d.Kept("model") != "" || d.Kept("interface.theme") != "auto" || d.Kept("interface.keys") != "usual" {
		t.Errorf("without a file: %q %q %q", d.Kept("model"), d.Kept("interface.theme"), d.Kept("interface.keys"))
	}
	for name, value := range map[string]string{"model": "ollama/qwen3", "interface.theme": "light", "interface.keys": "vim"} {
		if err := d.Keep(name, value); err != nil || d.Kept(name) != value {
			t.Errorf("%s: %q, %v", name, d.Kept(name), err)
		}
	}
}
