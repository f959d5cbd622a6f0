package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/lookup"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

type showFlags struct {
	turn  int
	call  string
	whole bool
	json  bool
}

type reader struct{ past }

func showCommand(p past) *cobra.Command {
	var o showFlags
	c := &cobra.Command{Use: "show [ID]", Annotations: cmd.CallableByTools(), Short: "Read what was said and done in a session", Args: cmd.RangeArgs(0, 1), ValidArgsFunction: p.ids,
		Long: `Shows each turn with its number, the prompt, the answer, the calls and their results. Of arguments it shows what their tools
let be logged, of long results the first lines. Without an ID: the session last used in this folder.`,
		Example: "  adze sessions show 20261121t0245 | less -R\n  adze sessions show 20261121t0245 --turn 3 --whole\n  adze sessions show 20261121t0245 --json | jq -r 'select(.kind == \"prompt\").text'",
		RunE: func(c *cobra.Command, words []string) error {
			if o.call != "" {
				return reader{p}.showCall(c.Context(), first(words), o)
			}
			return reader{p}.showSession(c.Context(), first(words), o)
		}}
	c.Flags().IntVar(&o.turn, "turn", 0, "only the turn with this `NUMBER`")
	c.Flags().StringVar(&o.call, "call", "", "only what the call with this `ID` gave, whole")
	c.Flags().BoolVar(&o.whole, "whole", false, "results as long as they are stored")
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON object per line")
	return c
}

// messageJSON is a --json line.
type messageJSON struct {
	Session  session.ID      `json:"session"`
	Turn     int             `json:"turn"` // 0 before the first turn and for undone ones
	Seq      int             `json:"seq"`  // the entry's
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"` // prompt, answer, call, summary, note or end
	Text     string          `json:"text,omitempty"`
	Message  string          `json:"message,omitempty"`
	Model    string          `json:"model,omitempty"`
	Call     tool.CallID     `json:"call,omitempty"`
	Tool     string          `json:"tool,omitempty"`
	Args     json.RawMessage `json:"args,omitempty"`
	Status   tool.Status     `json:"status,omitempty"`
	Duration time.Duration   `json:"duration_ns,omitempty"`
	Cause    session.Cause   `json:"cause,omitempty"`
	Back     bool            `json:"taken_back,omitempty"`
	title    string
}

func (p reader) showSession(ctx context.Context, prefix string, o showFlags) error {
	var head session.Head
	var log []session.Entry
	err := p.Store(ctx, func(s *sessiondb.Store) (err error) {
		if head, err = p.one(ctx, s, prefix); err != nil {
			return err
		}
		log, err = s.Load(ctx, head.ID)
		return cmd.Readable(err)
	})
	if err != nil {
		return err
	}
	turns := lookup.Turns(log)
	if o.turn != 0 && !slices.ContainsFunc(turns, func(t lookup.Turn) bool { return t.Number == o.turn }) {
		return usage.Mistake("leave --turn out to see all", "the session has no turn %d", o.turn)
	}
	if !o.json && o.turn == 0 {
		p.introduce(head)
	}
	at := lookup.Turn{}
	for i, e := range log {
		if len(turns) > 0 && i >= turns[0].Start {
			at, turns = turns[0], turns[1:]
		}
		l, ok := saidIn(e)
		if !ok || o.turn != 0 && at.Number != o.turn {
			continue
		}
		l.Session, l.Turn, l.Seq, l.Time, l.Back = head.ID, at.Number, i+1, e.Time.UTC(), at.End > 0 && at.Number == 0
		if o.json {
			err = p.WriteJSON(l)
		} else {
			err = p.tell(l, o.whole)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p reader) introduce(h session.Head) {
	info := h.Info()
	p.Show("%s  %s\n%s  %s  %s – %s\n", h.ID, named(h), info.Cwd, info.Model,
		h.Created.Local().Format("2006-01-02 15:04"), h.Updated.Local().Format("2006-01-02 15:04"))
	if info.Parent != "" && info.Agent == "" {
		p.Show("a copy of %s\n", info.Parent)
	}
}

// saidIn converts an entry for a reader, or returns false to skip it.
func saidIn(e session.Entry) (l messageJSON, ok bool) {
	switch e.Type {
	case session.MessageEntry:
		var m session.Message
		if json.Unmarshal(e.Data, &m) != nil {
			return l, false
		}
		l = messageJSON{Kind: "prompt", Text: m.Text(), Message: m.ID}
		switch {
		case m.Role == session.Assistant:
			l.Kind, l.Model = "answer", m.Provider+"/"+m.Model
		case m.Summary:
			l.Kind = "summary"
		case m.Note, m.OwnCall != "":
			l.Kind = "note"
		}
		return l, l.Text != ""
	case session.OutcomeEntry:
		var o tool.Outcome
		if json.Unmarshal(e.Data, &o) != nil {
			return l, false
		}
		return messageJSON{Kind: "call", Text: o.Output, Message: o.Record.Message, Call: o.Call, Tool: o.Tool, Args: o.Record.Args, Status: o.Status, Duration: o.Duration, title: o.Headed().String()}, true
	case session.EndEntry:
		var r session.Result
		if json.Unmarshal(e.Data, &r) != nil {
			return l, false
		}
		return messageJSON{Kind: "end", Cause: r.Cause, Text: r.Message}, true
	}
	return l, false
}

// shownLines limits a result's printed lines.
const shownLines = 12

func (p reader) tell(l messageJSON, whole bool) error {
	text := safeterm.Clean(p.Mask().Text(l.Text)).String()
	var b strings.Builder
	switch l.Kind {
	case "prompt":
		number := fmt.Sprintf("turn %d", l.Turn)
		if l.Back {
			number = "taken back"
		}
		fmt.Fprintf(&b, "\n── %s · %s\n%s\n", number, l.Time.Local().Format("2006-01-02 15:04:05"), indent(text, "> "))
	case "answer":
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(text))
	case "call":
		fmt.Fprintf(&b, "\n• %s (%s)\n", safeterm.Name(p.Mask().Text(l.title)), l.Status)
		b.WriteString(indent(shortened(text, whole), "  "))
	case "end":
		if l.Cause != session.CauseDone {
			fmt.Fprintf(&b, "\n(%s: %s)\n", l.Cause, text)
		}
	default:
		fmt.Fprintf(&b, "\n%s\n", indent(shortened(text, whole), "# "))
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

func shortened(text string, whole bool) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if whole || len(lines) <= shownLines+1 {
		return strings.Join(lines, "\n")
	}
	return strings.Join(lines[:shownLines], "\n") + fmt.Sprintf("\n… %d more lines; --whole shows them", len(lines)-shownLines)
}

func indent(text, lead string) string {
	if text == "" {
		return ""
	}
	return lead + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+lead) + "\n"
}
