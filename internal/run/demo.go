package run

import (
	"os"
	"os/exec"
	"time"

	"adze/internal/llm/models"
	"adze/internal/llm/script"
	"adze/internal/run/demo"
)

// demoPace makes the scripted text watchable in the interface; a headless demo needs no pause.
const demoPace = 15 * time.Millisecond

// demoFolder unpacks the demo's program to a temporary folder, which stays: the user may want to
// look.
func demoFolder(o *options, w *wired) (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", misuse("install Go, or start adze with a model", "the demo runs go test, and there is no go in PATH")
	}
	dir, err := os.MkdirTemp("", "adze-demo-")
	if err != nil {
		return "", misuse("make room there, or set TMPDIR", "the demo needs a temporary folder: %v", err)
	}
	if err := demo.Unpack(dir); err != nil {
		return "", err
	}
	o.Allow = append(o.Allow, demo.Allow)
	if o.Mode == "" {
		o.Mode = "edits"
	}
	w.prompt = demo.Prompt
	w.notices = append(w.notices, demo.Notice, "demo: the program is in "+dir)
	return dir, nil
}

func demoModel(o *options) models.Model {
	pace := demoPace
	if o.print {
		pace = 0
	}
	return models.Model{Provider: script.New(script.Options{Script: demo.Script, Name: "demo", Pace: pace}), Name: "demo", Profile: models.Coder()}
}
