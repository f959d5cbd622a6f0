package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
)

// A folder of a command's own can be written by every means, although it lies in adze's state, and
// nothing else of that can be seen.
func TestACommandHasAFolderOfItsOwn(t *testing.T) {
	for _, means := range []sandbox.Technique{sandbox.Namespaces, sandbox.Landlock} {
		t.Run(string(means), func(t *testing.T) {
			b := newBench(t, means)
			own := filepath.Join(b.state, "mcp", "folders", "fs")
			if err := os.MkdirAll(own, 0o700); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{filepath.Join(own, "before"), filepath.Join(b.state, "secret")} {
				if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := proc.Supervisor{Cage: b.box}.Run(context.Background(), proc.Command{
				Argv: []string{"bash", "--noprofile", "--norc", "-c", "cat before; echo y > after; cat " + filepath.Join(b.state, "secret") + " 2>/dev/null && echo seen; { echo z > " + filepath.Join(b.work, "in") + "; } 2>/dev/null"},
				Dir:  own, OwnDir: true, Env: b.env(),
			})
			if err != nil {
				t.Fatal(err)
			}
			if text(r) != "x" || r.Sandbox == "" {
				t.Errorf("%q in %q, %s", text(r), r.Sandbox, r.Errors.Head)
			}
			if _, err := os.Stat(filepath.Join(own, "after")); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(b.work, "in")); (err == nil) != (means == sandbox.Namespaces) {
				t.Errorf("it wrote in the workspace, which it only reads below Landlock: %v", err)
			}
		})
	}
}
