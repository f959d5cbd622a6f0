package mcp

import (
	"encoding/json"
	"os"
	"strings"
	"time"
)

// Last is what became of a server when it was last started, in this run or another.
type Last struct {
	State string    `json:"state"` // ready or failed; if empty, it was never started
	Why   string    `json:"why,omitempty"`
	Login bool      `json:"login,omitempty"` // it wants one
	At    time.Time `json:"at,omitzero"`
	Fails int       `json:"fails,omitempty"` // starts in a row that failed
}

// The first failure keeps a server from being started by itself for firstRest, each further one in
// a row four times as long, at most for longestRest.
const (
	firstRest   = time.Minute
	longestRest = 24 * time.Hour
)

// Rests is until when a server that failed is not started by itself. It is zero for others.
func (l Last) Rests() time.Time {
	if l.State != Failed {
		return time.Time{}
	}
	rest := firstRest
	for n := 1; n < l.Fails && rest < longestRest; n++ {
		rest *= 4
	}
	return l.At.Add(min(rest, longestRest))
}

// lastFile is where that is kept.
func (s Server) lastFile(dir string) string {
	return strings.TrimSuffix(s.file(dir), ".json") + ".last"
}

// Last tells it of one of the servers; nothing is started.
func (p *Pool) Last(name string) (last Last) {
	v := p.servers[name]
	if v == nil || p.opts.State == "" {
		return Last{}
	}
	raw, err := os.ReadFile(v.conf.lastFile(p.opts.State))
	if err != nil || json.Unmarshal(raw, &last) != nil {
		return Last{}
	}
	return last
}

// remember keeps what became of a start; without it less is told.
func (v *server) remember(state, why string, login bool) {
	if v.pool.opts.State == "" {
		return
	}
	now := Last{State: state, Why: why, Login: login, At: time.Now()}
	if state == Failed {
		now.Fails = v.pool.Last(v.conf.Name).Fails + 1
	}
	keep(v.conf.lastFile(v.pool.opts.State), now)
}

// Untried are the servers whose tools nobody knows and that were never started.
func (p *Pool) Untried() (out []string) {
	for _, name := range p.Unseen() {
		if p.Last(name).State == "" {
			out = append(out, name)
		}
	}
	return out
}
