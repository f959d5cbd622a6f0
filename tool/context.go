package tool

import (
	"context"
	"encoding/json"
	"fmt"
)

// Context is what a running call knows and may do besides its arguments. Its methods are safe for
// concurrent use.
type Context[Meta any] struct{ Common }

// Common is the part of a Context that is the same for every tool.
type Common struct {
	SessionID string
	MessageID string
	Agent     string
	CallID    CallID
	Init      Init
	// ByRule says that a rule allowed what the call needs, and no person has seen it; see Decision.
	ByRule bool
	// Approved says that a user has said yes to what Needs named; a yes that Ask brings is not in it.
	Approved bool
	// Judged is how the gate has read the command that the call needs; if nil, nothing was judged, and
	// it runs as written.
	Judged *Judged

	metadata func(title string, encode func() (json.RawMessage, error))
	ask      func(context.Context, Need) error
	review   reviewer
	wait     func() func()
}

// Waits says that the call waits for a user from now on, until the function that it returns is
// called: a user's time is not the call's.
func (c Common) Waits() (over func()) {
	if c.wait == nil {
		return func() {}
	}
	return c.wait()
}

// Metadata streams progress to panes: a title for the user and the newest metadata, at most 20
// times a second, latest wins; the last one always arrives. It is encoded when it is passed on, so
// what m points to must not change after the call: give it a copy of a map or slice that you go on
// changing.
func (c Context[Meta]) Metadata(title string, m Meta) {
	if c.metadata == nil {
		return
	}
	c.metadata(title, func() (json.RawMessage, error) { return json.Marshal(m) })
}

// Ask passes a need that only became known while running through the gate. Its error wraps
// ErrDenied when the gate said no; return it unchanged.
func (c Common) Ask(ctx context.Context, n Need) error {
	if c.ask == nil {
		return fmt.Errorf("nobody to ask for %s %s: %w", n.Permission, n.Target, ErrDenied)
	}
	return c.ask(ctx, n)
}

// Review puts changes that the call has made apart to the user, who applies all of them, some hunks
// or none. why says in a sentence what they are, and blocks hold them as diffs. refused are the
// hunks of all diffs that are not wanted, counted from 1, and said is the reason. Its error wraps
// ErrDenied when nothing is wanted, or nobody is there.
func (c Common) Review(ctx context.Context, n Need, why string, blocks []Block) (refused []int, said string, err error) {
	if c.review == nil {
		return nil, "", fmt.Errorf("nobody to ask for %s %s: %w", n.Permission, n.Target, ErrDenied)
	}
	return c.review(ctx, n, why, blocks)
}

// Result is what Run returns.
type Result[Meta any] struct {
	Title       string // one line for the user
	Metadata    Meta   // for panes and the log; never for the model
	Output      string // for the model
	Attachments []Attachment
	Changed     []string // files this call changed, as shown to a user
	// OutputFile and Truncated are set by tools that bound their own output (bash); others leave
	// clipping to the pipeline.
	OutputFile string
	Truncated  bool
	// Whole is the output before the tool shortened it for the model: the pipeline keeps it in a file
	// and says which. If empty, Output is all there is.
	Whole   string
	Sandbox string    // what held the commands that it ran, for the record; if empty, nothing did, or there were none
	Refused []Refusal // what that refused them, whether they failed or not, for the record
	Carried []Carried // what that carried to hosts and from them, for the record
	Stop    bool      // ends the turn
	Pending bool      // what the call asked after goes on by itself: asked again, it may tell more
}

// Attachment is an image or document for models that take it.
type Attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type reviewer func(ctx context.Context, n Need, why string, blocks []Block) (refused []int, said string, err error)

// common is what a call may do, made for it.
func (x *execution) common() Common {
	return Common{
		SessionID: x.runner.Session, MessageID: x.record.Message, Agent: x.runner.Agent, CallID: x.h.Call, ByRule: x.byRule, Judged: x.judged, Approved: x.reviewed(),
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

// review asks about changes that were made apart.
func (x *execution) review(ctx context.Context, n Need, why string, blocks []Block) (refused []int, said string, err error) {
	_, err = x.ask(ctx, Permissions{}.cover([]Need{n}), func(q *Question) {
		q.Wanted, q.Preview = why, func(context.Context) []Block { return blocks }
		q.Without = func(_ context.Context, without []int, reason string) (*Change, error) {
			refused, said = without, reason
			return &Change{}, nil
		}
	})
	if err != nil {
		return nil, "", err
	}
	return refused, said, x.intendMore(ctx, n)
}
