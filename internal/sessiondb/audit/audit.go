// Package audit reads the logs of sessions: what models were asked, what they called, what was
// decided and what came of it; whether a log makes sense; and how often, how long and how well.
//
// The one rule: it only reads, and nothing of a call leaves it but what the tool's allowlist
// exposed: the Record, never arguments, outputs or metadata.
//
// Start reading at Trail.Add. check.go is what a sound log holds to, stats.go the telemetry.
//
// Known limits: a log from before a field existed has it empty, and what cannot be checked counts
// as sound.
package audit

import (
	"cmp"
	"encoding/json"
	"time"

	"adze/session"
	"adze/tool"
)

// Item is one line of a trail: exactly one of Request, Call, Subagent, Hook and Report.
type Item struct {
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Request *Request  `json:"request,omitempty"`
	Call    *Call     `json:"call,omitempty"`
	// Subagent is one that a call started; its own log has what it did.
	Subagent *session.Subagent `json:"subagent,omitempty"`
	// Hook is a program that was started for a moment of the session.
	Hook   *session.HookRun `json:"hook,omitempty"`
	Report *Report          `json:"report,omitempty"`
}

// Report is what a task in the background came to, without its words.
type Report struct {
	Session session.ID  `json:"session"`
	Name    string      `json:"name"`
	Status  tool.Status `json:"status"`
	Bytes   int         `json:"bytes"`
}

// Request is one question to a model.
type Request struct {
	Message  string         `json:"message"`
	Provider string         `json:"provider"`
	Model    string         `json:"model"`
	Prompt   string         `json:"prompt_sha256,omitempty"`
	Stop     session.Stop   `json:"stop,omitempty"`
	Error    string         `json:"error,omitempty"` // if empty, it was answered
	Usage    *session.Usage `json:"usage,omitempty"`
	Took     time.Duration  `json:"duration_ns,omitempty"`
}

// Call is one call as far as it may be shown.
type Call struct {
	tool.Record
	// Intent is the entry that was stored before the effect; if 0, there was none.
	Intent int64 `json:"intent,omitempty"`
	// Open says that no outcome is known: the process ended, or still runs.
	Open bool `json:"open,omitempty"`
}

// Trail gathers one session's log. The zero value is ready.
type Trail struct {
	// Start is the session's first entry; empty when there is none.
	Start session.Start
	// Findings are what a sound log does not hold (check.go).
	Findings []Finding

	items   []Item
	intents map[key]intent
	ended   map[key]int64
}

// key names a call in a log: some servers use the same ids again in every message.
type key struct {
	message string
	call    tool.CallID
}

func keyOf(r tool.Record) key { return key{r.Message, r.Call} }

// intent is where the intent of a call stands: in the log and among the items.
type intent struct {
	seq  int64
	item int
}

// Add takes the next entry of the log.
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
		Message: m.ID, Provider: m.Provider, Model: m.Model, Prompt: m.Prompt, Stop: m.Stop, Usage: m.Usage, Took: m.Took,
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
		Error: cmp.Or(f.Error, "no reason was recorded"), Usage: f.Usage, Took: f.Took,
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
		t.items[before.item].Call = call // it asked for more while it ran
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

// report tells what a task in the background came to; its words are the conversation's.
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

// Items lists requests and calls in the order in which they began.
func (t *Trail) Items() []Item { return t.items }
