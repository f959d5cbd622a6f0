package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/sessiondb"
	"adze/internal/sessiondb/audit"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
)

func (a *all) auditCommand() *cobra.Command {
	show := &cobra.Command{Use: "show [SESSION] [--json]", Annotations: CallableByTools(), Short: "Show what was asked, called and decided in a session", Args: RangeArgs(0, 1),
		Long:    "Without an id: the newest session of this folder. Of arguments it shows what each tool lets be logged.",
		Example: "  adze audit show\n  adze audit show 20261121t0245 --json | jq 'select(.call.status == \"denied\")'",
		RunE: func(c *cobra.Command, words []string) error {
			return a.showAudit(c.Context(), words, Flagged(c, "json"))
		}}
	show.Flags().Bool("json", false, "print one JSON object per line")
	var id string
	stats := &cobra.Command{Use: "stats [--session ID] [--json]", Annotations: CallableByTools(), Short: "Count calls, failures, repairs, latency and tokens", Args: RangeArgs(0, 0),
		Long:    "Computed from the stored sessions when you ask; nothing is counted elsewhere, and nothing leaves this machine.",
		Example: "  adze audit stats\n  adze audit stats --session 20261121t0245 --json | jq .tools",
		RunE:    func(c *cobra.Command, _ []string) error { return a.auditStats(c.Context(), id, Flagged(c, "json")) }}
	stats.Flags().StringVar(&id, "session", "", "only the session with this `ID`")
	stats.Flags().Bool("json", false, "print one JSON object")
	return Group("audit", "Show and verify the log of calls and decisions", show, Verify(a.Env, a.Program), stats)
}

// Verify returns adze audit verify, which also serves as adze sessions verify.
func Verify(e *Env, p Program) *cobra.Command {
	var anchor string
	c := &cobra.Command{Use: "verify [SESSION | --all]", Annotations: CallableByTools(), Short: "Verify that a log is as it was written, and that it makes sense", Args: RangeArgs(0, 1),
		Long: `Walks the hash chain and names the first bad entry; then checks that every effect was decided on before, that every
call has one outcome, and that outputs fit their hashes. Exits with 10 when anything is wrong.

The anchor it prints, kept elsewhere, shows later whether even the owner of the database rewrote what came before.`,
		Example: "  adze audit verify\n  adze audit verify --all\n  adze audit verify 20261121t0245 --anchor 12:9f86d0…",
		RunE: func(c *cobra.Command, words []string) error {
			return (&all{e, p}).verify(c.Context(), words, Flagged(c, "all"), anchor)
		}}
	c.Flags().Bool("all", false, "all sessions of all folders")
	c.Flags().StringVar(&anchor, "anchor", "", "check that the log still goes through this `SEQ:HASH`")
	return c
}

func trailOf(ctx context.Context, s *sessiondb.Store, id session.ID) (*audit.Trail, error) {
	var t audit.Trail
	err := s.ScanEach(ctx, sessiondb.Scan{Session: id, Types: audit.Types()}, func(f sessiondb.ScanResult) error {
		t.Add(f.Seq, f.Entry)
		return nil
	})
	return &t, Readable(err)
}

func (a *all) showAudit(ctx context.Context, words []string, asJSON bool) error {
	return a.Store(ctx, func(s *sessiondb.Store) error {
		id, err := a.storedSession(ctx, s, words)
		if err != nil {
			return err
		}
		t, err := trailOf(ctx, s, id)
		if err != nil {
			return err
		}
		if asJSON {
			for _, item := range t.Items() {
				a.ShowJSON(item)
			}
			return nil
		}
		fmt.Fprintf(a.Stdout(), "session %s in %s%s\n", safeterm.Name(string(id)), safeterm.Name(t.Start.Cwd), safeterm.Name(kin(t.Start)))
		for _, item := range t.Items() {
			fmt.Fprint(a.Stdout(), auditText(item))
		}
		for _, f := range t.Findings {
			a.Show("! %s\n", f)
		}
		return nil
	})
}

// kin names a session's parent and its relation to it: subagent or copy.
func kin(s session.Start) string {
	if s.Agent == "" {
		return label(", a copy of the session ", string(s.Parent))
	}
	return label(", subagent ", s.Agent) + label(" of the session ", string(s.Parent))
}

