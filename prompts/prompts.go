// Package prompts holds the texts that every model reads, and renders them once per session.
//
// The one rule: the order is stable before changing. Role and rules come first, the project's
// instructions next, the environment last, and nothing that changes from turn to turn stands here,
// so that the provider's prefix cache holds.
//
// Start reading at Render.
//
// Known limits: the texts are in English, whatever the user writes in.
package prompts

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.md
var texts embed.FS

// Environment is the last block of a system prompt. All of it is fixed when the session starts.
type Environment struct {
	Workspace string
	Cwd       string
	System    string // operating system and architecture: "linux/amd64"
	Shell     string
	Git       bool   // the workspace is in a git repository
	Date      string // "2026-01-02", of the session's start
}

// Instructions is one instruction file of the project or the user.
type Instructions struct {
	Path string
	Text string
}

// The lines that begin a part of a system prompt.
const (
	instructionsMark = "\n# Instructions from "
	environmentMark  = "\n# Environment\nworkspace: "
)

// SkillsHead begins the index of skills, which is the last paragraph before the environment.
const SkillsHead = "Skills (load with skill{name} before such work):"

// Render builds the system prompt of an agent: "coder", "local" or "task". extra comes right before
// the environment. An unknown name is an error of the program.
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

// Compact is the instruction with which a model is asked to sum up a conversation.
func Compact() string {
	raw, _ := texts.ReadFile("compact.md") // embedded
	return strings.TrimSpace(string(raw))
}

// Init is the command that has a model write a project's AGENTS.md; $ARGUMENTS is what the user
// says to it.
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

// How the parts are named that Insert adds: the index of agents, and what an agent is told of
// itself, with its name behind.
const (
	AgentsPart = "Agents"
	LeadPart   = "You are the agent "
)

// Insert puts a part before the environment of a rendered prompt, or at the end of one that has
// none. It begins with a line "# name", by which Split knows it.
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
