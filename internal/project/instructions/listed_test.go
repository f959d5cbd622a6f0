package instructions

import (
	"os"
	"path/filepath"
	"testing"
)

// Each file that is there is listed once, with what becomes of it.
func TestListedTellsOfEveryFile(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	files := map[string]string{
		filepath.Join(home, ".claude/CLAUDE.md"): "mine\n", filepath.Join(home, ".gemini/GEMINI.md"): "mine, too\n",
		filepath.Join(dir, ".git/HEAD"): "x", filepath.Join(dir, "CLAUDE.md"): "top @more.md\n", filepath.Join(dir, "more.md"): "more\n",
		filepath.Join(dir, "GEMINI.md"): "other\n", filepath.Join(dir, ".cursorrules"): "old\n",
		filepath.Join(dir, ".claude/rules/go.md"): "---\npaths: [\"**/*.go\"]\n---\ntabs\n",
		filepath.Join(dir, "web/AGENTS.md"):       "web\n", filepath.Join(dir, "web/.cursor/rules/a.mdc"): "---\nalwaysApply: true\n---\na\n",
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := New(Source{}, Place{Home: home, Dir: filepath.Join(dir, "web")})
	defer r.Close()
	got := map[string]string{}
	for _, l := range r.Listed() {
		if _, twice := got[l.DisplayPath]; twice || l.Size == 0 {
			t.Errorf("%+v, listed before: %v", l, twice)
		}
		got[l.DisplayPath] = l.State
	}
	want := map[string]string{
		"~/.claude/CLAUDE.md": Used, "~/.gemini/GEMINI.md": Left, "../CLAUDE.md": Used, "../GEMINI.md": Left, "../.cursorrules": Left,
		"../.claude/rules/go.md": Waits, "AGENTS.md": Used, ".cursor/rules/a.mdc": Left,
	}
	for name, state := range want {
		if got[name] != state {
			t.Errorf("%s is %q, want %q", name, got[name], state)
		}
	}
	if len(got) != len(want) {
		t.Errorf("listed: %v", got)
	}
	if quiet := New(Source{Bare: true}, r.Place).Listed(); quiet != nil {
		t.Errorf("bare: %v", quiet)
	}
}