// auditText formats an item for the user: one line for the event, more for the decision. Untrusted
// text stays on its line.
func auditText(i audit.Item) string {
	var b strings.Builder
	line := func(format string, args ...string) {
		clean := make([]any, len(args))
		for i, arg := range args {
			clean[i] = safeterm.Name(arg)
		}
		fmt.Fprintf(&b, format+"\n", clean...)
	}
	at := fmt.Sprintf("%4d %s ", i.Seq, i.Time.Local().Format("15:04:05"))
	if r := i.Request; r != nil {
		line(at+"ask   %s", strings.Join(notEmpty(r.Provider+"/"+r.Model, took(r.Duration), tokens(r.Usage), label("prompt ", short(r.Prompt)), label("failed: ", r.Error)), " · "))
		return b.String()
	}
	if s := i.Subagent; s != nil {
		line(at+"agent %s", string(s.Session)+" · "+s.Name+map[bool]string{true: " · in the background"}[s.Background])
		return b.String()
	}
	if r := i.Report; r != nil {
		line(at+"report %s", fmt.Sprintf("%s · %s · %s · %d bytes", r.Session, r.Name, r.Status, r.Bytes))
		return b.String()
	}
	if h := i.Hook; h != nil {
		changed := ""
		if h.Changed {
			changed = "changed the arguments"
		}
		line(at+"hook  %s", strings.Join(notEmpty(h.Hook, h.Event+" "+h.Decision, h.Tool, changed, took(h.Duration), label("sandbox ", h.Sandbox), h.Reason), " · "))
		return b.String()
	}
	c := i.Call
	status := string(c.Status)
	if c.Open {
		status = "no outcome is known"
	}
	line(at+"call  %s", strings.Join(notEmpty(c.Tool+" "+status, c.Code, took(c.Duration), label("waited for a person ", took(c.Waited)), originOf(c.Record), label("sandbox ", c.Sandbox), label("output ", short(c.OutputHash))), " · "))
	line("              args %s", string(c.Args))
	for _, n := range c.Needs {
		line("              needs %s", strings.Join(notEmpty(string(n.Permission), n.Touches(), label("in ", n.Dir)), " "))
	}
	for _, d := range c.Decisions {
		line("              %s", decided(d))
	}
	for _, r := range c.Refused {
		line("              the sandbox refused %s", strings.Join(notEmpty(r.Kind+" "+r.Name, r.Reason, map[bool]string{true: "a hint from its output"}[r.Hint]), " · "))
	}
	for _, to := range c.Traffic {
		line("              carried %s", fmt.Sprintf("%s · %d bytes sent · %d received · connections %d", to.Host, to.Sent, to.Received, to.Connections))
	}
	for _, f := range c.Faults {
		line("              fault %s", strings.Join(notEmpty(string(f.Stage), f.Code, f.Path, f.Message), " "))
	}
	return b.String()
}

func decided(d tool.Decision) string {
	verdict := "denied"
	if d.Allow {
		verdict = "allowed"
	}
	by := d.Rule
	if d.Layer != "" {
		by = strings.Join(notEmpty(d.Rule, "("+d.Layer+")"), " ")
	}
	return strings.Join(notEmpty(verdict, label("by ", by), label("from ", d.Client), label("· ", d.Reason)), " ")
}

func originOf(r tool.Record) string {
	words := []string{}
	if r.Origin != tool.Native {
		words = append(words, strings.Join(notEmpty(string(r.Origin), r.Alias, r.Dialect), " "))
	}
	if r.Repair != "" {
		words = append(words, "repair "+r.Repair)
	}
	if !r.Validated && r.Status != tool.Invalid && r.Digest != "" {
		words = append(words, strings.TrimSpace("not validated "+label("by no schema, ", string(r.NoSchemaMode))))
	}
	return strings.Join(words, ", ")
}

func notEmpty(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

func label(name, value string) string {
	if value == "" {
		return ""
	}
	return name + value
}

func short(hash string) string { return hash[:min(len(hash), 12)] }

func took(d time.Duration) string {
	if d < time.Millisecond {
		return ""
	}
	return d.Round(time.Millisecond).String()
}

func tokens(u *session.Usage) string {
	if u == nil || u.Total() == 0 {
		return ""
	}
	return fmt.Sprintf("%d tokens", u.Total())
}
