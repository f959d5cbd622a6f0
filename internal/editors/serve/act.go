package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/stream/ask"
	"adze/internal/text/jsontext"
	"adze/internal/text/usage"
	"adze/session"
)

// action is a page's request. The path's name determines the fields used.
type action struct {
	control.Request
	Files          []piece `json:"files"`
	Queue          bool    `json:"queue"` // wait for the running turn instead of steering it
	Question       string  `json:"question"`
	Choice         string  `json:"choice"`
	Offer          int     `json:"offer"`
	Reason         string  `json:"reason"`
	Refused        []int   `json:"refused"`
	Folder         string  `json:"folder"` // the new session's folder
	IdempotencyKey string  `json:"once"`   // idempotency key
}

// choices maps names to a permission's choices.
var choices = map[string]ask.Choice{
	"deny": ask.Deny, "once": ask.Once, "session": ask.ForSession, "always": ask.Always, "edits": ask.AllEdits,
}

func (s *Server) act(w http.ResponseWriter, r *http.Request) {
	var a action
	conn := http.NewResponseController(w)
	err := conn.SetReadDeadline(s.Now().Add(bodyTime))
	var raw []byte
	if err == nil {
		raw, err = io.ReadAll(r.Body)
	}
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		err = &refusal{http.StatusRequestEntityTooLarge, "that is more than fits into one message; name the path of a large file instead"}
	}
	if err == nil {
		if err = json.Unmarshal(raw, &a); err != nil {
			err = &refusal{http.StatusBadRequest, "the request cannot be read: " + jsontext.Problem(err)}
		}
	}
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	var out any
	if err == nil {
		id, name := session.ID(r.PathValue("id")), r.PathValue("act")
		out, err = s.keyed.do(r.Context(), string(id)+"\n"+name, a.IdempotencyKey, func(ctx context.Context) (any, error) { return s.do(ctx, id, name, a) })
	}
	if err != nil {
		refuse(w, err)
		return
	}
	s.answerJSON(w, out)
}

// done is the response without a result.
type done = control.Done

// request converts an action to a control request, or returns false for other actions.
func (a action) request(name string) (r control.Request, is bool) {
	r = a.Request
	r.Action = name
	return r, slices.Contains([]string{control.Set, control.Undo, control.Rewind, control.Compact, control.Run, control.Revert, control.Stage, control.Unqueue}, name)
}

// find returns a session open here or in a reachable process, or nil.
func (s *Server) find(id session.ID) openSession {
	if r := s.open(id); r != nil {
		return r
	}
	if b, is := s.remoteSessions.find(id); is {
		return b
	}
	return nil
}

// do runs one action.
func (s *Server) do(ctx context.Context, id session.ID, name string, a action) (any, error) {
	switch name {
	case "begin":
		return s.directory.begins(ctx, a)
	case "tag":
		return done{}, s.stored(ctx, id, func() error { return asRefusal(s.Backend.Tag(ctx, id, a.Text)) })
	case "reviewed":
		return done{}, s.stored(ctx, id, func() error { return s.Backend.Tag(ctx, id, "-"+live.ReviewTag) })
	case "rename":
		return done{}, s.stored(ctx, id, func() error { return s.Backend.Rename(ctx, id, a.Name) })
	case "fork":
		var fork session.ID
		err := s.stored(ctx, id, func() (err error) { fork, err = s.Backend.Fork(ctx, id); return err })
		return done{ID: fork}, err
	}
	s.remoteSessions.Meet(id) // it may have just started
	at := s.find(id)
	if _, is := at.(remoteSession); is {
		if _, err := s.directory.session(ctx, id); err != nil { // its folder is not served
			return nil, err
		}
		out, err := doAt(ctx, at, name, a)
		if err != errGone || name != "say" {
			return out, err
		}
		at = nil // start the turn here
	}
	if name == "set" && a.Name == "model" {
		return s.changeModel(ctx, id, a.Value)
	}
	if at == nil {
		switch name {
		case "answer", "stop", "unqueue":
			return nil, &refusal{http.StatusConflict, "too late: nothing runs or waits in this session here"}
		}
		if name != "set" || a.Name != "model" {
			head, err := s.directory.session(ctx, id)
			if err != nil {
				return nil, err
			}
			if s.directory.away(head) {
				return s.directory.beyond(ctx, head, name, a)
			}
		}
		room, err := s.enter(ctx, id, "")
		if err != nil {
			return nil, err
		}
		at = room
	}
	return doAt(ctx, at, name, a)
}

// doAt runs one action in an open session.
func doAt(ctx context.Context, at openSession, name string, a action) (any, error) {
	switch name {
	case "say":
		return at.prompted(ctx, a)
	case "answer":
		return done{}, at.answered(ctx, a)
	case "stop":
		return done{}, at.stopped(ctx)
	case "again":
		return done{}, at.repeated(ctx)
	}
	r, is := a.request(name)
	if !is {
		return nil, &refusal{http.StatusNotFound, "no such action"}
	}
	return at.control(ctx, r)
}

// stored changes a stored session and notifies pages.
func (s *Server) stored(ctx context.Context, id session.ID, do func() error) error {
	_, err := s.directory.session(ctx, id)
	if err == nil {
		err = do()
	}
	s.wakePages()
	return err
}

func (r *sharedSession) answered(_ context.Context, a action) error {
	choice, known := choices[a.Choice]
	if a.Choice != "" && !known {
		return &refusal{http.StatusBadRequest, "there is no such choice"}
	}
	return r.answer(a.Question, ask.Answer{Choice: choice, Offer: a.Offer, Reason: a.Reason, Text: a.Text, Refused: a.Refused, By: ownPage}, a.Text)
}

