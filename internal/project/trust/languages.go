package trust

import "encoding/json"

// languageFiles are where projects name language servers, with the name of the member that holds
// them.
func languageFiles() [][2]string {
	return [][2]string{{"opencode.json", "lsp"}, {"opencode.jsonc", "lsp"}, {"crush.json", "lsp"}, {".crush.json", "lsp"}, {".lsp.json", ""}, {".github/lsp.json", "lspServers"}}
}

// formatterFiles are the same of programs that rewrite a file after a change.
func formatterFiles() [][2]string {
	return [][2]string{{"opencode.json", "formatter"}, {"opencode.jsonc", "formatter"}}
}

// languageServers finds language servers that a project wants to be started.
func languageServers(f folder) []Item {
	return f.programs(languageFiles(), "a file of its language is opened")
}

// formatters finds programs that a project wants to be run on files that were changed.
func formatters(f folder) []Item { return f.programs(formatterFiles(), "a file was changed") }

// programs lists entries that name a program. One that names none, or is switched off, speaks of a
// program that somebody else knows, and starts nothing.
func (f folder) programs(places [][2]string, when string) (out []Item) {
	for _, place := range places {
		entries, err := f.entries(place[0], place[1])
		if err != nil {
			out = append(out, Item{ID: owner(place[0]), From: place[0], Problem: err.Error()})
		}
		for id, raw := range entries {
			var state struct {
				Command  any  `json:"command"`
				Disabled bool `json:"disabled"`
			}
			if json.Unmarshal(raw, &state) == nil && (state.Command == nil || state.Disabled) {
				continue
			}
			i := serverItem(place[0], id, raw)
			i.When = when
			out = append(out, i)
		}
	}
	return out
}

// sdks lists what language servers of the user's would run of the project.
func (f folder) sdks() []Item {
	if f.found == nil {
		return nil
	}
	return f.found()
}
