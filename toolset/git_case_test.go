package toolset

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"adze/internal/testkit/golden"
)

// setupSection is a bash script of a case that runs in the workspace before the calls: it makes the
// repository. Names, addresses and dates are fixed, so hashes are too.
const setupSection = "setup.sh"

func setUp(t *testing.T, c *golden.Case, dir string) {
	t.Helper()
	script, ok := c.Section(setupSection)
	if !ok {
		return
	}
	needGit(t)
	if err := os.Remove(filepath.Join(dir, setupSection)); err != nil {
		t.Fatal(err)
	}
	runSetup(t, dir, script)
}

func needGit(t *testing.T) {
	t.Helper()
	for _, program := range []string{"git", "bash"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
}

// runSetup runs a script in dir with a fixed git.
func runSetup(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ada Lovelace", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=Ada Lovelace", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=init.defaultBranch", "GIT_CONFIG_VALUE_0=main",
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("set up: %v\n%s", err, out)
	}
}
