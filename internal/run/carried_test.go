package run_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layouts are what repositories carry for five assistants, each with something that would run: it
// leaves a file behind.
func layouts(tracer string) map[string]string {
	runs := func(name string) string { return "touch " + filepath.Join(tracer, name) }
	hook := func(event, name string) string {
		return fmt.Sprintf(`{"hooks":{%q:[{"matcher":"*","hooks":[{"type":"command","command":%q}]}]}}`, event, runs(name))
	}
	server := func(name string) string {
		return fmt.Sprintf(`{"mcpServers":{%q:{"command":"sh","args":["-c",%q]}}}`, name, runs("server-"+name))
	}
	return map[string]string{
		// Claude Code
		"CLAUDE.md":                          "Run `go vet` first.\n@docs/style.md\n",
		"docs/style.md":                      "Short names.\n",
		".claude/settings.json":              hook("SessionStart", "claude-start"),
		".claude/settings.local.json":        hook("PreToolUse", "claude-tool"),
		".claude/commands/review.md":         "---\ndescription: look at: the changes\nallowed-tools: Bash(*)\n---\nReview $ARGUMENTS\n!`" + runs("claude-command") + "`\n",
		".claude/agents/critic.md":           "---\nname: critic\ndescription: finds faults\ntools: Read, Grep, Bash\npermissionMode: bypassPermissions\n---\nFind faults.\n",
		".claude/skills/pdf/SKILL.md":        "---\nname: pdf\ndescription: Fill PDF forms. Use when a form is to be filled.\nallowed-tools: Bash\n---\nRun scripts/fill.sh.\n",
		".claude/skills/pdf/scripts/fill.sh": "#!/bin/sh\n" + runs("claude-skill") + "\n",
		".mcp.json":                          server("claude"),
		// Codex
		".codex/hooks.json":           hook("UserPromptSubmit", "codex-prompt"),
		".agents/skills/sql/SKILL.md": "---\nname: sql\ndescription: Write queries.\n---\nWrite them.\n",
		// Gemini
		"GEMINI.md":             "Speak plainly.\n",
		".gemini/settings.json": hook("BeforeTool", "gemini-tool"),
		// opencode
		".opencode/command/release.md": "---\ndescription: release\nagent: build\n---\nRelease $1 !`" + runs("opencode-command") + "`\n",
		"opencode.json":                fmt.Sprintf(`{"mcp":{"open":{"type":"local","command":["sh","-c",%q]}}}`, runs("server-open")),
		// Cursor and Copilot
		".cursor/rules/go.mdc":                    "---\ndescription: Go style\nalwaysApply: true\n---\nErrors are wrapped.\n",
		".cursor/hooks.json":                      fmt.Sprintf(`{"version":1,"hooks":{"beforeShellExecution":[{"command":%q}]}}`, runs("cursor-hook")),
		".cursor/mcp.json":                        server("cursor"),
		".github/copilot-instructions.md":         "Tests go beside the code.\n",
		".github/hooks/all.json":                  fmt.Sprintf(`{"version":1,"hooks":{"sessionStart":[{"type":"command","bash":%q}]}}`, runs("copilot-hook")),
		".github/instructions/go.instructions.md": "---\napplyTo: \"**/*.go\"\n---\nUse tabs.\n",
	}
}

// A repository made for five assistants: each thing is found and shown with its origin, the first
// request grows by little and by what is told, and nothing of it runs before the user says so:
// not when it is listed, weighed, or worked in.
func TestARepositoryOfFiveAssistantsRunsNothing(t *testing.T) {
	u := newUser(t)
	tracer := t.TempDir()
	u.file("go.mod", "module m\n")
	u.file(".git/HEAD", "ref: refs/heads/main\n")
	empty := u.weighs(u.script("-- 1 --\ntext: Yes.\n"))
	for name, text := range layouts(tracer) {
		u.file(name, text)
	}
	full := u.weighs(u.script("-- 1 --\ntext: Yes.\n"))
	t.Logf("the first request grows from %d to %d bytes", empty.Bytes, full.Bytes)
	if grown := full.Bytes - empty.Bytes; grown <= 0 || grown > 2500 {
		t.Errorf("the first request grows by %d bytes: %+v", grown, full.Sources)
	}
	var found []string
	for _, c := range full.Carried {
		if found = append(found, c.Kind+" "+c.Name); c.Kind == "instructions" {
			found = append(found, c.Name+" "+c.State)
		}
		if c.Origin != "project" || c.Path == "" || c.State == "" || c.State == "allowed" {
			t.Errorf("%+v", c)
		}
	}
	for _, want := range []string{"command review", "command release", "skill pdf", "skill sql", "agent critic",
		"CLAUDE.md used", "GEMINI.md unused", ".github/copilot-instructions.md unused", ".cursor/rules/go.mdc used", ".github/instructions/go.instructions.md waits"} {
		if !slices.Contains(found, want) {
			t.Errorf("%s is not found in %q", want, found)
		}
	}
	if full.source("CLAUDE.md") == 0 {
		t.Errorf("CLAUDE.md is not read: %+v", full.Sources)
	}
	var waiting []string
	start := ""
	for line := range strings.Lines(u.run("trust", "list", "--json").wants(0).out) {
		var i struct{ ID, State, From string }
		if err := json.Unmarshal([]byte(line), &i); err != nil {
			t.Fatal(err)
		}
		if waiting = append(waiting, i.From); i.From == ".claude/settings.json" {
			start = i.ID
		}
		if i.State == "allowed" {
			t.Errorf("nobody allowed %+v", i)
		}
	}
	for _, want := range []string{".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json", ".mcp.json"} {
		if !slices.Contains(waiting, want) {
			t.Errorf("of %s nothing waits: %q", want, waiting)
		}
	}
	steps := "-- 1 --\ncall read: {\"path\":\"go.mod\"}\ncall bash: {\"command\":\"ls\"}\ncall edit: {\"path\":\"go.mod\",\"old_string\":\"module m\",\"new_string\":\"module n\"}\n-- 2 --\ntext: Done.\n"
	u.run("-p", "--permission-mode=edits", u.script(steps), "work").wants(0, "Done.")
	u.run("-p", u.script("-- 1 --\ntext: Done.\n"), "/review this")
	u.run("-p", u.script("-- 1 --\ntext: Done.\n"), "/release 1")
	if left, err := os.ReadDir(tracer); err != nil || len(left) > 0 {
		t.Errorf("something ran: %v %v", left, err)
	}
	// That the traces are real: what the user allows leaves its own, and nothing else does.
	u.run("trust", "allow", start).wants(0)
	u.run("-p", u.script("-- 1 --\ntext: Done.\n"), "work").wants(0)
	if left, err := os.ReadDir(tracer); err != nil || len(left) != 1 || left[0].Name() != "claude-start" {
		t.Errorf("allowed was %s, and there is %v %v", start, left, err)
	}
}
