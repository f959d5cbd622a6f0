package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/tool"
	"adze/tui/ui"
)

// rebind assigns the user's keys to rows of table. Each invalid assignment gives a warning, and its
// rows keep their keys.
func rebind(table []binding, bound map[string][]string) (warnings []string) {
	want := map[string][]string{}
	for _, id := range slices.Sorted(maps.Keys(bound)) {
		keys, err := bindable(table, id, bound[id])
		if err != nil {
			warnings = append(warnings, err.Error())
			continue
		}
		want[id] = keys
	}
	for { // a row that keeps its keys may now conflict with another
		id, why := clash(table, want)
		if id == "" {
			break
		}
		delete(want, id)
		warnings = append(warnings, why)
	}
	for i := range table {
		if keys := want[table[i].id]; keys != nil {
			table[i].Binding = ui.Bind(table[i].Binding, keys)
		}
	}
	return warnings
}

// bindable parses the keys for an id.
func bindable(table []binding, id string, written []string) (keys []string, err error) {
	if !slices.ContainsFunc(table, func(b binding) bool { return b.id == id && id != "" }) {
		return nil, fmt.Errorf("keys: there is no action %q%s", id, nearAction(table, id))
	}
	for _, w := range written {
		key, err := ui.ParseKey(w)
		if err != nil {
			return nil, fmt.Errorf("keys: %s: %w", id, err)
		}
		for _, b := range table {
			if b.id == id && b.scope.writes() && ui.Writes(key) {
				return nil, fmt.Errorf("keys: %s: %s is written where this acts; hold ctrl or alt with it, or take a key such as f8", id, key)
			}
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if keys == nil {
		return nil, fmt.Errorf("keys: %s: no key is named; leave it out to have its own", id)
	}
	return keys, nil
}

// nearAction returns the end of the error message for an unknown action, with a suggestion.
func nearAction(table []binding, id string) string {
	former := map[string]string{"dialog.edits": "dialog.all", "dialog.session": "dialog.all", "dialog.always": "dialog.all", "dialog.change": "dialog.edit",
		"dialog.hunks": "dialog.edit", "dialog.why": "dialog.deny", "dialog.drop": "dialog.deny"}
	if now := former[id]; now != "" {
		return " any more; " + now + " does that"
	}
	if slices.Contains([]string{"context", "jobs", "mouse", "overview", "servers"}, id) {
		return " any more; the command /" + id + " does that"
	}
	if slices.Contains([]string{"first.look", "first.demo", "first.key", "model"}, id) {
		return " any more; a row of the first screen does that"
	}
	var ids []string
	for _, b := range table {
		if b.id != "" && !slices.Contains(ids, b.id) {
			ids = append(ids, b.id)
		}
	}
	if near := tool.Nearest(id, ids, 1); len(near) == 1 {
		return "; did you mean " + near[0] + "?"
	}
	return "; adze help keys lists them"
}

// clash returns the first action whose new key conflicts with another action, and the warning.
func clash(table []binding, want map[string][]string) (id, why string) {
	for _, id := range slices.Sorted(maps.Keys(want)) {
		for i := range table {
			if table[i].id != id {
				continue
			}
			if why := table[i].clash(table, want); why != "" {
				return id, why
			}
		}
	}
	return "", ""
}

func (b *binding) clash(table []binding, want map[string][]string) string {
	for i := range table {
		other := &table[i]
		if other.id == b.id || !b.meets(other) {
			continue
		}
		key := common(want[b.id], keysOf(other, want))
		switch {
		case key == "":
		case other.id == "":
			return fmt.Sprintf("keys: %s cannot be %s, which %s", b.id, key, other.Help().Desc)
		default:
			return fmt.Sprintf("keys: %s and %s cannot both be %s; %s stays %s", b.id, other.id, key, b.id, strings.Join(b.Keys(), " "))
		}
	}
	return ""
}

// keysOf returns a row's keys after the assignment.
func keysOf(b *binding, want map[string][]string) []string {
	if keys := want[b.id]; keys != nil {
		return keys
	}
	return b.Keys()
}

// meets reports whether two rows must not share a key. Completion keys take precedence while the
// menu is open, and rows that share a default key are never available at the same time.
func (b *binding) meets(other *binding) bool {
	return b.scope == other.scope && (b.part == completing) == (other.part == completing) && common(b.Keys(), other.Keys()) == ""
}

// common returns the first string in both lists, or "".
func common(a, b []string) string {
	for _, x := range a {
		if slices.Contains(b, x) {
			return x
		}
	}
	return ""
}

// KeyTable lists the configurable actions: id, keys and description.
func KeyTable(bound map[string][]string) (rows [][3]string, warnings []string) {
	k, warnings := newKeymap(bare().bindings(), bound)
	seen := map[string]bool{"": true}
	for _, b := range k.table {
		if !seen[b.id] {
			seen[b.id] = true
			rows = append(rows, [3]string{b.id, strings.Join(b.Keys(), " "), b.Help().Desc})
		}
	}
	return rows, warnings
}

// warnOfKeys adds the warnings to the notices.
func warnOfKeys(m *model, warnings []string) {
	for _, w := range warnings {
		m.info.Notices = append(m.info.Notices[:len(m.info.Notices):len(m.info.Notices)], cmp.Or(m.info.Config, "the configuration")+": "+w)
	}
	if m.first.shown() && len(warnings) > 0 {
		m.showMessage(warnings[0])
	}
}

// arrows returns an arrow symbol for an arrow key, for narrow hints.
func arrows(label string) string {
	switch label {
	case "up":
		return "↑"
	case "down":
		return "↓"
	}
	return label
}
