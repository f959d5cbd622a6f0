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

// Turn is a prompt of the user and all that came of it.
type Turn struct {
	Number   int // from 1, as the conversation is now; if 0, it was taken back
	From, To int // its entries: from the prompt on, up to the next one's
	Prompt   session.Message
}

// Turns divides a log into turns. What stands before the first prompt belongs to none.
func Turns(log []session.Entry) (out []Turn) {
	back := map[int]bool{}
	for i, e := range log {
		switch e.Type {
		case session.MessageEntry:
			var m session.Message
			if json.Unmarshal(e.Data, &m) != nil || m.Role != session.User || m.Own != "" || m.Summary || m.Note {
				continue
			}
			if len(out) > 0 {
				out[len(out)-1].To = i
			}
			out = append(out, Turn{From: i, To: len(log), Prompt: m})
		case session.RewindEntry:
			var r session.Rewound
			if json.Unmarshal(e.Data, &r) != nil {
				continue
			}
			at := slices.IndexFunc(out, func(t Turn) bool { return t.Prompt.ID == r.To })
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

// upTo is the part of a log that ends with a turn.
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
	for i := t.To - 1; i > t.From && at < len(turns)-1; i-- { // what stands behind the end belongs to the next prompt
		if log[i].Type == session.EndEntry {
			return log[:i+1], nil
		}
	}
	return log[:t.To], nil
}

// Broken says that the log of a session is not as it was written: it is read, and not gone on with.
type Broken struct {
	Row  *sessiondb.BadRow // the first
	Turn int               // the last sound one before it; if 0, none
}

// Error names the first entry that is not sound.
func (b *Broken) Error() string { return b.Row.Error() + "; the session is only read" }

// Hint says how to go on.
func (b *Broken) Hint() string {
	read := fmt.Sprintf("adze sessions show %s shows it", b.Row.Session)
	if b.Turn == 0 {
		return read + "; none of its turns is sound"
	}
	return fmt.Sprintf("%s; adze sessions fork %s --at %d copies it up to its last sound turn", read, b.Row.Session, b.Turn)
}

// Chain checks the log of a session that is to be gone on with; if nil, it is as it was written. It
// is cheap when the log was read as a stream before.
func Chain(ctx context.Context, logs session.Store, id session.ID) *Broken {
	_, broken := sound(ctx, logs, id)
	return broken
}

// sound is the log of id up to the end of its last sound turn, where it is not as it was written.
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
	_ = s.Stream(ctx, id, func(e session.Entry) error { // what cannot be read stands behind the sound part
		if int64(len(log)) >= bad.Seq-1 {
			return errEnough
		}
		e.Data = slices.Clone(e.Data) // it is lent
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

// Fork copies a session under a new id, up to the end of a turn; if 0, all of it. The old one may
// be open elsewhere. Of a broken one only sound turns are copied, and only when one is named.
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
		s.Parent, s.Copied, s.Agent, s.Call = from, len(entries), "", "" // a copy of a subagent's log works for nobody
		if entries[i].Data, err = json.Marshal(s); err != nil {
			return "", fmt.Errorf("fork %s: %w", from, err)
		}
	}
	id := session.NewID(time.Now())
	return id, logs.Append(ctx, id, entries...)
}
