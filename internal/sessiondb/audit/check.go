package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"adze/session"
	"adze/tool"
)

// A Finding is an inconsistent entry. The hash chain shows that entries are unchanged; findings
// show whether they keep the pipeline's promises:
//   - every relevant entry is readable;
//   - a call that changed something was allowed and stored before;
//   - a call has one outcome;
//   - an output has the hash in its record.
type Finding struct {
	Seq  int64  `json:"seq"`
	Text string `json:"text"`
}

func (f Finding) String() string { return fmt.Sprintf("entry %d %s", f.Seq, f.Text) }

func (t *Trail) find(seq int64, text string) { t.Findings = append(t.Findings, Finding{seq, text}) }

func (t *Trail) checkIntent(seq int64, r tool.Record) {
	if !allowed(r) {
		t.find(seq, fmt.Sprintf("is the intent of the call %.40q without a decision that allows it", r.Call))
	}
}

func allowed(r tool.Record) bool {
	refused := func(d tool.Decision) bool { return !d.Allow }
	return len(r.Decisions) > 0 && !slices.ContainsFunc(r.Decisions, refused)
}

func (t *Trail) checkOutcome(seq int64, o tool.Outcome, intended bool) {
	r := o.Record
	if r.OutputHash != "" {
		if sum := sha256.Sum256([]byte(o.Output)); hex.EncodeToString(sum[:]) != r.OutputHash {
			t.find(seq, fmt.Sprintf("holds another output than its record names, of the call %.40q", r.Call))
		}
	}
	if first, again := t.ended[keyOf(r)]; again {
		t.find(seq, fmt.Sprintf("is a second outcome of the call %.40q; the first is entry %d", r.Call, first))
	} else if t.ended == nil {
		t.ended = map[key]int64{}
	}
	t.ended[keyOf(r)] = seq
	if ran(o) && changes(r) && !intended {
		t.find(seq, fmt.Sprintf("is an effect without a decision stored before it, of the call %.40q", r.Call))
	}
}

// ran reports whether the tool's own code ran. A call whose intent could not be stored failed with
// io and did not run.
func ran(o tool.Outcome) bool {
	return o.Status == tool.Completed || o.Status == tool.Failed && !slices.Contains(notRun, o.Code)
}

// notRun holds the codes of failures before or at the start of the tool's own code.
var notRun = []string{tool.CodeIO, tool.CodeEnvironment, tool.CodeDuplicateCall}

func changes(r tool.Record) bool {
	return slices.ContainsFunc(r.Needs, func(n tool.Need) bool { return n.Permission == tool.Write || n.Permission == tool.Execute })
}

// Types returns the entry types a Trail reads.
func Types() []session.EntryType {
	return []session.EntryType{session.StartEntry, session.MessageEntry, session.RequestEntry, session.SubagentEntry, session.ReportEntry, session.HookEntry, session.IntentEntry, session.OutcomeEntry}
}
