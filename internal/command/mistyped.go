package command

import (
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/usage"
	"adze/tool"
)

// Mistyped tells of a single word that looks like a command and is none: it is no prompt that anybody would pay for.
// Behind --, or with --print, a word is what to do.
func Mistyped(root *cobra.Command, words []string) error {
	if len(words) != 1 || strings.ContainsAny(words[0], " \t\n") || root.ArgsLenAtDash() >= 0 {
		return nil
	}
	word := strings.ToLower(words[0])
	hint := elsewhere()[word]
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if near := tool.Nearest(word, names, 1); hint == "" && len(near) == 1 {
		hint = "did you mean adze " + near[0] + "?"
	}
	if hint == "" {
		return nil
	}
	return usage.Mistake(hint+"\nas a prompt: adze -- "+words[0], "adze has no command %q", words[0])
}

// elsewhere is where to find what other assistants have a command for.
func elsewhere() map[string]string {
	out := map[string]string{}
	for hint, words := range map[string]string{
		"adze --continue, or adze --resume ID":              "resume continue",
		"adze session list":                                 "sessions history ls list",
		`the configuration is a file; adze doctor names it`: "config configure settings setup",
		`adze -p "what to do"`:                              "run exec print chat ask",
		"adze login PROVIDER":                               "auth signin",
		"adze doctor":                                       "status check health",
		"no command updates adze; install it again":         "update upgrade",
		"adze serve, or adze mcp serve":                     "server",
		"adze acp":                                          "editor zed",
	} {
		for _, w := range strings.Fields(words) {
			out[w] = hint
		}
	}
	return out
}
