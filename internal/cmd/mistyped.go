package cmd

import (
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/text/usage"
	"adze/tool"
)

// Mistyped returns an error for a prompt that looks like a mistyped command, alone or followed by
// one of its subcommands, so that it costs no model call. After --, or with --print, a word is
// always a prompt.
func Mistyped(root *cobra.Command, words []string) error {
	if len(words) == 0 || strings.ContainsAny(words[0], " \t\n") || root.ArgsLenAtDash() >= 0 {
		return nil
	}
	word := strings.ToLower(words[0])
	near := nearCommand(root, word)
	hint := elsewhere()[word]
	switch {
	case len(words) > 1:
		if hint = within(near, words[1]); hint == "" {
			return nil
		}
	case hint == "" && near == nil:
		return nil
	case hint == "":
		hint = "did you mean adze " + near.Name() + "?"
	}
	return usage.Mistake(hint+"\nas a prompt: adze -- "+strings.Join(words, " "), "adze has no command %q", words[0])
}

func nearCommand(root *cobra.Command, word string) *cobra.Command {
	byName := map[string]*cobra.Command{}
	var names []string
	for _, c := range root.Commands() {
		if !c.Hidden {
			names, byName[c.Name()] = append(names, c.Name()), c
		}
	}
	for _, name := range tool.Nearest(word, names, 1) {
		return byName[name]
	}
	return nil
}

// within suggests c's subcommand named word, or returns "" if the words are a prompt.
func within(c *cobra.Command, word string) string {
	if c == nil {
		return ""
	}
	for _, sub := range c.Commands() {
		if sub.Name() == word || sub.HasAlias(word) {
			return "did you mean " + sub.CommandPath() + "?"
		}
	}
	return ""
}

// elsewhere maps other assistants' commands to hints.
func elsewhere() map[string]string {
	out := map[string]string{}
	for hint, words := range map[string]string{
		"adze --continue, or adze --resume ID":              "resume continue",
		"adze sessions list":                                "sessions history ls list",
		`the configuration is a file; adze doctor names it`: "config configure settings setup",
		`adze -p "what to do"`:                              "run exec print chat ask",
		"adze models login PROVIDER":                        "auth signin",
		"adze doctor":                                       "status check health",
		"no command updates adze; install it again":         "update upgrade",
		"adze serve, or adze mcp serve":                     "server",
		"adze acp":                                          "editor zed",
	} {
		for w := range strings.FieldsSeq(words) {
			out[w] = hint
		}
	}
	return out
}
