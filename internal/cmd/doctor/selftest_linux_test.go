package doctor

import (
	"path/filepath"
	"testing"

	"adze/internal/sandbox"
)

// Below Landlock alone a command only reads the workspace, which is no failure of the self-test.
func TestInsideIsTriedByWhatTheSandboxAllows(t *testing.T) {
	for means, want := range map[sandbox.Technique]string{sandbox.Namespaces: "a command writes the workspace", sandbox.Landlock: "a command reads the workspace, and cannot write it"} {
		top := t.TempDir()
		b := bench{top: top, home: filepath.Join(top, "home"), work: filepath.Join(top, "home", "work"), state: filepath.Join(top, "state")}
		if err := b.fill(); err != nil {
			t.Fatal(err)
		}
		b.box = sandbox.New(sandbox.Options{Workspace: b.work, Home: b.home, State: b.state, OwnPaths: []string{b.state}, Techniques: []sandbox.Technique{means}})
		defer b.box.Close()
		if r, err := b.box.Level(t.Context()); err != nil || r.Level == sandbox.NoLevel {
			t.Logf("%s: %+v %v", means, r, err)
			continue
		}
		if found, err := b.boxed(t.Context()); err != nil || found != want {
			t.Errorf("%s: %q, %v", means, found, err)
		}
	}
}
