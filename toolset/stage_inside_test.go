package toolset

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adze/internal/sandbox/proc"
)

// git 2.39.5 ignores lines above the first header of a patch, so that there is room to name modes,
// links and empty files there.
func TestAPatchSaysWhatIsNotInIt(t *testing.T) {
	patch, whole := Staged{Files: []proc.ChangedFile{
		{Path: "empty", Change: "added", Texts: true},
		{Path: "run", Change: "added", Texts: true, After: "x\n", Summary: "executable"},
		{Path: "to", Change: "added", Summary: "link to run"},
	}}.Patch()
	const want = "not in this patch: empty is added\nnot in this patch: run is added executable\nnot in this patch: to is added link to run\n" +
		"--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+x\n"
	if patch != want || whole {
		t.Fatalf("whole %v: %s, want %s", whole, patch, want)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "a.patch")
	if err := os.WriteFile(file, []byte(patch), 0o600); err != nil {
		t.Fatal(err)
	}
	apply := exec.Command("git", "apply", file)
	apply.Dir = dir
	if out, err := apply.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
