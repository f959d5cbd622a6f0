package cmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/policy"
	"adze/internal/policy/policyconfig"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/audit"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

func (a permissions) why() *cobra.Command {
	var flags policyconfig.Flags
	var arguments, id string
	c := &cobra.Command{Use: "why CALL | TOOL --args JSON", Annotations: CallableByTools(), Short: "Show what decided a call, or would", Args: RangeArgs(1, 1),
		Long: `With the id of a call it shows what the call needed and what was decided then, from the log. With the name of a tool and
arguments it judges such a call as it would be judged now: each thing it needs, the rule or mode that decides, and why.
Nothing is run and nobody is asked. Exits with 0 when it ran or would run without asking, else with 7.`,
		Example: `  adze permission why call_3 --session 20261121t0245
  adze permission why write --args '{"path": "vendor/x.go", "content": ""}'
  adze permission why bash --args '{"command": "go test ./..."}' --json | jq .effect`,
		RunE: func(c *cobra.Command, words []string) error {
			if arguments == "" {
				return a.whyCall(c.Context(), words[0], id, Flagged(c, "json"))
			}
			return a.whyTool(c.Context(), flags, words[0], arguments, Flagged(c, "json"))
		}}
	flags.Add(c)
	c.Flags().StringVar(&arguments, "args", "", argsHelp)
	c.Flags().StringVar(&id, "session", "", "the session of this `ID`; default: the newest of this folder")
	c.Flags().Bool("json", false, "print one JSON object")
	return c
}

func (a permissions) whyCall(ctx context.Context, call, id string, asJSON bool) error {
	return a.Store(ctx, func(s *sessiondb.Store) error {
		var words []string
		if id != "" {
			words = []string{id}
		}
		session, err := a.storedSession(ctx, s, words)
		if err != nil {
			return err
		}
		t, err := trailOf(ctx, s, session)
		if err != nil {
			return err
		}
		for _, item := range t.Items() {
			if item.Call != nil && string(item.Call.Call) == call {
				a.tellCall(item, asJSON)
				return nil
			}
		}
		return usage.Mistake("adze audit show --json lists the calls; for a call that was not made, give --args", "session %s has no call %s", session, call)
	})
}

func (a permissions) tellCall(item audit.Item, asJSON bool) {
	if asJSON {
		a.ShowJSON(item)
	} else {
		a.Show("%s", auditText(item))
	}
	if item.Call.Status == tool.Denied {
		a.Conclude(session.CauseDenied, "", "")
	}
}

// reasons is the --json object.
type reasons struct {
	Tool     string           `json:"tool"`
	Mode     policy.Mode      `json:"mode"`
	Effect   policy.Effect    `json:"effect"`
	Findings []policy.Finding `json:"findings"`
}

// whyTool judges a call without making it.
func (a permissions) whyTool(ctx context.Context, flags policyconfig.Flags, name, arguments string, asJSON bool) error {
	arguments, err := a.argumentText(arguments)
	if err != nil {
		return err
	}
	return a.Gate(flags, func(p *policy.Policy) error {
		return a.Tools(ctx, func(set *tool.Set) error {
			bench := &bench{policy: p}
			runner := &tool.Runner{Gate: bench}
			out := runner.Exec(ctx, runner.Hydrate(ctx, set, []tool.RawCall{{ID: "why", Name: name, Arguments: arguments}})[0])
			if !bench.asked {
				return usage.Mistake(invalidHint(out.Code, name), "%s", out.Output)
			}
			r := reasons{Tool: out.Tool, Mode: p.Mode(), Effect: policy.Sum(bench.findings), Findings: append([]policy.Finding{}, bench.findings...)}
			if asJSON {
				a.ShowJSON(r)
			} else {
				a.Show("%s", r)
			}
			if r.Effect != policy.Allow {
				a.Conclude(session.CauseDenied, "", "")
			}
			return nil
		})
	})
}

// bench is a gate that records the policy's decision for one call and lets nothing run.
type bench struct {
	policy   *policy.Policy
	asked    bool
	findings []policy.Finding
}

func (b *bench) Decide(_ context.Context, q tool.Question) (tool.Decision, error) {
	b.asked, b.findings = true, b.policy.Findings(q)
	return tool.Decision{Reason: "only judged"}, nil
}

// String formats the verdict and then each need.
func (r reasons) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in mode %s\n", r.Effect, r.Tool, r.Mode)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "  %s %s\n    %s: %s\n", f.Need.Permission, f.Need.Touches(), f.Effect, by(f.Rule, f.Layer))
		if f.Reason != "" && f.Effect != policy.Allow {
			fmt.Fprintf(&b, "    %s\n", f.Reason)
		}
	}
	if len(r.Findings) == 0 {
		b.WriteString("  it needs nothing\n")
	}
	return b.String()
}
