package fleet

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"adze/internal/fleet/batch"
)

// TestNamesOfOthersNameNoFolders: ids come from whoever submitted a task, and name folders here.
func TestNamesOfOthersNameNoFolders(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(dir, "precious")
	if err := os.MkdirAll(precious, 0o700); err != nil {
		t.Fatal(err)
	}
	c := Clones{Dir: filepath.Join(dir, "worker"), New: func() (*batch.Batch, error) {
		t.Error("it was begun")
		return nil, os.ErrInvalid
	}}
	sound := batch.Task{ID: "a", Repo: "https://host/r.git", Command: "true"}
	for run, task := range map[string]batch.Task{
		"../precious": sound, "../precious.": sound, "..": sound, "a.b/../../../precious": sound, "": sound,
		"aaaaaa.bbbbbbbb": {ID: "../../../../precious", Repo: "https://host/r.git", Command: "true"},
		"aaaaaa.bbbbbbbc": {Repo: "https://host/r.git", Command: "true"},
		"aaaaaa.bbbbbbbd": {ID: "a", Repo: "ext::sh -c id", Command: "true"},
		"aaaaaa.bbbbbbbe": {ID: "a", Repo: "--upload-pack=x", Command: "true"},
		"aaaaaa.bbbbbbbf": {ID: "a", Repo: "https://host/r.git", Command: "true", Branch: "../x"},
	} {
		r, _, err := c.Do(context.Background(), Job{Run: Run{ID: run}, Task: task})
		if err != nil || r.OK || r.Cause != "usage" {
			t.Errorf("%q, %+v: %+v, %v", run, task, r, err)
		}
	}
	if _, err := os.Stat(precious); err != nil {
		t.Error(err)
	}
}
