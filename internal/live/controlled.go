package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"adze/internal/live/control"
	"adze/internal/stream"
	"adze/internal/text/jsontext"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
)

// The line that asks for something, and the one that answers it.
const (
	controlLine = "control"
	replyLine   = "reply"
)

// Control asks for something that is done where the session is open. A Reply answers it.
type Control struct {
	Type string `json:"type"` // control
	ID   string `json:"id,omitempty"`
	control.Request
}

// Reply is what came of the line of this number. Error is why nothing did.
type Reply struct {
	Type   string          `json:"type"` // reply
	Line   int             `json:"line"`
	ID     string          `json:"id,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Failure        `json:"error,omitempty"`
}

// Failure is an error as a line tells it.
type Failure struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error is the failure for a user.
func (f *Failure) Error() string {
	if f.Hint == "" {
		return f.Message
	}
	return f.Message + " (" + f.Hint + ")"
}

func failure(err error) *Failure {
	f := &Failure{Message: err.Error()}
	if mistake := (*usage.Error)(nil); errors.As(err, &mistake) {
		f.Hint = mistake.Hint
	}
	return f
}

// atOneTime is how much one client has done at a time. Its next line waits.
const atOneTime = 8

// controls are the requests of one client.
type controls struct {
	owner *Owner
	peer  Peer
	to    *watcher
	slots chan struct{}
}

func (o *Owner) asks(p Peer, w *watcher) *controls {
	return &controls{o, p, w, make(chan struct{}, atOneTime)}
}

// read is the request of a line; if false, the line is another one.
func (c *controls) read(raw []byte) (l Control, is bool, err error) {
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &kind) != nil || kind.Type != controlLine {
		return l, false, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, true, usage.Mistake("", "the request cannot be read: %s", jsontext.Problem(err))
	}
	return l, true, nil
}

// begin has a request be worked on beside the lines that follow it. Refused is why it is not.
func (c *controls) begin(l Control, line int, refused error) {
	o := c.owner
	if refused == nil && o.config.Control == nil {
		refused = usage.Mistake("take the session over for that", "this process does nothing of the kind")
	}
	if refused == nil {
		select {
		case c.slots <- struct{}{}:
		case <-o.controls.ctx.Done():
		}
		if !o.controls.begin() {
			refused = control.ErrOpening
		}
	}
	if refused != nil {
		c.reply(Reply{Line: line, ID: l.ID, Error: failure(refused)})
		return
	}
	go func() {
		defer o.controls.all.Done()
		defer func() { <-c.slots }()
		c.reply(c.work(o.controls.ctx, l, line))
	}()
}

// doings are the requests of all clients that are being worked on.
type doings struct {
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup
	mu     sync.Mutex
	ended  bool
}

// begin counts one more; if false, none is begun any more.
func (d *doings) begin() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.ended {
		d.all.Add(1)
	}
	return !d.ended
}

// end waits until each has its answer.
func (d *doings) end() {
	d.mu.Lock()
	d.ended = true
	d.mu.Unlock()
	d.cancel()
	d.all.Wait()
}

func (c *controls) work(ctx context.Context, l Control, line int) Reply {
	out, err := c.owner.config.Control(ctx, c.peer, l.Request)
	r := Reply{Line: line, ID: l.ID}
	if err == nil {
		r.Result, err = json.Marshal(out)
	}
	if err != nil {
		r.Result, r.Error = nil, failure(err)
		return r
	}
	if record := c.owner.config.Record; record != nil && !l.Looks() {
		record(c.peer, l.Request.String())
	}
	return r
}

func (c *controls) reply(r Reply) {
	r.Type = replyLine
	c.to.say(append(c.owner.mask().JSON([]byte(stream.Line(r))), '\n'))
}

func (o *Owner) mask() *redact.Masker {
	if o.config.Mask == nil {
		return &redact.Masker{}
	}
	return o.config.Mask()
}

// Works is how a session works and what waits in it.
type Works struct {
	Mode    string   `json:"permission_mode,omitempty"`
	Effort  string   `json:"effort,omitempty"`
	Queued  []string `json:"queued,omitempty"`  // prompts that wait for their turn
	Steered []string `json:"steered,omitempty"` // remarks that the model has not read yet
}

// Refresh looks at how the session works, and tells clients where that is news.
func (o *Owner) Refresh() {
	if o.config.Works == nil {
		return
	}
	now := o.config.Works()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.works = now
	o.stated()
}

// Anew tells clients that what they were told may hold no more, such as after a prompt was taken
// back: the log says what does.
func (o *Owner) Anew() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spread(item{line: encode(anew{anewLine})})
}