func (r *sharedSession) stopped(context.Context) error {
	if !r.Stop() {
		return errNoTurn
	}
	return nil
}

// control runs a control request in the conversation.
func (r *sharedSession) control(ctx context.Context, q control.Request) (any, error) {
	out, err := r.Host().Do(ctx, q)
	return out, asRefusal(err)
}

// Host returns the actions available in the room.
func (r *sharedSession) Host() control.Host {
	r.mu.Lock()
	conv := r.conv
	r.mu.Unlock()
	if conv == nil {
		return control.Host{Begin: func(func(context.Context) session.Result) error { return control.ErrOpening }}
	}
	return control.Host{Ports: conv.Ports(), Commands: conv.Commands, Begin: r.begins, RunExclusive: r.alone, Unqueue: r.unqueue,
		Changed: func(string, string) { r.server.wakePages(); conv.Refresh() },
		Rewound: func(bool) { r.anew(); conv.Rewound() },
		Model: func(name string) error {
			r.server.ends.Go(func() { _, _ = r.server.changeModel(r.server.ctx, r.id, name) }) // pages show the new model
			return nil
		}}
}

// prompted queues or sends the user's message.
func (r *sharedSession) prompted(_ context.Context, a action) (any, error) {
	p := Prompt{Text: a.Text}
	for _, f := range a.Files {
		if err := p.enclose(f); err != nil {
			return nil, err
		}
	}
	if p.bare() && p.Text == "" {
		return nil, &refusal{http.StatusBadRequest, "the message says nothing"}
	}
	if p.bare() && !a.Queue {
		if _, is := r.reply(p.Text); is {
			return done{Text: "answered"}, nil
		}
	}
	if a.Queue {
		return done{Text: "queued"}, r.Begin(p)
	}
	q, err := r.say(p)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.nudged()
	if q == nil {
		return done{Text: "the running turn reads it"}, nil
	}
	delete(r.readers, q) // pages follow all turns
	return done{Text: "sent"}, nil
}

// nudged informs pages and other processes about waiting messages.
func (r *sharedSession) nudged() {
	if conv := r.conv; conv != nil {
		r.server.ends.Go(conv.Refresh) // Refresh calls back into the room
	}
	for q := range r.readers {
		if q.turn == everyTurn {
			nudge(q.wake)
		}
	}
}

func (r *sharedSession) unqueue(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.jobs, func(j job) bool { return j.run == nil && j.prompt.Text == text })
	if at < 0 {
		return false
	}
	r.jobs = slices.Delete(r.jobs, at, at+1)
	r.nudged()
	return true
}

// begins queues do as a turn.
func (r *sharedSession) begins(do func(context.Context) session.Result) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving {
		return errLeaving
	}
	r.enqueue(job{run: do})
	return nil
}

var errNotHere = &refusal{http.StatusNotImplemented, "that cannot be done in this session"}

// alone runs do while no turn runs, and waits for it.
func (r *sharedSession) alone(_ context.Context, do func(ctx context.Context)) error {
	over := make(chan struct{})
	r.mu.Lock()
	if r.running || r.leaving {
		r.mu.Unlock()
		return control.ErrBusy
	}
	r.enqueue(job{quiet: true, run: func(ctx context.Context) session.Result {
		defer close(over)
		do(ctx)
		return session.Result{Cause: session.CauseDone}
	}})
	r.mu.Unlock()
	select {
	case <-over:
		return nil
	case <-r.closed: // before it began
		return errLeaving
	}
}

func (r *sharedSession) repeated(ctx context.Context) error {
	turn, err := newest(ctx, r.server.Backend, r.id)
	if err != nil {
		return err
	}
	p := Prompt{Text: turn.prompt.Text(), Replace: true}
	for _, part := range turn.prompt.Parts {
		if part.Attachment != nil {
			p.Attachments = append(p.Attachments, *part.Attachment)
		}
	}
	q, err := r.say(p)
	if q != nil {
		r.forget(q)
	}
	return err
}

// changeModel reopens the session with another model. A session that is not stored yet is replaced
// by a new one.
func (s *Server) changeModel(ctx context.Context, id session.ID, model string) (any, error) {
	if room := s.open(id); room != nil {
		if check := room.conv.Ports().CheckModel; check != nil {
			if err := check(model); err != nil {
				return nil, &refusal{http.StatusBadRequest, err.Error()}
			}
		}
		if !room.retire(s.Now()) {
			return nil, &refusal{http.StatusConflict, "a turn runs; wait for its end, or stop it"}
		}
		<-room.closed
	}
	room, err := s.enter(ctx, id, model)
	if errors.Is(err, session.ErrNotFound) {
		room, err = s.enter(ctx, "", model)
	}
	if err != nil {
		return nil, err
	}
	return done{ID: room.id}, nil
}

// asRefusal converts an error to one for the user.
func asRefusal(err error) error {
	var mistake *usage.Error
	var why *refusal
	switch {
	case err == nil || errors.As(err, &why) || errors.Is(err, control.ErrNotHere) || errors.Is(err, control.ErrBusy):
		return err
	case errors.As(err, &mistake) && mistake.Hint != "":
		return &refusal{http.StatusConflict, mistake.Message + "; " + mistake.Hint}
	}
	return &refusal{http.StatusConflict, err.Error()}
}
