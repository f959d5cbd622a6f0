// Package repair makes a valid log of a damaged one.
//
// The one rule: nothing that is as it was written is left out, and nothing that is known to be
// changed is passed on. What is gone, and what cannot be proven, is said: to the user in a
// report, to the model by a note where something is missing. The old log stays as it is.
//
// Start reading at Repair. order.go finds out by the hash chain which rows are as they were written
// and where they belong, read.go whether an entry is what its type says, fill.go puts together what
// goes on from there: a call without an outcome gets one, "outcome unknown", and of a lost answer
// what its calls tell of it.
//
// Known limits: a row behind a lost or doubtful one cannot be proven and is believed; one that was
// moved besides is not. Of a rebuilt answer the arguments are those that the tool lets be logged.
// Pages that the database itself cannot read are a matter of package sessiondb, which salvages before.
package repair

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/internal/sessiondb"
	"adze/session"
)

// Kind says what was found, and what was done about it.
type Kind string

// Kinds of findings. Of the first four something is wrong with the log; the others follow from
// that, or from a process that ended in the middle of a call.
const (
	Missing  Kind = "missing"  // entries that are gone
	Dropped  Kind = "dropped"  // an entry that is not as it was written, cannot be read or stands there twice
	Moved    Kind = "moved"    // an entry that stood elsewhere; it is where it belongs now
	Chained  Kind = "chained"  // an entry of which only the hash was damaged
	Unproven Kind = "unproven" // kept, although what it was chained to is gone
	Textless Kind = "textless" // kept, although a large text of it that was stored apart is gone, which it says
	Unknown  Kind = "unknown"  // a call without an outcome: it has one now
	Rebuilt  Kind = "rebuilt"  // a lost answer, of what its calls and fragments tell
	Pointed  Kind = "pointed"  // an entry that named a lost message and names the next one now
	Ended    Kind = "ended"    // what was noted of the end of the log names another one
	Began    Kind = "began"    // the start of the session was lost, and is made of what the list knows of it
)

// Finding is one thing that was found. Seq and Last are its entries in the old log; if 0, it has
// none there.
type Finding struct {
	Kind Kind              `json:"kind"`
	Seq  int64             `json:"seq,omitempty"`
	Last int64             `json:"last,omitempty"` // of several, the last one
	Type session.EntryType `json:"type,omitempty"`
	Text string            `json:"text"`
}

// Damage reports whether it is more than a process that ended early.
func (f Finding) Damage() bool { return f.Kind != Unknown }

// Why is what is wrong as it is said behind the number of an entry.
func (f Finding) Why() string {
	if f.Last > f.Seq {
		return fmt.Sprintf("and those up to %d: %s", f.Last, f.Text)
	}
	if what, is := strings.CutPrefix(f.Text, "it "); is {
		return what
	}
	return "is not sound: " + f.Text
}

// String is the finding for a user.
func (f Finding) String() string {
	where := ""
	switch {
	case f.Last > f.Seq:
		where = fmt.Sprintf("entries %d to %d: ", f.Seq, f.Last)
	case f.Seq > 0 && f.Type != "":
		where = fmt.Sprintf("entry %d (%s): ", f.Seq, f.Type)
	case f.Seq > 0:
		where = fmt.Sprintf("entry %d: ", f.Seq)
	}
	return where + f.Text
}

// Report is what was found in a log and, when it was repaired, where the new one is.
type Report struct {
	Session  session.ID `json:"session"`
	Repaired session.ID `json:"repaired,omitempty"` // if empty, nothing was written
	Kept     int        `json:"kept"`               // entries of the old log
	Findings []Finding  `json:"findings,omitempty"`
}

// Sound reports whether the log is as it was written, and can be read. Calls that a process left
// without an outcome do no harm.
func (r Report) Sound() bool {
	for _, f := range r.Findings {
		if f.Damage() {
			return false
		}
	}
	return true
}

// Examine looks a log over and changes nothing.
func Examine(log sessiondb.RawLog) Report {
	_, r := mended(log, session.Start{})
	return r
}

// Repair writes what can be kept of a session as a new one and tells what it did. A log with
// nothing to mend is left alone: the report then names no new session. The caller holds the lock of
// id.
func Repair(ctx context.Context, s *sessiondb.Store, id session.ID, now time.Time) (Report, error) {
	log, err := s.Raw(ctx, id)
	if err != nil {
		return Report{}, err
	}
	known, err := listed(ctx, s, id)
	if err != nil {
		return Report{}, err
	}
	entries, r := mended(log, known)
	if len(r.Findings) == 0 {
		return r, nil
	}
	to := session.NewID(now)
	if err := s.Append(ctx, to, entries...); err != nil {
		return r, err
	}
	r.Repaired = to
	return r, nil
}

// listed is what the list of sessions knows of the start of one.
func listed(ctx context.Context, s *sessiondb.Store, id session.ID) (session.Start, error) {
	heads, err := s.List(ctx)
	for _, h := range heads {
		if h.ID == id {
			return h.Info(), err
		}
	}
	return session.Start{}, err
}

// First is the finding that a user looks at first: of damage, the one with the lowest number.
// False: there is no damage.
func (r Report) First() (first Finding, any bool) {
	for _, f := range r.Findings {
		if f.Damage() && f.Seq > 0 && (!any || f.Seq < first.Seq) {
			first, any = f, true
		}
	}
	return first, any
}

// mended is the new log and what it came from.
func mended(log sessiondb.RawLog, known session.Start) ([]session.Entry, Report) {
	m := newMender(log)
	m.known = known
	for _, r := range m.rows {
		m.row(r)
	}
	m.finish(log)
	return m.out, m.report
}
