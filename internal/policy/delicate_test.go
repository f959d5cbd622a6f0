package policy

import (
	"path"
	"strings"
	"testing"

	"adze/internal/osfile/delicate"
	"adze/tool"
)

// everywhere takes each name for a path in a home folder that is the workspace too.
type everywhere struct{}

func (everywhere) Judge(name string) (Place, error) {
	return Place{Abs: path.Join("/home/ann", name), Rel: name}, nil
}

// Each name by which another program runs something is asked for where a tool would write it, in a
// mode that writes without questions and in any case of its letters. Files that people build, run
// and read are not.
func TestNoToolWritesADelicateNameUnasked(t *testing.T) {
	p, err := New(Options{Mode: Edits, Paths: everywhere{}, Home: "/home/ann"})
	if err != nil {
		t.Fatal(err)
	}
	allowed := func(target string) bool {
		d, err := p.Decide(t.Context(), tool.Question{Needs: []tool.Need{{Permission: tool.Write, Target: target}}})
		if err != nil {
			t.Fatal(err)
		}
		return d.Allow
	}
	for _, n := range delicate.Names() {
		name := strings.ReplaceAll(n.Path, "*", "x")
		if n.Folder() {
			name += "a"
		}
		targets := []string{name, strings.ToUpper(name)}
		if n.Location == delicate.Anywhere {
			targets = append(targets, "deep/er/"+name)
		}
		for _, target := range targets {
			if allowed(target) {
				t.Errorf("%s is written unasked, by which %s runs %s", target, n.Program, n.Runs)
			}
		}
	}
	for _, target := range []string{"package.json", "Makefile", ".gitignore", ".editorconfig", ".github/workflows/ci.yml", "AGENTS.md", "node_modules/x/.npmrc", "src/bin/main.rs"} {
		if !allowed(target) {
			t.Errorf("%s is asked for", target)
		}
	}
}
