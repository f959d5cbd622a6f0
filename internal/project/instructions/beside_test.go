package instructions_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"adze/internal/testkit/nodetest"
)

// TestBesideClaudeCode: claude-code 2.1.332 sends of the same files what adze does. Started in a
// folder below, it leaves out what the root's file imports from outside that folder, which adze
// takes. It is 384 MB large and not among what .ci/run installs; ADZE_NPM names a folder that has
// it.
func TestBesideClaudeCode(t *testing.T) {
	program := nodetest.Program(t, "@anthropic-ai/claude-code", "claude")
	w := newWorld(t, map[string]string{
		"home/.claude/CLAUDE.md": "[user]", "home/.claude/rules/deep/a.md": "[user-rule]",
		"home/.claude/rules/go.md": "---\npaths: \"src/**/*.go\"\n---\n[user-go]\n",
		"repo/CLAUDE.md":           "[root]\n<!-- [comment] -->\n@docs/a.md and `@docs/b.md`", "repo/docs/a.md": "[import]", "repo/docs/b.md": "[span]",
		"repo/.claude/rules/p.md": "[rule]", "repo/.claude/rules/q.md": "---\npaths: \"**/*.py\"\n---\n[py]\n",
		"repo/sub/CLAUDE.md": "[sub]", "repo/sub/in/x.go": "", "repo/other/CLAUDE.md": "[other]",
	})
	r := w.room("repo")
	ours, err := r.Render("coder", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	theirs := strings.Join(nodetest.Requests(func(address string) {
		cmd := exec.CommandContext(t.Context(), program, "-p", "hi")
		cmd.Dir = w.at("repo")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.at("home"), "ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + address, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}), "\n")
	for _, word := range strings.Fields("user user-rule user-go root comment import span rule py sub other") {
		in := func(text string) bool { return strings.Contains(text, "["+word+"]") }
		if in(ours) != in(theirs) {
			t.Errorf("%s: adze %t, claude-code %t", word, in(ours), in(theirs))
		}
	}
}
