package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/session"
)

// permissions holds the commands for rules.
type permissions struct{ *all }

func (a permissions) command() *cobra.Command {
	var flags policyconfig.Flags
	test := &cobra.Command{Use: "test COMMAND", Annotations: CallableByTools(), Short: "Show how a command or an MCP call is judged, without running it", Args: RangeArgs(1, 1),
		Long: `Shows each program that the text would start, the rule that matches it and the layer it comes from, and the verdict on
the whole, with the configuration and the flags of a run, and what an answer for the session would allow. mcp:SERVER TOOL is a
tool of an MCP server. Exits with 0 when it would run without asking, else with 7.`,
		Example: `  adze permission test 'go test ./... && git push'
  adze permission test 'rm -rf build' --yolo --deny 'execute(rm **)'
  adze permission test 'mcp:files read_file' --allow 'execute(mcp:files read_*)'
  adze permission test 'curl x | sh' --json | jq .effect`,
		RunE: func(c *cobra.Command, words []string) error {
			return a.testPermission(flags, words[0], Flagged(c, "json"))
		}}
	flags.Add(test)
	test.Flags().Bool("json", false, "print one JSON object")
	return Group("permission", "Show, change and test permission rules", a.list(), a.add(), a.remove(), a.why(), test)
}

// judgement is the --json object.
type judgement struct {
	Command string        `json:"command"`
	Mode    policy.Mode   `json:"mode"`
	Effect  policy.Effect `json:"effect"`
	Rule    string        `json:"rule,omitempty"`
	Layer   policy.Layer  `json:"layer"`
	Reason  string        `json:"reason,omitempty"`
	Opaque  string        `json:"opaque,omitempty"` // why no rule can allow it
	Parts   []programLine `json:"commands"`
	Session []string      `json:"session_rules,omitempty"`
	Offers  []offerLine   `json:"offers,omitempty"` // all possible grants "for this session", the narrowest first
}

// offerLine is one choice in a permission prompt.
type offerLine struct {
	Kind       policy.OfferKind `json:"kind"`
	Rules      []string         `json:"rules"`
	Covers     string           `json:"covers"`
	StillAsked string           `json:"spares"`
	Saved      string           `json:"saved,omitempty"` // further coverage once saved in the configuration
}

type programLine struct {
	Command string        `json:"command"`
	Inner   bool          `json:"inner,omitempty"`
	Effect  policy.Effect `json:"effect"`
	Rule    string        `json:"rule,omitempty"`
	Layer   policy.Layer  `json:"layer"`
	Reason  string        `json:"why"`
}

func (a permissions) testPermission(flags policyconfig.Flags, text string, asJSON bool) error {
	return a.Gate(flags, func(gate *policy.Policy) error {
		j := a.judge(gate, text)
		if asJSON {
			a.ShowJSON(j)
			return nil
		}
		a.Show("%s", j)
		return nil
	})
}

func (a permissions) judge(gate *policy.Policy, text string) judgement {
	e := gate.Explain(text, "")
	if e.Effect != policy.Allow {
		a.Conclude(session.CauseDenied, "", "")
	}
	j := judgement{Command: text, Mode: gate.Mode(), Effect: e.Effect, Rule: e.Rule, Layer: e.Layer, Reason: e.Reason,
		Opaque: e.Opaque, Parts: []programLine{}, Session: e.Session}
	if e.Effect == policy.Allow {
		j.Reason, j.Session = "", nil // they apply to asking modes
	}
	for _, o := range e.Offers {
		j.Offers = append(j.Offers, offerLine{o.Kind, o.Rules, o.Covers, o.Spares, o.Saved})
	}
	for _, p := range e.Parts {
		j.Parts = append(j.Parts, programLine(p))
	}
	return j
}

// String formats the judgement for the user. The caller escapes untrusted text.
func (j judgement) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", j.Effect, by(j.Rule, j.Layer))
	for _, line := range [][2]string{{"why", j.Reason}, {"no rule can allow it", j.Opaque}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
		}
	}
	for _, p := range j.Parts {
		indent := "  "
		if p.Inner {
			indent = "    "
		}
		fmt.Fprintf(&b, "%s%s\n%s    %s: %s; %s\n", indent, p.Command, indent, p.Effect, by(p.Rule, p.Layer), p.Reason)
	}
	if len(j.Session) > 0 {
		fmt.Fprintf(&b, "\"for this session\" would grant: %s\n", strings.Join(j.Session, ", "))
	}
	for i, o := range j.Offers {
		if i > 0 {
			fmt.Fprintf(&b, "or, as the %s: %s\n", o.Kind, strings.Join(o.Rules, ", "))
		}
	}
	for _, o := range j.Offers {
		fmt.Fprintf(&b, "%s\n", strings.Join(o.Rules, ", "))
		for _, line := range [][2]string{{"covers", o.Covers}, {"not", o.StillAsked}, {"always", o.Saved}} {
			if line[1] != "" {
				fmt.Fprintf(&b, "  %s: %s\n", line[0], line[1])
			}
		}
	}
	return b.String()
}

func by(rule string, layer policy.Layer) string {
	if rule == "" {
		return string(layer)
	}
	return fmt.Sprintf("%s (%s)", rule, layer)
}
