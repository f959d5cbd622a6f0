package prompts_test

import (
	"fmt"
	"strings"
	"testing"

	"adze/prompts"
)

func TestSplitTellsThePartsOfAPromptApart(t *testing.T) {
	files := []prompts.Instructions{{Path: "the person's own AGENTS.md", Text: "Be brief."}, {Path: "AGENTS.md", Text: "Run make.\n# Environment\nnot this one"}}
	for _, c := range []struct {
		name, want string
		files      []prompts.Instructions
		extra      string
	}{
		{"alone", "prompt environment", nil, ""},
		{"with files", "prompt the person's own AGENTS.md AGENTS.md environment", files, ""},
		{"an appended text counts with what stands before it", "prompt the person's own AGENTS.md AGENTS.md environment", files, "In French."},
		{"skills", "prompt the person's own AGENTS.md AGENTS.md skills environment", files, "In French.\n\n" + prompts.SkillsHead + "\n- a: b"},
	} {
		text, err := prompts.Render("coder", c.files, c.extra, prompts.Environment{Workspace: "/w", Date: "2026-01-02"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		total := 0
		for _, s := range prompts.Split(text) {
			names, total = append(names, s.Name), total+s.Bytes
		}
		if got := strings.Join(names, " "); got != c.want || total != len(text) {
			t.Errorf("%s: %s with %d of %d bytes, want %s", c.name, got, total, len(text), c.want)
		}
	}
	system, _ := prompts.Render("coder", files, "", prompts.Environment{Workspace: "/w"})
	system = prompts.Insert(prompts.Insert(system, prompts.AgentsPart, "- a: b"), prompts.LeadPart+"x", "You read.")
	if got := fmt.Sprint(prompts.Split(system)); !strings.Contains(got, "AGENTS.md 68} {agents agents 17} {agents you are the agent x 33} {environment") {
		t.Errorf("inserted: %s", got)
	}
	for in, want := range map[string]string{
		"": "[]", "a prompt of the person": "[{prompt prompt 22}]", "\n# Instructions from a": "[{instructions a 22}]",
		"x\n# Instructions from a\n\n# Instructions from b\n": "[{prompt prompt 1} {instructions a 23} {instructions b 23}]",
	} {
		if got := fmt.Sprint(prompts.Split(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}
