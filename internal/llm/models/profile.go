package models

import (
	"adze/internal/config"
	"adze/internal/llm/local"
)

// A Profile adapts prompt and tools to a kind of model.
type Profile struct {
	Prompt       string // name in package prompts
	TaskComplete bool
	Tasks        bool        // offer subagents
	Core         []string    // tools that are always offered
	Names        local.Names // tool names for the model; nil for their own
	// Budget limits the bytes of tools in a request; 0 limits their number instead.
	Budget int
}

// Coder returns the profile with the full prompt and all tools.
func Coder() Profile {
	return Profile{Prompt: "coder", Tasks: true, Core: []string{
		"read", "write", "edit", "glob", "grep", "list", "bash", "bash_output", "bash_kill", "todowrite", "todoread", "webfetch", "task", "skill", "task_complete",
	}}
}

// Local returns a small profile: a local model reads prompts at the user's machine's speed. Its
// core takes about 3,000 bytes and matching tools the rest of the budget: a request has at most
// 5,900 with the system prompt. The core omits list, because read lists folders and glob finds
// files, and task, because small models seldom use it well. The names are those of wrappers for
// local models, on which small models were trained; Ollama's parsers drop a call to a name that was
// not offered.
func Local() Profile {
	return Profile{
		Prompt: "local", TaskComplete: true, Budget: 4_700, Core: []string{"read", "write", "edit", "glob", "grep", "bash", "skill", "task_complete"},
		Names: local.Names{"bash": "run_command", "list": "list_files", "grep": "search_text", "webfetch": "download_url"},
	}
}

func profileOf(p config.Provider, fallback func() Profile) Profile {
	switch p.Profile {
	case "local":
		return Local()
	case "full":
		return Coder()
	}
	return fallback()
}
