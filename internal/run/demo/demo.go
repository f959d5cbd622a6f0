// Package demo contains a small Go program with a failing test, and a scripted conversation in
// which a model finds and fixes the bug. The replies are fixed; every tool call really runs.
//
// Start reading at Unpack; the program is project.txtar, the conversation script.txtar.
//
// Known limits: it always performs its one task, whatever the prompt.
package demo

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"
)

//go:embed project.txtar
var project []byte

// Script is the conversation in the script provider's format.
//
//go:embed script.txtar
var Script []byte

// Prompt is the demo's prompt.
const Prompt = "A test of this program fails. Find the bug, fix it and show that the tests pass."

// Notice explains which parts are real.
const Notice = "demo: the model's replies are scripted; the tools are real and work in a temporary copy"

// Allow is the only rule the demo needs besides writing in its own folder.
const Allow = "execute(go test **)"

// Unpack writes the program to dir, which must exist.
func Unpack(dir string) error {
	for _, f := range txtar.Parse(project).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("unpack the demo: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return fmt.Errorf("unpack the demo: %w", err)
		}
	}
	return nil
}
