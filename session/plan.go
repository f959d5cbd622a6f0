package session

import (
	"encoding/json"
	"sync"
)

// A PlanState is the state of a plan.
type PlanState string

// Plan states. Only the user accepts one, never a model's text.
const (
	PlanProposed PlanState = "proposed"
	PlanAccepted PlanState = "accepted"
	PlanReturned PlanState = "returned" // with remarks
)

// A Plan is a plan entry's data. The newest one in a log is valid.
type Plan struct {
	State  PlanState `json:"state"`
	SHA256 string    `json:"sha256"`         // of the text, in hexadecimal
	Path   string    `json:"path,omitempty"` // for the user to read and edit
	Text   string    `json:"text"`           // as shown to the user last
	// Mode is the permission mode that the user chose with an accepted plan.
	Mode string `json:"mode,omitempty"`
	// Edits are the user's changes to the model's text, as a unified diff; Remarks is their reply.
	Edits   string `json:"edits,omitempty"`
	Remarks string `json:"remarks,omitempty"`
}

// Waits tells the user where to find a plan that nobody could accept, or returns "".
func (p *Plan) Waits() string {
	if p == nil || p.State != PlanProposed {
		return ""
	}
	return "the plan is in " + p.Path + "; change it there if you like; adze --continue --accept-plan carries it out"
}

// plans holds the session's plan. It is safe for concurrent use.
type plans struct {
	mu     sync.Mutex
	newest *Plan
	fresh  bool // set in the current turn
}

func (p *plans) set(q Plan) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest, p.fresh = &q, true
}

// take returns the plan of the ending turn, or nil.
func (p *plans) take() *Plan {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.fresh {
		return nil
	}
	p.fresh = false
	return p.newest
}

func (l *log) planned(e Entry) error {
	l.plan = nil
	return json.Unmarshal(e.Data, &l.plan)
}
