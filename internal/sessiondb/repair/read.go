package repair

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"adze/session"
	"adze/tool"
)

// maxPart bounds the parts of an answer: a fragment that names a later one is noise.
const maxPart = 10_000

// content is an entry as it was read: what of it others refer to.
type content struct {
	message  *session.Message  // of a message, a note or a partial one
	fragment *session.Fragment // of a fragment
	record   *tool.Record      // of an intent or an outcome
	ended    bool              // it is an outcome
	failed   string            // the message of a request that failed: what came of it is void
}

// read decodes an entry and says what is wrong with it. One of a type that is not known is only
// JSON.
func read(e session.Entry) (c content, err error) {
	switch e.Type {
	case session.MessageEntry, session.NoteEntry, session.PartialEntry:
		c.message = &session.Message{}
		if err = json.Unmarshal(e.Data, c.message); err == nil {
			err = checkMessage(*c.message)
		}
	case session.FragmentEntry:
		c.fragment = &session.Fragment{}
		err = json.Unmarshal(e.Data, c.fragment)
		if f := c.fragment; err == nil && (f.Message == "" || f.Part < 0 || f.Part > maxPart) {
			err = errors.New("it is of no message")
		}
	case session.IntentEntry:
		c.record = &tool.Record{}
		err = json.Unmarshal(e.Data, c.record)
	case session.OutcomeEntry:
		var o tool.Outcome
		err = json.Unmarshal(e.Data, &o)
		o.Record.Call = cmp.Or(o.Record.Call, o.Call)
		c.record, c.ended = &o.Record, true
		if err == nil && o.Call != o.Record.Call {
			err = errors.New("it is of two calls")
		}
	case session.RequestEntry:
		var f session.FailedRequest
		err = json.Unmarshal(e.Data, &f)
		c.failed = f.Message
	default:
		err = readOther(e)
	}
	if err == nil && c.record != nil && c.record.Call == "" {
		err = errors.New("it is of no call")
	}
	return c, err
}

func checkMessage(m session.Message) error {
	if m.ID == "" || m.Role != session.User && m.Role != session.Assistant {
		return errors.New("it is nobody's message")
	}
	for _, p := range m.Parts {
		if p.Kind == session.CallPart && (p.Call == nil || p.Call.ID == "") {
			return errors.New("it has a call without an id")
		}
	}
	return nil
}

// readOther reads what nothing else refers to.
func readOther(e session.Entry) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &object); err != nil {
		return err
	}
	if object == nil {
		return errors.New("it holds nothing")
	}
	into := map[session.EntryType]any{
		session.StartEntry: &session.Start{}, session.DecisionEntry: &session.Decided{},
		session.OfferEntry: &session.Offer{}, session.EffortEntry: &session.Thinks{}, session.ModeEntry: &session.Permits{}, session.ClientEntry: &session.Client{}, session.EndEntry: &session.Result{},
		session.RewindEntry: &session.Rewound{}, session.SubagentEntry: &session.Subagent{}, session.ReportEntry: &session.Report{},
		session.CompactEntry: &session.Compaction{}, session.PlanEntry: &session.Plan{}, session.PrefixEntry: &session.PrefixChange{},
		session.HookEntry: &session.HookRun{}, session.ChangedEntry: &session.Window{}, session.UndoEntry: &session.Undone{},
	}[e.Type]
	if into == nil {
		return nil
	}
	err := json.Unmarshal(e.Data, into)
	if c, ok := into.(*session.Compaction); ok && err == nil {
		if err = checkMessage(c.Summary); err == nil && c.Notes != nil {
			err = checkMessage(*c.Notes)
		}
	}
	return err
}

// written encodes what is put in the place of an entry.
func written(kind session.EntryType, like session.Entry, data any) session.Entry {
	raw, err := json.Marshal(data)
	if err != nil {
		raw = fmt.Appendf(nil, `{"error":%q}`, err) // every type of a log encodes: it was just decoded
	}
	return session.Entry{Type: kind, Time: like.Time, Data: raw}
}
