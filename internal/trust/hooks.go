package trust

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// hookFiles are where projects keep programs that events start: those of adze and of other assistants.
func hookFiles() []string {
	return []string{
		".adze/hooks.json", ".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json",
		".gemini/settings.json", ".cursor/hooks.json", ".github/hooks/hooks.json",
	}
}

// hook is an entry of an event: a program, or a matcher with programs.
type hook struct {
	Command string          `json:"command"`
	Bash    string          `json:"bash"` // another name of command
	Args    []string        `json:"args"`
	Env     map[string]any  `json:"env"`
	Cwd     string          `json:"cwd"`
	URL     string          `json:"url"`
	Matcher any             `json:"matcher"`
	Hooks   json.RawMessage `json:"hooks"`
}

// hooks finds what events of a session would start.
func hooks(f folder) (out []Item) {
	for _, name := range hookFiles() {
		raw, err := f.standard(name)
		if raw == nil && err == nil {
			continue
		}
		var file struct {
			Hooks map[string]json.RawMessage `json:"hooks"`
		}
		if err == nil && json.Unmarshal(raw, &file) != nil {
			err = errors.New("its hooks are none that adze can read")
		}
		if err != nil {
			out = append(out, Item{ID: owner(name), From: name, Problem: err.Error()})
		}
		for event, entries := range file.Hooks {
			out = append(out, ofEvent(name, event, entries)...)
		}
	}
	return out
}

// ofEvent are the hooks of one event.
func ofEvent(file, event string, raw json.RawMessage) (out []Item) {
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil
	}
	add := func(h hook, matcher string, raw []byte) {
		i := Item{From: file, When: strings.TrimSpace(event + " " + matcher), Cwd: h.Cwd, URL: h.URL, Env: sortedKeys(h.Env), Raw: raw}
		if h.Command == "" {
			h.Command = h.Bash
		}
		switch {
		case h.Command != "" && len(h.Args) > 0:
			i.Argv = append([]string{h.Command}, h.Args...)
		case h.Command != "":
			i.Shell = []string{h.Command}
		case h.URL == "":
			return
		}
		i.ID = fmt.Sprintf("%s/%s/%d", owner(file), event, len(out)+1)
		out = append(out, i)
	}
	for _, entry := range entries {
		var h hook
		if json.Unmarshal(entry, &h) != nil {
			continue
		}
		matcher, _ := h.Matcher.(string)
		var inner []json.RawMessage
		if json.Unmarshal(h.Hooks, &inner) != nil {
			add(h, matcher, entry)
		}
		for _, one := range inner {
			var in hook
			if json.Unmarshal(one, &in) == nil {
				add(in, matcher, append([]byte(matcher+"\x00"), one...))
			}
		}
	}
	return out
}

// owner is whose file it is: .claude/settings.json is claude's.
func owner(file string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(file, "."), "/")
	return strings.TrimSuffix(first, ".json")
}

func sortedKeys[T any](m map[string]T) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
