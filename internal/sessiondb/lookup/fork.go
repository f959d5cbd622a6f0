package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/session"
)

// A Turn is a user's prompt and everything up to the next one.
type Turn struct {
	Number     int // from 1 in the present conversation; 0 if reverted
	Start, End int // its entries: from the prompt to before the next one
	Prompt     session.Message
}

// Turns divides a log into turns. Entries before the first prompt belong to none.
func Turns(log []session.Entry) (out []Turn) {
	back := map[int]bool{}
	for i, e := range log {
		switch e.Type {
		case session.MessageEntry:
			var m session.Message
			if json.Unmarshal(e.Data, &m) != nil || m.Role != session.User || m.OwnCall != "" || m.Summary || m.Note {
				continue
			}
			if len(out) > 0 {
				out[len(out)-1].End = i
			}
			out = append(out, Turn{Start: i, End: len(log), Prompt: m})
		case session.RewindEntry:
			var r session.Rewound
			if json.Unmarshal(e.Data, &r) != nil {
				continue
			}
			at := slices.IndexFunc(out, func(t Turn) bool { return t.Prompt.ID == r.MessageID })
			for n := at; n >= 0 && n < len(out); n++ {
				back[n] = true
			}
		}
	}
	number := 0
	for n := range out {
		if !back[n] {
			number++
			out[n].Number = number
		}
	}
	return out
}

// upTo returns the log up to a turn's end.
func upTo(log []session.Entry, number int) ([]session.Entry, error) {
	turns := Turns(log)
	at := slices.IndexFunc(turns, func(t Turn) bool { return t.Number == number })
	if number < 1 || at < 0 {
		last := 0
		for _, t := range turns {
			last = max(last, t.Number)
		}
		return nil, usage.Mistake("adze sessions show ID numbers its turns", "there is no turn %d: the session has %d", number, last)
	}
	t := turns[at]
	for i := t.End - 1; i > t.Start && at < len(turns)-1; i-- { // entries after the end belong to the next prompt
		if log[i].Type == session.EndEntry {
			return log[:i+1], nil
		}
	}
	return log[:t.End], nil
}

// Broken means a session's log was altered or damaged: it can be read but not resumed.
type Broken struct {
	Row  *sessiondb.BadRow // the first invalid entry
	Turn int               // the last valid one before it, or 0
}

// Error names the first invalid entry.
func (b *Broken) Error() string { return b.Row.Error() + "; the session is only read" }

// Hint suggests how to go on.
func (b *Broken) Hint() string {
	read := fmt.Sprintf("adze sessions show %s shows it", b.Row.Session)
	if b.Turn == 0 {
		return read + "; none of its turns is sound"
	}
	return fmt.Sprintf("%s; adze sessions fork %s --at %d copies it up to its last sound turn", read, b.Row.Session, b.Turn)
}

// Chain checks a log to be resumed and returns nil if it is valid. It is cheap if the log was
// streamed before.
func Chain(ctx context.Context, logs session.Store, id session.ID) *Broken {
	_, broken := sound(ctx, logs, id)
	return broken
}

// sound returns the log of id up to its last valid turn, if it is broken.
func sound(ctx context.Context, logs session.Store, id session.ID) ([]session.Entry, *Broken) {
	s, ok := logs.(*sessiondb.Store)
	if !ok {
		return nil, nil
	}
	bad := s.Verdict(ctx, id)
	if bad == nil {
		return nil, nil
	}
	var log []session.Entry
	end := 0
	_ = s.Stream(ctx, id, func(e session.Entry) error { // unreadable entries follow the valid part
		if int64(len(log)) >= bad.Seq-1 {
			return errEnough
		}
		e.Data = slices.Clone(e.Data) // it is borrowed
		if log = append(log, e); e.Type == session.EndEntry {
			end = len(log)
		}
		return nil
	})
	b := &Broken{Row: bad}
	for _, t := range Turns(log[:end]) {
		b.Turn = max(b.Turn, t.Number)
	}
	return log[:end], b
}

var errEnough = errors.New("enough was read")

// Fork copies a session to a new ID, up to the end of a turn, or all of it if turn is 0. The old
// one may be open elsewhere. From a broken session it copies only valid turns, and only if one is
// given.
func Fork(ctx context.Context, logs session.Store, from session.ID, turn int) (session.ID, error) {
	entries, broken := sound(ctx, logs, from)
	if broken != nil && (turn == 0 || turn > broken.Turn) {
		return "", broken
	}
	var err error
	if broken == nil {
		if entries, err = logs.Load(ctx, from); err != nil {
			return "", err
		}
	}
	if turn != 0 {
		if entries, err = upTo(entries, turn); err != nil {
			return "", err
		}
	}
	for i, e := range entries {
		if e.Type != session.StartEntry {
			continue
		}
		var s session.Start
		if err := json.Unmarshal(e.Data, &s); err != nil {
			return "", fmt.Errorf("fork %s: %w", from, err)
		}
		s.Parent, s.Copied, s.Agent, s.Call = from, len(entries), "", "" // a copy of a subagent's log has no parent call
		if entries[i].Data, err = json.Marshal(s); err != nil {
			return "", fmt.Errorf("fork %s: %w", from, err)
		}
	}
	id := session.NewID(time.Now())
	return id, logs.Append(ctx, id, entries...)
}
