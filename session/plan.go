package session

import (
	"encoding/json"
	"sync"
)

// PlanState says what came of a plan.
type PlanState string

// States of a plan. Only the user accepts one, and no text of a model is ever read for it.
const (
	PlanProposed PlanState = "proposed"
	PlanAccepted PlanState = "accepted"
	PlanReturned PlanState = "returned" // with remarks
)

// Plan is the data of a plan entry. The newest one of a log counts.
type Plan struct {
	State  PlanState `json:"state"`
	SHA256 string    `json:"sha256"`         // of the text, in hexadecimal
	Path   string    `json:"path,omitempty"` // where the user can read and edit it
	Text   string    `json:"text"`           // as it was shown to them last
	// Mode is the permission mode to go on in that they chose with an accepted plan.
	Mode string `json:"mode,omitempty"`
	// Edits is what they changed of the model's words, as a unified diff; Remarks what they
	// answered.
	Edits   string `json:"edits,omitempty"`
	Remarks string `json:"remarks,omitempty"`
}

// Waits tells a user where a plan is that nobody was there to accept; if empty, none waits.
func (p *Plan) Waits() string {
	if p == nil || p.State != PlanProposed {
		return ""
	}
	return "the plan is in " + p.Path + "; change it there if you like; adze --continue --accept-plan carries it out"
}

// plans is the plan of a session, for any goroutine.
type plans struct {
	mu     sync.Mutex
	newest *Plan
	fresh  bool // it was set in the turn that runs
}

func (p *plans) set(q Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest, p.fresh = &q, true
}

// take is the plan of the turn that ends; if nil, it made none.
func (p *plans) take() *Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fresh {
		return nil
	}
	p.fresh = false
	return p.newest
}

// planned obeys a plan entry.
func (l *log) planned(e Entry) error {
	l.plan = nil
	return json.Unmarshal(e.Data, &l.plan)
}
