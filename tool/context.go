package tool

import (
	"context"
	"encoding/json"
	"fmt"
)

// Context gives a running call its environment. It is safe for concurrent use.
type Context[Meta any] struct{ Common }

// Common is the part of a Context shared by all tools.
type Common struct {
	SessionID string
	MessageID string
	Agent     string
	CallID    CallID
	Init      Init
	// ByRule means a rule allowed the call's needs and no person has seen it; see Decision.
	ByRule bool
	// Approved means the user approved the Needs; approval through Ask does not count.
	Approved bool
	// Reading is the gate's reading of the call's command; if nil, it runs as written.
	Reading *CommandReading

	metadata func(title string, encode func() (json.RawMessage, error))
	ask      func(context.Context, Need) error
	review   reviewer
	wait     func() func()
}

// Waits stops the call's clock while it waits for a user, until over is called.
func (c Common) Waits() (over func()) {
	if c.wait == nil {
		return func() {}
	}
	return c.wait()
}

// Metadata streams progress to panes: a title for the user and the newest metadata, at most 20
// times a second. Later updates replace earlier ones; the last one always arrives. It is encoded
// later, so m must not point to data that changes: pass a copy of a map or slice.
func (c Context[Meta]) Metadata(title string, m Meta) {
	if c.metadata == nil {
		return
	}
	c.metadata(title, func() (json.RawMessage, error) { return json.Marshal(m) })
}

// Ask passes a need found while running through the gate. If the gate refuses, the error wraps
// ErrDenied; return it unchanged.
func (c Common) Ask(ctx context.Context, n Need) error {
	if c.ask == nil {
		return fmt.Errorf("nobody to ask for %s %s: %w", n.Permission, n.Target, ErrDenied)
	}
	return c.ask(ctx, n)
}

// Review shows the user the call's changes in a separate copy. The user applies all, some or no
// hunks. why describes them in a sentence, and blocks hold them as diffs. refused lists rejected
// hunks, counted from 1 over all diffs, and said is the reason. The error wraps ErrDenied if all
// are rejected or nobody is there.
func (c Common) Review(ctx context.Context, n Need, why string, blocks []Block) (refused []int, said string, err error) {
	if c.review == nil {
		return nil, "", fmt.Errorf("nobody to ask for %s %s: %w", n.Permission, n.Target, ErrDenied)
	}
	return c.review(ctx, n, why, blocks)
}

// Result is returned by Run.
type Result[Meta any] struct {
	Title       string // one line for the user
	Metadata    Meta   // for panes and the log; never for the model
	Output      string // for the model
	Attachments []Attachment
	Changed     []string // changed files, as shown to a user
	// OutputFile and Truncated are set by tools that limit their own output (bash); others leave
	// that to the pipeline.
	OutputFile string
	Truncated  bool
	// FullOutput is the full output if the tool shortened Output for the model: the pipeline stores it
	// and names the file. Empty means Output is complete.
	FullOutput string
	Sandbox    string        // sandbox of the commands run, for the record; "" for none
	Refused    []Refusal     // the sandbox's refusals, whether commands failed or not, for the record
	Traffic    []HostTraffic // the sandbox's traffic with hosts, for the record
	Stop       bool          // ends the turn
	Pending    bool          // the subject of the call is still running: another call may find more
}

// An Attachment is an image or document for models that accept it.
type Attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type reviewer func(ctx context.Context, n Need, why string, blocks []Block) (refused []int, said string, err error)

func (x *execution) common() Common {
	return Common{
		SessionID: x.runner.Session, MessageID: x.record.Message, Agent: x.runner.Agent, CallID: x.h.Call, ByRule: x.byRule, Reading: x.judged, Approved: x.reviewed(),
		metadata: x.live.update, wait: x.wait,
		ask: func(ctx context.Context, n Need) error {
			if _, err := x.ask(ctx, Permissions{}.cover([]Need{n}), nil); err != nil {
				return err
			}
			return x.intendMore(ctx, n)
		},
		review: x.review,
	}
}

func (x *execution) review(ctx context.Context, n Need, why string, blocks []Block) (refused []int, said string, err error) {
	_, err = x.ask(ctx, Permissions{}.cover([]Need{n}), func(q *Question) {
		q.Wanted, q.Preview = why, func(context.Context) []Block { return blocks }
		q.WithoutHunks = func(_ context.Context, without []int, reason string) (*Change, error) {
			refused, said = without, reason
			return &Change{}, nil
		}
	})
	if err != nil {
		return nil, "", err
	}
	return refused, said, x.intendMore(ctx, n)
}
