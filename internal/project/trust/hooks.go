package trust

import (
	"encoding/json"
	"fmt"
	"strings"

	"adze/internal/project/hooks/dialect"
)

// hookFiles lists adze's and other assistants' hook files in projects.
func hookFiles() []string {
	return []string{
		".adze/hooks.json", ".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json", ".gemini/settings.json",
	}
}

func hooks(f folder) (out []Item) {
	var mine struct{ DisableAllHooks bool }
	raw, _ := f.standard(".claude/settings.local.json") // it may be missing
	_ = json.Unmarshal(raw, &mine)                      // it may be unreadable
	for _, name := range hookFiles() {
		raw, err := f.standard(name)
		if raw == nil && err == nil {
			continue
		}
		var found []dialect.Hook
		if err == nil {
			found, err = dialect.Read(name, raw)
		}
		if err != nil {
			out = append(out, Item{ID: owner(name), Source: name, Problem: err.Error()})
		}
		count := map[string]int{}
		for n, h := range found {
			if mine.DisableAllHooks && h.Dialect == dialect.Claude {
				h.Unsupported = "disableAllHooks is set in .claude/settings.local.json"
				found[n] = h
			}
			count[h.Native]++
			i := hookItem(name, h)
			i.ID = fmt.Sprintf("%s/%s/%d", owner(name), h.Native, count[h.Native])
			i.Hook, i.Order = &found[n], len(out)
			out = append(out, i)
		}
	}
	return out
}

func hookItem(file string, h dialect.Hook) Item {
	i := Item{
		Source: file, Trigger: strings.TrimSpace(h.Native + " " + h.Matcher), Argv: h.Argv, Raw: h.Raw,
		Definition: h.String(), Idle: h.Unsupported,
	}
	if h.Shell != "" {
		i.Shell = []string{h.Shell}
	}
	if h.Unsupported == "" {
		for _, set := range dialect.Environment("") {
			name, _, _ := strings.Cut(set, "=")
			i.Env = append(i.Env, name)
		}
	}
	return i
}

// owner returns the assistant of a file: claude for .claude/settings.json.
func owner(file string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(file, "."), "/")
	return strings.TrimSuffix(first, ".json")
}
