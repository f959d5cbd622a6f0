package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/text/jsonc"
	"adze/tool/fuzzy"
)

// restricting returns the settings whose loss would permit something forbidden by the user: a name
// similar to one of them stops the start.
func restricting() []string { return []string{"deny", "ask", "permission_mode"} }

// judge sorts unknown names into warnings, each with a similar valid name, and retired settings,
// each with its replacement.
func judge(path string, unknown []jsonc.Unknown) (warnings, retired []string, err error) {
	for _, u := range unknown {
		what := fmt.Sprintf("line %d: %s is not known", u.Line, u.Name)
		if u.Retired != "" {
			retired = append(retired, fmt.Sprintf("%s: %s holds in this release only: %s", path, u.Name, u.Retired))
			continue
		}
		if instead := gone(u.Name); instead != "" {
			retired = append(retired, fmt.Sprintf("%s: %s is gone: %s", path, u.Name, instead))
			continue
		}
		own := u.Name[strings.LastIndexByte(u.Name, '.')+1:]
		around := strings.TrimSuffix(u.Name, own)
		near := fuzzy.Names(own, u.Known, 1)
		switch {
		case len(near) == 1 && around == "" && slices.Contains(restricting(), near[0]):
			return nil, nil, &Error{Path: path, Message: what, Hint: meant(own, near[0])}
		case secret(own):
			what += ": a key does not belong in this file; adze models login keeps one, and key_env names a variable"
		case elsewhere(u.Name) != "":
			what += ": " + elsewhere(u.Name)
		case len(near) == 1:
			what += "; did you mean " + around + near[0] + "?"
		case around == "mcp.":
			what += ": " + elsewhere("mcpServers")
		}
		warnings = append(warnings, path+": "+what)
	}
	return warnings, retired, nil
}

// meant returns the suggestion for a misspelled name. Other assistants keep rules and mode in one
// object.
func meant(name, near string) string {
	if slices.Contains([]string{"permission", "permissions"}, fuzzy.Fold(name)) {
		return `rules are lists, "allow", "ask" and "deny", of such as "execute(go test **)", and the mode is "permission_mode"`
	}
	return "did you mean " + near + "?"
}

// secret reports names under which users might write keys.
func secret(name string) bool {
	return slices.Contains([]string{"key", "apikey", "token", "secret"}, fuzzy.Fold(name))
}

// AppendNew returns the lines not yet in a file and appends them.
func AppendNew(file string, lines []string) (out []string) {
	told, _ := os.ReadFile(file)
	for _, line := range lines {
		if !slices.Contains(strings.Split(string(told), "\n"), line) {
			out = append(out, line)
			told = append(told, line+"\n"...)
		}
	}
	if len(out) > 0 && os.MkdirAll(filepath.Dir(file), 0o700) == nil {
		_ = os.WriteFile(file, told, 0o600)
	}
	return out
}
