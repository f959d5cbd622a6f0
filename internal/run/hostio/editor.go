package hostio

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"adze/internal/sandbox/proc"
	"adze/internal/text/safeterm"
)

// Editor is the user's own, on the terminal that adze has.
type Editor struct {
	getenv    func(string) string
	workspace string // in which no program is looked for
	in, out   *os.File
	err       io.Writer
}

// NewEditor starts editors on these streams. No program is taken from the workspace.
func NewEditor(workspace string, getenv func(string) string, in, out *os.File, err io.Writer) Editor {
	return Editor{getenv, workspace, in, out, err}
}

// Edit lets the user write in $VISUAL, $EDITOR or vi, which may hold arguments and so goes to a
// shell; the file's name does not.
func (e Editor) Edit(text string) (string, error) {
	program := cmp.Or(e.getenv("VISUAL"), e.getenv("EDITOR"), "vi")
	f, err := os.CreateTemp("", "adze-prompt-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	shell, env, err := proc.Helper("sh", e.workspace)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(shell, "-c", program+` "$1"`, "sh", f.Name())
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.in, e.out, e.err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w; set VISUAL or EDITOR to your editor", safeterm.Name(program), err)
	}
	edited, err := os.ReadFile(f.Name())
	return string(edited), err
}
