package hostio

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/files/git"
	"adze/internal/files/workspace"
	"adze/session/api"
)

// TestAFileThatWasRemovedComesBackWithItsMode, by a command after its text.
func TestAFileThatWasRemovedComesBackWithItsMode(t *testing.T) {
	if _, err := exec.LookPath("chmod"); err != nil {
		t.Skip("there is no chmod")
	}
	top := t.TempDir()
	root, err := workspace.Open(top)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, ok := gitFile("a/it's.sh b/it's.sh\ndeleted file mode 100755\nindex 1..0\n--- a/it's.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-true\n")
	if !ok || !f.Deleted || f.Mode != 0o755 {
		t.Fatalf("%+v", f)
	}
	path := filepath.Join(top, "it's.sh")
	if err := os.WriteFile(path, []byte("true\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", Chmod(root, f))
	cmd.Dir = top
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if again := Chmod(root, f); again != "" {
		t.Errorf("it has its mode, and %q is run", again)
	}
}

// Staged tells all of the index from a folder below, but for files that the model may not read; a
// hunk of a file with CRLF is staged by a command that a shell takes, as the bytes that it has.
func TestStaged(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	top := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = top, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	write := func(name, text string) {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	staged := func() (string, []string, error) {
		return Staged(t.Context(), git.Git{Env: os.Environ()}, filepath.Join(top, "sub"), func(_, name string) bool { return name == "secret.txt" })
	}
	write("ends.txt", "one\r\ntwo\r\n")
	write("secret.txt", "a")
	write("sub/x", "")
	run("git", "init", "-q")
	run("git", "config", "user.name", "ann")
	run("git", "config", "user.email", "ann@example.com")
	run("git", "add", ".")
	run("git", "commit", "-qm", "Begin")
	if _, _, err := staged(); err == nil || !strings.Contains(err.Error(), "nothing is staged") {
		t.Errorf("nothing staged: %v", err)
	}
	hunk := api.NetHunk{File: api.NetFile{Path: "ends.txt", Diff: "--- a/ends.txt\n+++ b/ends.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2 ~\r\n"}}
	command, err := StageCommand(hunk)
	if err != nil || strings.Contains(command, "\r") {
		t.Fatalf("%q, %v", command, err)
	}
	run("sh", "-c", command)
	write("secret.txt", "b")
	run("git", "add", "secret.txt")
	if got := run("git", "show", ":ends.txt"); got != "one\r\n2 ~\r\n" {
		t.Errorf("staged %q", got)
	}
	// git 2.39.5 and 2.55.0 keep LF and $Id$ in the index of a file with eol=crlf and ident, and have
	// CRLF and the name of the blob on the disk.
	write(".gitattributes", "made.txt eol=crlf ident\n")
	write("made.txt", "$Id$\none\ntwo\n")
	run("git", "add", ".gitattributes", "made.txt")
	run("git", "commit", "-qm", "Begin again", "made.txt")
	run("git", "reset", "-q", ".gitattributes")
	command, err = StageCommand(api.NetHunk{File: api.NetFile{Path: "made.txt", Diff: "--- a/made.txt\n+++ b/made.txt\n@@ -1,3 +1,3 @@\n $Id: 0a1b2c $\r\n one\r\n-two\r\n+2\r\n"}})
	if err != nil {
		t.Fatal(err)
	}
	run("sh", "-c", command)
	if got := run("git", "show", ":made.txt"); got != "$Id$\none\n2\n" {
		t.Errorf("staged %q", got)
	}
	run("git", "reset", "-q", "made.txt")
	patch, recent, err := staged()
	if err != nil || !strings.Contains(patch, "+2 ~") || strings.Contains(patch, "secret") || len(recent) != 2 || recent[1] != "Begin" {
		t.Errorf("%q, %q, %v", patch, recent, err)
	}
	run("sh", "-c", CommitCommand("Use 'quotes' $HOME\r\n\nand a MESSAGE\n# kept"))
	if got := run("git", "log", "-1", "--format=%B"); got != "Use 'quotes' $HOME\n\nand a MESSAGE\n# kept\n\n" {
		t.Errorf("committed as %q", got)
	}
}
