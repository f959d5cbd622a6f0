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

// Editor runs the user's editor on adze's terminal.
type Editor struct {
	getenv    func(string) string
	workspace string // never searched for programs
	in, out   *os.File
	err       io.Writer
}

// NewEditor returns an editor for these streams. It runs no program from the workspace.
func NewEditor(workspace string, getenv func(string) string, in, out *os.File, err io.Writer) Editor {
	return Editor{getenv, workspace, in, out, err}
}

// Edit opens text in $VISUAL, $EDITOR or vi. The setting may contain arguments and is passed to a
// shell; the file name is not.
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

// Open opens a file, at a line if the editor's syntax for that is known.
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

// run starts the editor with arguments that the shell does not interpret.
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
