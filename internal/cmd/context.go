package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"adze/internal/policy/policyconfig"
	"adze/internal/project/discovery"
	"adze/internal/project/instructions"
	"adze/internal/project/trust"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
)

// ContextWish selects a request: a new session's first one in this folder, or a stored session's
// next one.
type ContextWish struct {
	policyconfig.Flags
	Model   string
	Session string // id prefix
	Last    bool   // the folder's newest
	Bare    bool
	Prompt  string
}

// Context describes a session's next request, with the interface's token counts.
type Context struct {
	Session session.ID // "" for a new one
	Cwd     string
	Profile string // the prompt's name
	Ledger  session.Ledger
	Offer   *session.Offer // nil if all tools are shown
	Tools   []string       // all callable tools
	Texts   []instructions.Listed
	Found   []ContextItem
	Runs    []trust.Item // the project's
	Notices []string
}

// contextSchema is the version of the --json format. Fields may be added; none changes its meaning.
const contextSchema = "adze.context/1"

type contextAnswer struct {
	Schema   string           `json:"schema"`
	Session  session.ID       `json:"session,omitempty"`
	Cwd      string           `json:"cwd"`
	Model    string           `json:"model,omitempty"`
	Profile  string           `json:"profile"`
	Bytes    int              `json:"bytes"`
	Estimate int              `json:"estimate_tokens"`
	Factor   float64          `json:"factor"`
	Window   int              `json:"context_tokens,omitempty"`
	Percent  *int             `json:"percent,omitempty"`
	Sources  []session.Source `json:"sources"`
	LeftOut  []leftOut        `json:"left_out"`
	Carried  []ContextItem    `json:"carried"`
	Notices  []string         `json:"notices"`
}

// leftOut is an item missing from the request, with the reason.
type leftOut struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Reason string `json:"why"`
}

// A ContextItem is a user's or project's file for assistants. Its bytes are the file's size; the
// sources show the part in the request.
type ContextItem struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	Origin string `json:"origin"`
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes,omitempty"`
	// State is used, described, named, narrowed, waits, unused, shadowed or broken. For a runnable
	// item it is waiting, changed, allowed, unused or broken.
	State  string `json:"state"`
	Reason string `json:"why,omitempty"`
}

// contexts implements adze tools context.
type contexts struct{ *all }

func (a contexts) command() *cobra.Command {
	var w ContextWish
	c := &cobra.Command{Use: "context [PROMPT]", Annotations: CallableByTools(), Short: "Show what the next request would contain, with bytes and tokens", Args: RangeArgs(0, -1),
		Long: `Shows the next request of a new session in this folder, or with --continue or --session of a stored one: the prompt, each
instruction file and tool with its bytes and tokens, what is left out and why, and what else is carried here, with its origin.
The figures are those of /context. No model, hook or server is started, and nothing is written.`,
		Example: "  adze tools context\n  adze tools context --continue\n  adze tools context --json | jq '.sources[] | select(.group==\"system\")'",
		RunE: func(c *cobra.Command, words []string) error {
			w.Prompt = strings.Join(words, " ")
			if w.Last && w.Session != "" {
				return usage.Mistake("use one of them", "--continue and --session exclude each other")
			}
			return a.Context(c.Context(), w, func(found Context) error { return a.show(found, Flagged(c, "json")) })
		}}
	f := c.Flags()
	f.StringVar(&w.Model, "model", "", "`PROVIDER/NAME` of a model")
	f.BoolVarP(&w.Last, "continue", "c", false, "the newest session of this folder")
	f.StringVar(&w.Session, "session", "", "the session with this `ID` (a unique beginning is enough)")
	f.BoolVar(&w.Bare, "bare", false, "without what the project carries")
	f.Bool("json", false, "print one JSON object")
	w.Flags.Add(c)
	return c
}

