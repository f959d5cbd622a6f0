package config

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/jsonc"
	"adze/tool/nearest"
)

// restricting are the names whose loss would let something happen that the person forbade: what looks like one of them
// stops the start.
func restricting() []string { return []string{"deny", "ask", "permission_mode"} }

// judge tells which names mean nothing, each with the one that it looks like.
func judge(path string, unknown []jsonc.Unknown) (warnings []string, err error) {
	for _, u := range unknown {
		what := fmt.Sprintf("line %d: %s is not known", u.Line, u.Name)
		own := u.Name[strings.LastIndexByte(u.Name, '.')+1:]
		around := strings.TrimSuffix(u.Name, own)
		near := nearest.Names(own, u.Known, 1)
		switch {
		case len(near) == 1 && around == "" && slices.Contains(restricting(), near[0]):
			return nil, &Error{Path: path, Message: what, Hint: "did you mean " + near[0] + "?"}
		case secret(own):
			what += ": a key never stands in this file; adze login keeps one, and key_env names a variable"
		case len(near) == 1:
			what += "; did you mean " + around + near[0] + "?"
		}
		warnings = append(warnings, path+": "+what)
	}
	return warnings, nil
}

// secret reports a name under which people write keys.
func secret(name string) bool {
	return slices.Contains([]string{"key", "apikey", "token", "secret"}, nearest.Fold(name))
}
