// Package prompts holds the system prompts and renders them once per session.
//
// The one rule: stable text comes first. Role and rules, then the project's instructions, and the
// environment last; nothing changes from turn to turn, so that the provider's prefix cache works.
//
// Start reading at Render.
//
// Known limits: the texts are English, whatever the user's language.
package prompts

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var texts embed.FS

// Environment is the last block of a system prompt, fixed at the session's start.
type Environment struct {
	Workspace string
	Cwd       string
	System    string // operating system and architecture: "linux/amd64"
	Shell     string
	Git       bool   // the workspace is in a git repository
	Date      string // start of the session: "2026-01-02"
}

// Instructions is one instruction file from the project or the user.
type Instructions struct {
	Path string
	Text string
}

// The first lines of parts.
const (
	instructionsMark = "\n# Instructions from "
	environmentMark  = "\n# Environment\nworkspace: "
)

// SkillsHead begins the skill index, the last paragraph before the environment.
const SkillsHead = "Skills (load with skill{name} before such work):"

// Render builds the system prompt named "coder", "local" or "task". extra comes right before the
// environment. An unknown name is a bug.
func Render(name string, files []Instructions, extra string, env Environment) (string, error) {
	raw, err := texts.ReadFile(name + ".md")
	if err != nil {
		return "", fmt.Errorf("prompts: no text named %q", name)
	}
	var b strings.Builder
	b.Write(raw)
	for _, f := range files {
		fmt.Fprintf(&b, "%s%s\n%s\n", instructionsMark, f.Path, strings.TrimSpace(f.Text))
	}
	if extra = strings.TrimSpace(extra); extra != "" {
		fmt.Fprintf(&b, "\n%s\n", extra)
	}
	b.WriteString(env.block())
	return b.String(), nil
}

// Compact returns the instruction for summarizing a conversation.
func Compact() string {
	raw, _ := texts.ReadFile("compact.md") // embedded
	return strings.TrimSpace(string(raw))
}

// Init returns the command that makes a model write a project's AGENTS.md; $ARGUMENTS stands for
// the user's text.
func Init() string {
	raw, _ := texts.ReadFile("init.md") // embedded
	return string(raw)
}

func (e Environment) block() string {
	git := "no"
	if e.Git {
		git = "yes"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n", environmentMark, e.Workspace)
	if e.Cwd != "" && e.Cwd != e.Workspace {
		fmt.Fprintf(&b, "current folder: %s\n", e.Cwd)
	}
	fmt.Fprintf(&b, "system: %s\nshell: %s\ngit repository: %s\ndate: %s\n", e.System, e.Shell, git, e.Date)
	return b.String()
}

// Part names for Insert: the agent index, and an agent's description, followed by its name.
const (
	AgentsPart = "Agents"
	LeadPart   = "You are the agent "
)

// Insert adds a part before the environment, or at the end without one. It begins with a line "#
// name" for Split.
func Insert(system, name, text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return system
	}
	part := "\n# " + name + "\n" + text + "\n"
	at := strings.LastIndex(system, environmentMark)
	if at < 0 {
		return strings.TrimRight(system, "\n") + "\n" + part
	}
	return system[:at] + part + system[at:]
}
