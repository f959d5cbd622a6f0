// Package audit reads sessions' logs: requests, calls, decisions and their results; whether a log
// is consistent; and statistics.
//
// The one rule: it only reads, and exports only the data of a call exposed by the tool's allowlist:
// the Record, never arguments, outputs or metadata.
//
// Start reading at Trail.Add. check.go has the consistency rules, stats.go the telemetry.
//
// Known limits: fields are empty in logs from before they existed, and anything that cannot be
// checked counts as consistent.
package audit

import (
	"cmp"
	"encoding/json"
	"time"

	"adze/session"
	"adze/tool"
)

// An Item is one line of a trail: exactly one of Request, Call, Subagent, Hook and Report.
type Item struct {
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Request *Request  `json:"request,omitempty"`
	Call    *Call     `json:"call,omitempty"`
	// Subagent was started by a call. Its own log has its calls.
	Subagent *session.Subagent `json:"subagent,omitempty"`
	// Hook is a program run at an event of the session.
	Hook   *session.HookRun `json:"hook,omitempty"`
	Report *Report          `json:"report,omitempty"`
}

// A Report is a background task's result, without its text.
type Report struct {
	Session session.ID  `json:"session"`
	Name    string      `json:"name"`
	Status  tool.Status `json:"status"`
	Bytes   int         `json:"bytes"`
}

// A Request is one model request.
type Request struct {
	Message  string         `json:"message"`
	Provider string         `json:"provider"`
	Model    string         `json:"model"`
	Prompt   string         `json:"prompt_sha256,omitempty"`
	Stop     session.Stop   `json:"stop,omitempty"`
	Error    string         `json:"error,omitempty"` // empty if answered
	Usage    *session.Usage `json:"usage,omitempty"`
	Duration time.Duration  `json:"duration_ns,omitempty"`
}

// A Call is the exposed part of one call.
type Call struct {
	tool.Record
	// Intent is the entry stored before the effect, or 0.
	Intent int64 `json:"intent,omitempty"`
	// Open is set if no outcome is known: the process ended, or still runs.
	Open bool `json:"open,omitempty"`
}

// A Trail collects one session's log. The zero value is ready to use.
type Trail struct {
	// Start is the session's first entry, empty if missing.
	Start session.Start
	// Findings are the log's inconsistencies (check.go).
	Findings []Finding

	items   []Item
	intents map[key]intent
	ended   map[key]int64
}

// key identifies a call in a log: some servers reuse IDs in every message.
type key struct {
	message string
	call    tool.CallID
}

func keyOf(r tool.Record) key { return key{r.Message, r.Call} }

// intent is the position of a call's intent in the log and among the items.
type intent struct {
	seq  int64
	item int
}

// Add adds the log's next entry.
func (t *Trail) Add(seq int64, e session.Entry) {
	var err error
	switch e.Type {
	case session.StartEntry:
		if t.Start.Version == "" {
			err = json.Unmarshal(e.Data, &t.Start)
		}
	case session.MessageEntry:
		err = t.message(seq, e)
	case session.RequestEntry:
		err = t.request(seq, e)
	case session.SubagentEntry:
		err = t.subagent(seq, e)
	case session.HookEntry:
		err = t.hook(seq, e)
	case session.ReportEntry:
		err = t.report(seq, e)
	case session.IntentEntry:
		err = t.intent(seq, e)
	case session.OutcomeEntry:
		err = t.outcome(seq, e)
	}
	if err != nil {
		t.find(seq, "cannot be read: "+err.Error())
	}
}

func (t *Trail) message(seq int64, e session.Entry) error {
	var m session.Message
	if err := json.Unmarshal(e.Data, &m); err != nil || m.Role != session.Assistant {
		return err
	}
	t.items = append(t.items, Item{Seq: seq, Time: e.Time, Request: &Request{
		Message: m.ID, Provider: m.Provider, Model: m.Model, Prompt: m.Prompt, Stop: m.Stop, Usage: m.Usage, Duration: m.Duration,
	}})
	return nil
}

func (t *Trail) request(seq int64, e session.Entry) error {
	var f session.FailedRequest
	if err := json.Unmarshal(e.Data, &f); err != nil {
		return err
	}
	t.items = append(t.items, Item{Seq: seq, Time: e.Time, Request: &Request{
		Message: f.Message, Provider: f.Provider, Model: f.Model, Prompt: f.Prompt, Stop: session.StopError,
		Error: cmp.Or(f.Error, "no reason was recorded"), Usage: f.Usage, Duration: f.Duration,
	}})
	return nil
}

func (t *Trail) intent(seq int64, e session.Entry) error {
	var r tool.Record
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	t.checkIntent(seq, r)
	call := &Call{Record: r.Public(), Intent: seq, Open: true}
	if before, again := t.intents[keyOf(r)]; again && t.items[before.item].Call.Open {
		call.Intent = before.seq
		t.items[before.item].Call = call // it requested more permissions while it ran
		return nil
	}
	if t.intents == nil {
		t.intents = map[key]intent{}
	}
	t.intents[keyOf(r)] = intent{seq, len(t.items)}
	t.items = append(t.items, Item{Seq: seq, Time: e.Time, Call: call})
	return nil
}

func (t *Trail) hook(seq int64, e session.Entry) error {
	var r session.HookRun
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	t.items = append(t.items, Item{Seq: seq, Time: e.Time, Hook: &r})
	return nil
}

func (t *Trail) subagent(seq int64, e session.Entry) error {
	var s session.Subagent
	if err := json.Unmarshal(e.Data, &s); err != nil {
		return err
	}
	t.items = append(t.items, Item{Seq: seq, Time: e.Time, Subagent: &s})
	return nil
}

// report adds a background task's result, without its text, which is part of the conversation.
func (t *Trail) report(seq int64, e session.Entry) error {
	var r session.Report
	if err := json.Unmarshal(e.Data, &r); err != nil {
		return err
	}
	t.items = append(t.items, Item{Seq: seq, Time: e.Time, Report: &Report{Session: r.Session, Name: r.Name, Status: r.Status, Bytes: len(r.Text)}})
	return nil
}

func (t *Trail) outcome(seq int64, e session.Entry) error {
	var o tool.Outcome
	if err := json.Unmarshal(e.Data, &o); err != nil {
		return err
	}
	begun, known := t.intents[keyOf(o.Record)]
	t.checkOutcome(seq, o, known)
	item := Item{Seq: seq, Time: e.Time, Call: &Call{Record: o.Record.Public(), Intent: begun.seq}}
	if known && t.items[begun.item].Call.Open {
		t.items[begun.item] = item
		return nil
	}
	t.items = append(t.items, item)
	return nil
}

// Items returns requests and calls in the order they began.
func (t *Trail) Items() []Item { return t.items }
