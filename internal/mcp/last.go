package mcp

import (
	"strings"
	"time"
)

// Last is the result of a server's last start, in this or an earlier run.
type Last struct {
	State  string    `json:"state"` // ready or failed; "" if never started
	Reason string    `json:"why,omitempty"`
	Login  bool      `json:"login,omitempty"` // it needs one
	Time   time.Time `json:"at,omitzero"`
	Fails  int       `json:"fails,omitempty"` // consecutive failed starts
}

// After the first failure a server is not started automatically for firstRest; each further failure
// in a row makes it four times longer, up to longestRest.
const (
	firstRest   = time.Minute
	longestRest = 24 * time.Hour
)

// RetryAfter returns the time until which a failed server is not started automatically, or the zero
// time.
func (l Last) RetryAfter() time.Time {
	if l.State != Failed {
		return time.Time{}
	}
	rest := firstRest
	for n := 1; n < l.Fails && rest < longestRest; n++ {
		rest *= 4
	}
	return l.Time.Add(min(rest, longestRest))
}

func (s Server) lastFile(dir string) string {
	return strings.TrimSuffix(s.file(dir), ".json") + ".last"
}

// Last returns the result of a server's last start. It starts nothing.
func (p *Pool) Last(name string) (last Last) {
	v := p.servers[name]
	if v == nil || p.opts.State == "" {
		return Last{}
	}
	if !LoadState(v.conf.lastFile(p.opts.State), &last) {
		return Last{}
	}
	return last
}

// remember stores a start's result. Write errors are ignored.
func (v *server) remember(state, why string, login bool) {
	if v.pool.opts.State == "" {
		return
	}
	now := Last{State: state, Reason: why, Login: login, Time: time.Now()}
	if state == Failed {
		now.Fails = v.pool.Last(v.conf.Name).Fails + 1
	}
	KeepState(v.conf.lastFile(v.pool.opts.State), now)
}

// Untried returns the servers whose tools are unknown and that were never started.
func (p *Pool) Untried() (out []string) {
	for _, name := range p.Unseen() {
		if p.Last(name).State == "" {
			out = append(out, name)
		}
	}
	return out
}
