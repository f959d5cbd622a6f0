package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"

	"adze/tool"
)

// modifiers returns the modifiers in Bubble Tea's order, each with synonyms.
func modifiers() [][]string {
	return [][]string{{"ctrl", "control"}, {"alt", "option", "opt"}, {"shift"}, {"meta"}, {"hyper"}, {"super", "cmd", "win"}}
}

// named returns the key names, each with synonyms.
func named() [][]string {
	return [][]string{{"enter", "return"}, {"esc", "escape"}, {"tab"}, {"space", "spacebar"}, {"backspace"}, {"delete", "del"}, {"insert", "ins"},
		{"home"}, {"end"}, {"pgup", "pageup"}, {"pgdown", "pagedown", "pgdn"}, {"up"}, {"down"}, {"left"}, {"right"}}
}

// called resolves a synonym.
func called(all [][]string, name string) (string, bool) {
	for _, names := range all {
		if slices.Contains(names, name) {
			return names[0], true
		}
	}
	return "", false
}

// function reports whether name is F1 to F20.
func function(name string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "f"))
	return err == nil && name == "f"+strconv.Itoa(n) && n >= 1 && n <= 20
}

// ParseKey converts a key name as users write it, such as Ctrl-K, F3 or PageUp, to Bubble Tea's.
func ParseKey(written string) (string, error) {
	rest, held := strings.TrimSpace(written), map[string]bool{}
	for {
		i := strings.IndexAny(rest, "+-")
		if i <= 0 || i == len(rest)-1 {
			break
		}
		mod, ok := called(modifiers(), strings.ToLower(rest[:i]))
		if !ok {
			break
		}
		held[mod], rest = true, rest[i+1:]
	}
	base, err := baseKey(rest, len(held) > 0)
	if err != nil {
		return "", fmt.Errorf("there is no key %q%w", written, err)
	}
	if held["shift"] && len(held) == 1 && utf8.RuneCountInString(base) == 1 {
		base = strings.ToUpper(base)
		delete(held, "shift")
	}
	name := base
	for _, m := range slices.Backward(modifiers()) {
		if held[m[0]] {
			name = m[0] + "+" + name
		}
	}
	if same, ok := map[string]string{"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc"}[name]; ok {
		return "", fmt.Errorf("a terminal sends %s for %s", same, name)
	}
	return name, nil
}

// baseKey parses a key without modifiers. Its error ends a message.
func baseKey(text string, modified bool) (string, error) {
	if r, n := utf8.DecodeRuneInString(text); n == len(text) && r != utf8.RuneError && unicode.IsGraphic(r) && !unicode.IsSpace(r) {
		if modified {
			return strings.ToLower(text), nil
		}
		return text, nil
	}
	name := strings.ToLower(text)
	if function(name) {
		return name, nil
	}
	if full, ok := called(named(), name); ok {
		return full, nil
	}
	if near := tool.Nearest(name, slices.Concat(named()...), 1); len(near) == 1 {
		full, _ := called(named(), near[0])
		return "", fmt.Errorf("; did you mean %s?", full)
	}
	return "", fmt.Errorf("; keys are such as ctrl+k, alt+enter, f8, pgup")
}

// Writes reports whether a key types a character.
func Writes(key string) bool {
	return utf8.RuneCountInString(key) == 1 || key == "space" || key == "shift+space"
}

// Bind returns b with other keys, as from ParseKey.
func Bind(b key.Binding, keys []string) key.Binding {
	var names []string
	for _, k := range keys {
		names = append(names, label(k))
	}
	return KeyNamed(strings.Join(names, " "), b.Help().Desc, keys...)
}

// label returns a key's display name.
func label(key string) string {
	if name, ok := map[string]string{"pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End"}[key]; ok {
		return name
	}
	if function(key) {
		return strings.ToUpper(key)
	}
	return key
}
