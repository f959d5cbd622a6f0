package models

import "adze/internal/llm/aliases"

// wrapperNames are the names that wrappers for local models give to such tools, and so those that
// small models were trained on. Ollama's parsers drop a call of a name that was not offered.
func wrapperNames() aliases.Names {
	return aliases.Names{
		Tools:     map[string]string{"bash": "run_command", "list": "list_files", "grep": "search_text", "webfetch": "download_url"},
		Arguments: map[string]map[string]string{"edit": {"old_string": "find", "new_string": "replace"}},
	}
}

// speaking lets a model be told of tools by the names that its profile says.
func (m Model) speaking() Model {
	if len(m.Profile.Names.Tools) > 0 {
		m.Provider = aliases.Wrap(m.Provider, m.Profile.Names)
	}
	return m
}
