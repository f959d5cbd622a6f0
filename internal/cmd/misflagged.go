package cmd

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/text/usage"
	"adze/tool"
)

// FlagError suggests the intended flag: adze's for a flag of another assistant, or the nearest one.
func FlagError(cmd *cobra.Command, err error) error {
	hint := "adze --help lists all flags"
	name := unknownFlag(err.Error())
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	switch near := tool.Nearest(strings.TrimLeft(name, "-"), names, 1); {
	case name == "":
	case !cmd.HasParent() && others()[name] != "":
		hint = others()[name]
	case len(near) == 1 && strings.HasPrefix(name, "--"):
		hint = "did you mean --" + near[0] + "?"
	}
	return &usage.Error{Message: err.Error(), Hint: hint}
}

// unknownFlag returns the unknown flag with its dashes, or "" for another error.
func unknownFlag(message string) string {
	if name, ok := strings.CutPrefix(message, "unknown flag: "); ok {
		return name
	}
	if rest, ok := strings.CutPrefix(message, "unknown shorthand flag: '"); ok && rest != "" {
		return "-" + string([]rune(rest)[:1])
	}
	return ""
}

// others maps other assistants' flags to adze's.
func others() map[string]string {
	out := map[string]string{}
	for hint, flags := range map[string]string{
		"did you mean --model?": "-m",
		"that is --yolo; deny rules and protected paths hold in it": "-y --dangerously-skip-permissions" +
			" --allow-dangerously-skip-permissions --dangerously-bypass-approvals-and-sandbox --yes --yes-always --auto-approve --allow-all-tools",
		"that is --permission-mode auto":                             "--full-auto -a --auto --ask-for-approval --approval-mode",
		"that is --allow, with a rule such as 'execute(go test **)'": "--allowedTools --allowed-tools --allow-tool",
		"that is --deny with a rule, or --no-tools with names":       "--disallowedTools --disallowed-tools --deny-tool",
		"that is --output-format json or stream-json":                "--json -o --stream-json --format",
		"that is adze -p": "--message --prompt --non-interactive --headless -q --quiet --exec",
		"name files in the prompt, as @FILE; --attach takes images and PDFs": "--file -f --image -i --read",
		"that is --cwd":                      "-C --cd --dir",
		"that is --continue, or --resume ID": "-s --session --restore-chat-history",
		"that is --fork":                     "--fork-session",
		"keep servers with adze mcp add":     "--mcp-config",
		"what lies in another folder is asked for; --allow 'read(abs:/folder/**)' allows it": "--add-dir --include-directories",
	} {
		for f := range strings.FieldsSeq(flags) {
			out[f] = hint
		}
	}
	return out
}
