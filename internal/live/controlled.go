package live

import (
	"bytes"
	"encoding/json"
	"errors"

	"adze/internal/live/control"
	"adze/internal/stream"
	"adze/internal/text/jsontext"
	"adze/internal/text/usage"
)

// Types of a request line and its reply.
const (
	controlLine = "control"
	replyLine   = "reply"
)

// A Control requests an action in the owner's process. A Reply answers it.
type Control struct {
	Type string `json:"type"` // control
	ID   string `json:"id,omitempty"`
	control.Request
}

// A Reply is the result of the line with this number. Error is set if it had no effect.
type Reply struct {
	Type   string          `json:"type"` // reply
	Line   int             `json:"line"`
	ID     string          `json:"id,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *Failure        `json:"error,omitempty"`

	gone bool // the owner is gone, and the line's effect unknown
}

func (r Reply) err() error {
	switch {
	case r.gone:
		return ErrNobody
	case r.Error != nil:
		return r.Error
	}
	return nil
}

// A Failure is an error received in a line.
type Failure struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error formats the failure for a user.
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

// atOneTime limits one client's concurrent requests. Further lines wait.
const atOneTime = 8

// readControl parses a request line. It returns false for other lines.
func readControl(raw []byte) (l Control, is bool, err error) {
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

// begin handles a request concurrently with the following lines, or replies with refused.
func (o *Owner) begin(l Control, line int, refused error, p Peer, w *watcher, slots chan struct{}) {
	reply := func(r Reply) {
		r.Type, r.Line, r.ID = replyLine, line, l.ID
		w.say(append(o.config.Mask().JSON([]byte(stream.Line(r))), '\n'))
	}
	if refused == nil && o.config.Control == nil {
		refused = usage.Mistake("take the session over for that", "this process does nothing of the kind")
	}
	if refused == nil {
		select {
		case slots <- struct{}{}:
		case <-o.asking.Done():
		}
		o.mu.Lock()
		if o.closing {
			refused = control.ErrOpening
		} else {
			o.requests.Add(1)
		}
		o.mu.Unlock()
	}
	if refused != nil {
		reply(Reply{Error: failure(refused)})
		return
	}
	go func() {
		defer o.requests.Done()
		defer func() { <-slots }()
		out, err := o.config.Control(o.asking, p, l.Request)
		var r Reply
		if err == nil {
			r.Result, err = json.Marshal(out)
		}
		if err != nil {
			r = Reply{Error: failure(err)}
		} else if o.config.Record != nil && !l.Looks() {
			o.config.Record(p, l.Request.String())
		}
		reply(r)
	}()
}

// Works are a session's settings and waiting messages.
type Works struct {
	Mode    string   `json:"permission_mode,omitempty"`
	Effort  string   `json:"effort,omitempty"`
	Queued  []string `json:"queued,omitempty"`  // prompts waiting for their turn
	Steered []string `json:"steered,omitempty"` // remarks not yet sent to the model
}

// Refresh sends changed Works to the clients.
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

// ResetClients makes clients reread the log, as after a reverted prompt.
func (o *Owner) ResetClients() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.spread(item{line: encode(ownerLine{Type: anewLine})})
}
