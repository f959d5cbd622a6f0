// Package demo is a small Go program with a failing test, and the conversation in which a scripted
// model finds and fixes it. The model's replies are written down; every tool call in them really
// runs.
//
// Start reading at Unpack; the program is project.txtar, the conversation script.txtar.
//
// Known limits: whatever the model is asked, it does its one task, once.
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

// Script is the conversation, in the format of the script provider.
//
//go:embed script.txtar
var Script []byte

// Prompt is what the user asks in the demo.
const Prompt = "A test of this program fails. Find the bug, fix it and show that the tests pass."

// Notice says plainly what is real.
const Notice = "demo: the model's replies are scripted; the tools are real and work in a temporary copy"

// Allow is the one rule that the demo needs beyond writing in its own folder.
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
