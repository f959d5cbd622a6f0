package prompts_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/testkit/golden"
	"adze/prompts"
)

// TestRender renders each prompt for one fixed environment, so that a change of the text shows as a
// diff and its size in bytes. The input of a case is the prompt's name.
func TestRender(t *testing.T) {
	golden.Cases(t, filepath.Join("..", "testdata", "prompts"), func(t *testing.T, c *golden.Case) {
		var files []prompts.Instructions
		if text, ok := c.Section("AGENTS.md"); ok {
			files = append(files, prompts.Instructions{Path: "AGENTS.md", Text: text})
		}
		extra, _ := c.Section("extra")
		got, err := prompts.Render(c.Input, files, extra, prompts.Environment{
			Workspace: "/home/ada/engine", Cwd: "/home/ada/engine/cmd", System: "linux/amd64",
			Shell: "bash", Git: true, Date: "2026-01-02",
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Want(t, "want.prompt", got)
		c.Want(t, "want.bytes", fmt.Sprint(len(got)))
	})
}

func TestRenderRefusesAnUnknownName(t *testing.T) {
	if _, err := prompts.Render("poet", nil, "", prompts.Environment{}); err == nil || !strings.Contains(err.Error(), `"poet"`) {
		t.Fatalf("err = %v, want one that names the prompt", err)
	}
}
