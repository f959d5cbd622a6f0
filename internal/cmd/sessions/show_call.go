package sessions

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"adze/internal/cmd"
	"adze/internal/config/paths"
	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// calledLine is a call in --json.
type calledLine struct {
	Session  session.ID      `json:"session"`
	Message  string          `json:"message"`
	Call     tool.CallID     `json:"call"`
	Tool     string          `json:"tool"`
	Status   tool.Status     `json:"status"`
	Args     json.RawMessage `json:"args,omitempty"`
	Output   string          `json:"output"`
	Complete bool            `json:"whole"` // false if it was cut for the model and the rest is no longer stored
}

// showCall prints a call's full result. Some servers reuse an id in every message: all such calls
// are printed.
func (p reader) showCall(ctx context.Context, prefix string, o showFlags) error {
	var found []calledLine
	var of session.ID
	err := p.Store(ctx, func(s *sessiondb.Store) error {
		head, err := p.one(ctx, s, prefix)
		if err != nil {
			return err
		}
		of = head.ID
		return cmd.Readable(s.ScanEach(ctx, sessiondb.Scan{Session: head.ID, Types: []session.EntryType{session.OutcomeEntry}}, func(f sessiondb.ScanResult) error {
			var c tool.Outcome
			if json.Unmarshal(f.Entry.Data, &c) == nil && string(c.Call) == o.call {
				text, whole := p.wholeOutput(c)
				found = append(found, calledLine{head.ID, c.Record.Message, c.Call, c.Tool, c.Status, c.Record.Args, text, whole})
			}
			return nil
		}))
	})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return usage.Mistake("adze sessions show "+string(of)+" --json | jq -r .call lists them", "the session has no outcome of a call %q", o.call)
	}
	for _, c := range found {
		if o.json {
			if err := p.WriteJSON(c); err != nil {
				return err
			}
			continue
		}
		p.Show("%s\n", strings.TrimSuffix(c.Output, "\n"))
		if !c.Complete {
			p.Conclude(session.CauseDone, "what was cut off of the output is not kept any more", "whole outputs are kept for 14 days")
		}
	}
	return nil
}

// wholeOutput returns a call's output from before it was cut for the model, if it is still stored.
func (p reader) wholeOutput(o tool.Outcome) (text string, whole bool) {
	if !o.Truncated {
		return o.Output, true
	}
	dir := paths.FromEnv(p.Getenv).Spill + string(filepath.Separator)
	if !strings.HasPrefix(filepath.Clean(o.OutputFile), dir) {
		return o.Output, false
	}
	raw, err := os.ReadFile(o.OutputFile)
	if err != nil {
		return o.Output, false
	}
	return string(raw), true
}
