package live

import (
	"bytes"
	"encoding/json"
	"errors"

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

	gone bool // the owner is, and nothing is known of the line
}

// err is why the line had no effect.
func (r Reply) err() error {
	switch {
	case r.gone:
		return ErrNobody
	case r.Error != nil:
		return r.Error
	}
	return nil
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

// readControl is the request of a line; if false, the line is another one.
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

// begin works on a request beside the lines that follow it. Refused is why it does not.
func (o *Owner) begin(l Control, line int, refused error, p Peer, w *watcher, slots chan struct{}) {
	reply := func(r Reply) {
		r.Type, r.Line, r.ID = replyLine, line, l.ID
		w.say(append(o.mask().JSON([]byte(stream.Line(r))), '\n'))
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
	o.spread(item{line: encode(ownerLine{Type: anewLine})})
}
