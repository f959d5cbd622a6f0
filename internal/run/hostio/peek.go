package hostio

import (
	"context"
	"encoding/json"
	"slices"

	"adze/session"
	"adze/session/api"
)

// Peek summarizes a stored session: its size, cost and last exchange. It skips entries that do not
// decode; opening the session reports them.
func Peek(ctx context.Context, stored session.Store, id string) (api.SessionPeek, error) {
	entries, err := stored.Load(ctx, session.ID(id))
	if err != nil {
		return api.SessionPeek{}, err
	}
	var p api.SessionPeek
	var messages []session.Message
	cost, known := 0.0, true
	for _, e := range entries {
		switch e.Type {
		case session.MessageEntry:
			var m session.Message
			if json.Unmarshal(e.Data, &m) == nil {
				messages = append(messages, m)
			}
		case session.RewindEntry:
			var back session.Rewound
			_ = json.Unmarshal(e.Data, &back)
			if i := slices.IndexFunc(messages, func(m session.Message) bool { return m.ID == back.MessageID }); i >= 0 {
				messages = messages[:i]
			}
		case session.EndEntry:
			var r session.Result
			err := json.Unmarshal(e.Data, &r)
			for _, path := range r.Changed {
				if !slices.Contains(p.Changed, path) {
					p.Changed = append(p.Changed, path)
				}
			}
			if known = known && err == nil && r.Cost != nil; known {
				cost += *r.Cost
			}
		}
	}
	p.Messages = len(messages)
	p.Turns, p.Asked, p.Answered = lastExchange(messages)
	if known && cost > 0 {
		p.Cost = &cost
	}
	return p, ctx.Err()
}

// lastExchange returns the number of turns, the last user message, and the last answer to it.
func lastExchange(messages []session.Message) (turns int, asked, answered string) {
	for _, m := range messages {
		switch {
		case m.Role == session.User && m.OwnCall == "" && !m.Summary && !m.Note:
			turns++
			asked, answered = m.Text(), ""
		case m.Role == session.Assistant && m.Text() != "":
			answered = m.Text()
		}
	}
	return turns, asked, answered
}
