package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// maxReport limits a background report in the conversation, in bytes; the subagent's log has all of
// it.
const maxReport = 16 << 10

// reportOf converts a background task's result to a report for the model.
func reportOf(of session.Subagent, r toolset.TaskResult, err error) session.Report {
	report := session.Report{Subagent: of, Status: tool.Completed, Text: toolset.Reported(r)}
	if cut := len(report.Text) - maxReport; cut > 0 {
		report.Text = strings.ToValidUTF8(report.Text[:maxReport], "") + fmt.Sprintf("…\n(%d bytes more; continue task_id %s to ask for them)", cut, of.Session)
	}
	if err == nil {
		return report
	}
	report.Status = tool.Failed
	if tool.CodeOf(err) == tool.CodeAborted {
		report.Status = tool.Aborted
	}
	report.Text = strings.TrimSpace(fmt.Sprintf("%s\n\nThe task %s (%s) did not finish: %v", report.Text, of.Session, of.Name, err))
	return report
}

// noteOf converts a report to a note in the conversation.
func noteOf(r session.Report) session.Note {
	sum := sha256.Sum256([]byte(r.Text))
	return session.Note{Kind: session.TaskNote, Source: "task " + string(r.Session), SHA256: hex.EncodeToString(sum[:]), Text: r.Text}
}

// Unreported returns the reports in a resumed session's log that the model has not seen, and ends
// the background tasks that an earlier process left without a report: each task ends exactly once.
func Unreported(ctx context.Context, store session.Store, id session.ID, entries []session.Entry) ([]session.Note, error) {
	type call struct {
		task    session.ID
		message string
		call    tool.CallID
	}
	type begun struct {
		session.Subagent
		at time.Time
	}
	var open []begun
	var reports []session.Report
	ended, told := map[call]bool{}, map[string]int{}
	for _, e := range entries {
		switch e.Type {
		case session.SubagentEntry:
			var s session.Subagent
			if json.Unmarshal(e.Data, &s) == nil && s.Background {
				open = append(open, begun{s, e.Time})
			}
		case session.ReportEntry:
			var r session.Report
			if json.Unmarshal(e.Data, &r) == nil {
				reports, ended[call{r.Session, r.Message, r.Call}] = append(reports, r), true
			}
		case session.NoteEntry:
			var m session.Message
			if json.Unmarshal(e.Data, &m) != nil {
				continue
			}
			for _, n := range m.Notes {
				told[n.Source+n.SHA256]++
			}
		}
	}
	for _, s := range open {
		if ended[call{s.Session, s.Message, s.Call}] {
			continue
		}
		r, err := leftBehind(ctx, store, s.Subagent, s.at)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(r)
		if err == nil {
			err = store.Append(ctx, id, session.Entry{Type: session.ReportEntry, Time: time.Now(), Data: raw})
		}
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	var notes []session.Note
	for _, r := range reports {
		n := noteOf(r)
		if key := n.Source + n.SHA256; told[key] > 0 {
			told[key]--
			continue
		}
		notes = append(notes, n)
	}
	return notes, nil
}

// leftBehind returns the report of a task whose process died before storing one. The task's own log
// shows whether it had finished.
func leftBehind(ctx context.Context, store session.Store, s session.Subagent, began time.Time) (session.Report, error) {
	none := reportOf(s, toolset.TaskResult{}, errGone(s.Session))
	entries, err := store.Load(ctx, s.Session)
	if errors.Is(err, session.ErrNotFound) {
		return none, nil
	}
	if err != nil {
		return none, err
	}
	for _, e := range entries {
		var end session.Result
		if e.Type != session.EndEntry || e.Time.Before(began) {
			continue
		}
		if json.Unmarshal(e.Data, &end) != nil || end.Cause != session.CauseDone {
			break
		}
		return reportOf(s, toolset.TaskResult{ID: string(s.Session), Agent: s.Name, Text: end.Text}, nil), nil
	}
	return none, nil
}

// errGone means that a task's process ended without a report.
func errGone(id session.ID) error {
	return tool.Fail(tool.CodeAborted, "adze ended while it worked, and what it did is not known; look before you start it again, or continue it with task_id %s", id)
}
