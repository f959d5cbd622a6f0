package app

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"adze/internal/safeterm"
)

// edit lets the person write in $VISUAL, $EDITOR or vi, which may hold arguments and so goes to a shell; the
// file's name does not.
func (a *app) edit(text string) (string, error) {
	editor := firstOf(a.getenv("VISUAL"), a.getenv("EDITOR"), "vi")
	f, err := os.CreateTemp("", "adze-prompt-*.md")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	cmd := exec.Command("sh", "-c", editor+` "$1"`, "sh", f.Name())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.in, a.out, a.err
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w; set VISUAL or EDITOR to your editor", safeterm.Name(editor), err)
	}
	edited, err := os.ReadFile(f.Name())
	return string(edited), err
}
