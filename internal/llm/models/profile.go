package models

import (
	"adze/internal/config"
	"adze/internal/llm/local"
)

// Profile is how adze speaks to a kind of model.
type Profile struct {
	Prompt       string // of package prompts
	TaskComplete bool
	Tasks        bool        // subagents are offered
	Core         []string    // the tools that are always offered
	Names        local.Names // of tools, for the model alone; none: their own
	// Budget is how many bytes of tools a request may hold before they are chosen; if 0, they are
	// counted.
	Budget int
}

// Coder is the whole prompt and all tools.
func Coder() Profile {
	return Profile{Prompt: "coder", Tasks: true, Core: []string{
		"read", "write", "edit", "glob", "grep", "list", "bash", "bash_output", "bash_kill", "todowrite", "todoread", "webfetch", "task", "skill", "task_complete",
	}}
}

// Local keeps prompt and tools small: a local model reads them at the speed of the user's
// machine. Its core takes about 3,000 bytes, and what fits the prompt the rest of its budget: a
// request has at most 5,900 with the system prompt. list is not in the core, because read lists a
// folder and glob finds files; nor is task, because a small model seldom gives good ones.
func Local() Profile {
	return Profile{Prompt: "local", TaskComplete: true, Budget: 4_700, Names: wrapperNames(), Core: []string{
		"read", "write", "edit", "glob", "grep", "bash", "skill", "task_complete",
	}}
}

// profileOf is what the configuration says of a provider's models, else what its kind suggests.
func profileOf(p config.Provider, fallback func() Profile) Profile {
	switch p.Profile {
	case "local":
		return Local()
	case "full":
		return Coder()
	}
	return fallback()
}

// wrapperNames are the names that wrappers for local models give to such tools, and so those that
// small models were trained on. Ollama's parsers drop a call of a name that was not offered.
func wrapperNames() local.Names {
	return local.Names{"bash": "run_command", "list": "list_files", "grep": "search_text", "webfetch": "download_url"}
}
