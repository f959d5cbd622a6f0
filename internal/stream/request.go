package stream

import "adze/session"

type requestLine struct {
	Type    string `json:"type"`
	Message string `json:"message,omitempty"`
	subagentMark
	Provider string            `json:"provider"`
	Model    string            `json:"model"`
	Stop     session.Stop      `json:"stop,omitempty"`
	Kind     session.ErrorKind `json:"kind,omitempty"`
	Usage    session.Usage     `json:"usage"`
	Cost     *float64          `json:"cost_usd"`
	Duration int64             `json:"duration_ms"`
	First    int64             `json:"first_ms,omitempty"`
}

func requestOf(e session.Requested) requestLine {
	return requestLine{"request", e.Message, subagentMark{e.Parent, e.Agent}, e.Provider, e.Model, e.Stop, e.Kind, e.Usage, e.Cost, e.Duration.Milliseconds(), e.First.Milliseconds()}
}

// contextLine is the next request's content, printed after each request.
type contextLine struct {
	Type     string                `json:"type"`
	Message  string                `json:"message"`
	Estimate int                   `json:"estimate_tokens"`
	Factor   float64               `json:"factor"`
	Window   int                   `json:"context_tokens,omitempty"`
	Sources  map[session.Group]int `json:"sources"`
	Cost     *float64              `json:"cost_usd"`
}

func contextOf(e session.Counted) contextLine {
	l := e.Ledger
	out := contextLine{"context", e.Message, l.Estimate, l.Factor, l.Window, map[session.Group]int{}, l.Cost}
	for _, s := range l.Sources {
		out.Sources[s.Group] += s.Tokens
	}
	return out
}
