// Package fleet does a batch on many machines: tasks wait in a queue, workers take them, and what
// comes of each is kept where all can see it.
//
// The one rule: a task has one result, and the queue does not decide which. An acknowledgement is
// no fence (one that comes late still counts), so each step of a task is a change of its run that
// names the revision it was made from: who lost the task cannot change it any more, and stops. A
// call whose end nobody saw is not made again: the session of the work is in a store that all
// workers share, and goes on where it stopped.
//
// Start reading at Worker.Run (worker.go), then attempt.go (one task that was taken). ports.go is
// what a server must be able to do, submit.go and look.go are what a user asks for. Package
// fleettest holds adapters to the contracts.
//
// Known limits: what a task does outside of its clone stays when its worker is lost. Between the
// proof that a task is still held and the effect of a step there is a moment in which it can be
// lost unseen; a push is made with a lease on the branch, calls are written down before they are
// made. One gap stays: a machine that stands still between a stored intent and its effect, for
// longer than its lease, makes that one effect when it wakes, beside what the next worker does by
// then; it starts nothing after it. Of a clone that is lost with its machine, what came after the
// last save is gone.
package fleet

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"adze/internal/fleet/batch"
	"adze/session"
)

// Sentinels of ports and of what a user asks for.
var (
	ErrNone  = errors.New("there is none")            // of Get and Take
	ErrStale = errors.New("it was changed meanwhile") // of Put: the revision is not the newest
	ErrHeld  = errors.New("another worker holds it")  // of Hold
	// ErrFull is of Submit, Put and Keep.
	ErrFull error = &hinted{"the server has no room", "make room on the NATS server, or raise its limits"}
	// ErrAway is of all: what was asked may have been done.
	ErrAway error = &hinted{"no server answers", "start the NATS server, or check its address and the way to it"}
	// ErrUnknown is work that a worker of this version does not know how to do.
	ErrUnknown error = &hinted{"this version does not know it", "start a worker of a newer version"}
	ErrQueue         = errors.New("it waits in the queue yet") // of Submit: the task is there already
)

// hinted is an error with the next move of a user who meets it.
type hinted struct{ text, hint string }

func (h *hinted) Error() string { return h.text }

// Hint returns the next move.
func (h *hinted) Hint() string { return h.hint }

// Causes that end the work on a task before its end.
var (
	ErrCancelled = errors.New("it was cancelled")
	ErrDrained   = errors.New("the worker was told to stop")
)

// State is where a run stands.
type State string

// States of runs. The last three are final until somebody asks for another round.
const (
	Waiting   State = "waiting"
	Running   State = "running"
	Finished  State = "finished" // it has a result, good or bad
	Dead      State = "dead"     // it was tried as often as it may be
	Cancelled State = "cancelled"
)

// Over says whether nothing happens any more by itself.
func (s State) Over() bool { return s == Finished || s == Dead || s == Cancelled }

// Run is all that is known of a task: the record that workers change, each with the revision it
// knows.
type Run struct {
	ID       string `json:"id"` // of the batch and the task: BATCH.TASK
	Batch    string `json:"batch"`
	Label    string `json:"label"`
	Priority int    `json:"priority"` // 1 comes first, 3 last
	Line     int    `json:"line"`
	Task     string `json:"task"`   // its id in the batch's file
	Source   string `json:"source"` // of Work, for lists
	Work     Work   `json:"work"`
	Next     string `json:"next,omitempty"` // the run behind it whose ticket is sent when this one's is taken
	State    State  `json:"state"`
	Round    int    `json:"round"`              // how often somebody asked for it: from 1
	Attempts int    `json:"attempts,omitempty"` // of this round
	Waits    int    `json:"waits,omitempty"`    // how often it was put off without being tried
	Away     int    `json:"away,omitempty"`     // how often no server answered, so that a try did not count: up to awayTries
	Lost     int    `json:"lost,omitempty"`     // how often its worker was lost, so that a try did not count: up to lostTries
	Reason   string `json:"reason,omitempty"`   // why it is dead, cancelled or waits again

	Worker  string         `json:"worker,omitempty"`
	Claim   string         `json:"claim,omitempty"` // of the attempt that may change it
	Session string         `json:"session,omitempty"`
	Stage   batch.Stage    `json:"stage,omitempty"`
	Doing   string         `json:"doing,omitempty"`
	Turns   int            `json:"turns,omitempty"`
	Calls   int            `json:"calls,omitempty"`
	Cost    *float64       `json:"cost_usd,omitempty"`         // of this round
	Earlier float64        `json:"earlier_cost_usd,omitempty"` // of the rounds before
	Kept    batch.Progress `json:"progress,omitzero"`
	Result  *batch.Result  `json:"result,omitempty"`
	Patch   string         `json:"patch,omitempty"` // its name among the blobs
	Created time.Time      `json:"created"`
	Began   time.Time      `json:"began,omitzero"` // of the first attempt
	Changed time.Time      `json:"changed"`
}

// Work is what is to be done: the task itself, or its name among the inputs where it is long.
type Work struct {
	Task *batch.Task `json:"task,omitempty"`
	Blob string      `json:"blob,omitempty"`
	// Apart says that secrets are masked in Task, and that it stands apart as it was submitted until
	// it has succeeded or its batch is deleted.
	Apart bool `json:"apart,omitempty"`
}

// Order is what holds for all tasks of a batch.
type Order struct {
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	Version  string    `json:"version,omitempty"` // of the adze that submitted it
	Tasks    int       `json:"tasks"`
	Flags    []string  `json:"flags,omitempty"` // of each task's adze
	Push     bool      `json:"push,omitempty"`
	Attempts int       `json:"attempts"`           // how often a task is tried at most
	MaxCost  float64   `json:"max_cost,omitempty"` // USD for all tasks; if 0, any
	// Late says that the limit came after the submission, so that what was spent before is counted
	// once.
	Late    bool          `json:"late_limit,omitempty"`
	Timeout time.Duration `json:"timeout_ns,omitempty"`
}

// Usual values of an order.
const (
	UsualAttempts = 3
	UsualLabel    = "default"
	UsualPriority = 2
)

// letters of ids: none that is taken for another one when it is read aloud or typed.
const letters = "abcdefghjkmnpqrstuvwxyz123456789"

func spell(raw []byte, length int) string {
	return base32.NewEncoding(letters).WithPadding(base32.NoPadding).EncodeToString(raw)[:length]
}

// newBatch makes the id of a batch: six characters.
func newBatch() string {
	var raw [5]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return spell(raw[:], 6)
}

// runID names a task of a batch: the same line of the same batch has the same id, however often it
// is submitted.
func runID(of string, t batch.Task) string {
	sum := sha256.Sum256([]byte(of + "\n" + t.ID))
	return of + "." + spell(sum[:], 8)
}

// sessionID is that of the conversation of a run. A further round begins another one.
func (r Run) sessionID() session.ID {
	id := "run-" + strings.ReplaceAll(r.ID, ".", "-")
	if r.Round > 1 {
		id += "-" + spell([]byte{byte(r.Round >> 8), byte(r.Round), 0, 0, 0}, 4)
	}
	return session.ID(id)
}
