package hostio

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

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
	f, err := os.CreateTemp("", "adze-prompt-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if err := e.run(f.Name()); err != nil {
		return "", err
	}
	edited, err := os.ReadFile(f.Name())
	return string(edited), err
}

// Open opens a file at a line, as far as it is known how the editor takes one.
func (e Editor) Open(path string, line int) error {
	words := strings.Fields(e.program())
	switch filepath.Base(words[0]) {
	case "vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "joe", "kak", "mg", "ed", "ne":
		return e.run(fmt.Sprintf("+%d", line), path)
	case "code", "codium", "cursor":
		return e.run("--goto", fmt.Sprintf("%s:%d", path, line))
	case "hx", "helix", "subl", "zed":
		return e.run(fmt.Sprintf("%s:%d", path, line))
	}
	return e.run(path)
}

func (e Editor) program() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if program := strings.TrimSpace(e.getenv(name)); program != "" {
			return program
		}
	}
	return "vi"
}

// run starts the editor with words that no shell reads.
func (e Editor) run(words ...string) error {
	shell, env, err := proc.Helper("sh", e.workspace)
	if err != nil {
		return err
	}
	cmd := exec.Command(shell, append([]string{"-c", e.program() + ` "$@"`, "sh"}, words...)...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = e.in, e.out, e.err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w; set VISUAL or EDITOR to your editor", safeterm.Name(e.program()), err)
	}
	return nil
}