func (a contexts) show(c Context, asJSON bool) error {
	answer := c.answer()
	if asJSON {
		a.ShowJSON(answer)
		return nil
	}
	fits := ""
	if answer.Percent != nil {
		fits = fmt.Sprintf(", %d%% of the %d that the model takes", *answer.Percent, answer.Window)
	}
	model := answer.Model
	if model == "" {
		model = "no model is chosen"
	}
	a.Show("%s · %d bytes, about %d tokens%s\n%s\n\n", model, answer.Bytes, answer.Estimate, fits, c.Ledger.Basis())
	table := a.Columns()
	group := session.Group("")
	for _, s := range answer.Sources {
		if s.Group != group {
			bytes, tokens := 0, 0
			for _, same := range answer.Sources {
				if same.Group == s.Group {
					bytes, tokens = bytes+same.Bytes, tokens+same.Tokens
				}
			}
			group = s.Group
			fmt.Fprintf(table, "%s\t%d\t%d\n", groupWords(group), bytes, tokens)
		}
		fmt.Fprintf(table, "  %s\t%d\t%d\n", safeterm.Name(s.Name), s.Bytes, s.Tokens)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return a.showRest(answer)
}

func groupWords(g session.Group) string {
	return map[session.Group]string{session.SystemGroup: "system prompt, bytes and tokens", session.ToolsGroup: "tools", session.MessagesGroup: "messages", session.ResultsGroup: "results of tools"}[g]
}

func (a contexts) showRest(answer contextAnswer) error {
	table := a.Columns()
	if len(answer.LeftOut) > 0 {
		fmt.Fprintf(table, "\nleft out\n")
	}
	for _, l := range answer.LeftOut {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", l.Kind, safeterm.Name(l.Name), safeterm.Name(l.Reason))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	table = a.Columns()
	if len(answer.Carried) > 0 {
		fmt.Fprintf(table, "\ncarried here\n")
	}
	for _, c := range answer.Carried {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\t%s\n", c.Kind, safeterm.Name(c.Name), c.Origin, safeterm.Name(c.Path), safeterm.Name(strings.TrimSuffix(c.State+": "+c.Reason, ": ")))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, n := range answer.Notices {
		a.Show("! %s\n", n)
	}
	return nil
}

// answer builds the --json object.
func (c Context) answer() contextAnswer {
	l := c.Ledger
	out := contextAnswer{
		Schema: contextSchema, Session: c.Session, Cwd: c.Cwd, Model: strings.Trim(l.Model, "/"), Profile: c.Profile, Estimate: l.Estimate, Factor: l.Factor, Window: l.Window,
		Sources: append([]session.Source{}, l.Sources...), LeftOut: c.leftOut(), Carried: c.carried(), Notices: append([]string{}, c.Notices...),
	}
	for _, s := range l.Sources {
		out.Bytes += s.Bytes
	}
	if percent, known := l.Fill(); known {
		out.Percent = &percent
	}
	return out
}

func (c Context) leftOut() []leftOut {
	out := []leftOut{}
	if c.Offer == nil {
		return out
	}
	for _, name := range c.Tools {
		if slices.Contains(c.Offer.Tools, name) {
			continue
		}
		why := "the model calls for it by tool_search"
		for _, e := range c.Offer.Excluded {
			if slices.Contains(e.Tools, name) {
				why = e.Reason
			}
		}
		out = append(out, leftOut{"tool", name, why})
	}
	return out
}

// carried lists the user's and project's files for assistants, and the project's runnable items.
func (c Context) carried() []ContextItem {
	out := []ContextItem{}
	for _, l := range c.Texts {
		one := ContextItem{Kind: "instructions", Name: l.DisplayPath, Origin: string(discovery.Project), Path: l.DisplayPath, Bytes: l.Size, State: l.State, Reason: l.Reason}
		if l.Mine {
			one.Origin = string(discovery.Person)
		}
		out = append(out, one)
	}
	out = append(out, c.Found...)
	for _, i := range c.Runs {
		_, name, _ := strings.Cut(i.ID, ":")
		out = append(out, ContextItem{Kind: i.Kind, Name: name, Origin: string(discovery.Project), Path: i.Source, State: string(i.State), Reason: i.Problem})
	}
	return out
}
