package serve

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"adze/internal/editors/htmlstream"
	"adze/internal/editors/pairing"
	"adze/internal/text/jsontext"
	"adze/session"
	"adze/tui/api"
	"adze/tui/permission"
)

// action is what a page wants done; its name says which fields count.
type action struct {
	Text     string  `json:"text"`
	Files    []piece `json:"files"`
	Queue    bool    `json:"queue"` // not to be read by the turn that runs
	Question string  `json:"question"`
	Choice   string  `json:"choice"`
	Offer    int     `json:"offer"`
	Reason   string  `json:"reason"`
	Refused  []int   `json:"refused"`
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Dry      bool    `json:"dry"`
	Redo     bool    `json:"redo"`
	Since    string  `json:"since"`
	File     string  `json:"file"`
	Hunk     int     `json:"hunk"`
	Hash     string  `json:"hash"`
	Call     string  `json:"call"`

	by string // who sent it; empty for the user of this machine
}

// actScopes are what a device must be allowed for an action. Those that are missing are the
// machine's alone: they change rules, modes or the model, or run a command of the user's own.
var actScopes = map[string]pairing.Scope{
	"answer": pairing.Answer, "stop": pairing.Answer, "cancel": pairing.Answer, "reviewed": pairing.Answer,
	"say": pairing.Prompt, "again": pairing.Prompt, "unqueue": pairing.Prompt, "compact": pairing.Prompt, "rename": pairing.Prompt, "fork": pairing.Prompt,
	"undo": pairing.Prompt, "rewind": pairing.Prompt, "revert": pairing.Prompt, "stage": pairing.Prompt,
}

// mayAct says why the sender of a request may not do an action; if nil, it may. A device answers
// once: no rule, no mode and no other text of a call comes from it.
func mayAct(ctx context.Context, name string, a action) error {
	if err := mayDo(ctx, actScopes[name]); err != nil || deviceOf(ctx) == nil || name != "answer" {
		return err
	}
	switch choices[a.Choice] {
	case permission.Deny, permission.Once:
		return nil
	}
	return mayDo(ctx, "")
}

// choices are those of a permission by their names.
var choices = map[string]permission.Choice{
	"deny": permission.Deny, "once": permission.Once, "session": permission.ForSession, "always": permission.Always, "edits": permission.AllEdits, "try": permission.Try,
}

// act does what a page says, and answers with what there is to say of it.
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
	if err == nil {
		err = mayAct(r.Context(), r.PathValue("act"), a)
	}
	var out any
	if err == nil {
		a.by = sender(r.Context())
		out, err = s.do(r.Context(), session.ID(r.PathValue("id")), r.PathValue("act"), a)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	s.answerJSON(w, out)
}

// done is the answer where there is nothing to say.
type done struct {
	Text string     `json:"text,omitempty"`
	ID   session.ID `json:"id,omitempty"`
}

// do does one action.
func (s *Server) do(ctx context.Context, id session.ID, name string, a action) (any, error) {
	if b := s.neighbours.find(id); b != nil && s.open(id) == nil {
		if _, err := s.House.Session(ctx, id); err != nil { // of another folder
			return nil, err
		}
		if out, is, err := b.act(ctx, name, a); is {
			return out, err
		}
	}
	switch name {
	case "rename":
		return done{}, s.stored(ctx, id, func() error { return s.House.Rename(ctx, id, a.Name) })
	case "fork":
		var fork session.ID
		err := s.stored(ctx, id, func() (err error) { fork, err = s.House.Fork(ctx, id); return err })
		return done{ID: fork}, err
	case "answer", "stop", "unqueue", "cancel":
		room := s.open(id)
		if room == nil {
			return nil, &refusal{http.StatusConflict, "too late: nothing runs or waits in this session here"}
		}
		return room.now(name, a)
	case "set":
		if a.Name == "model" {
			return s.changeModel(ctx, id, a.Value)
		}
	}
	room, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	switch name {
	case "say":
		return room.prompted(a)
	case "again":
		return done{}, s.repeat(ctx, room)
	case "set":
		return done{}, room.set(a.Name, a.Value)
	case "undo":
		return room.undo(ctx, a)
	case "rewind":
		return room.rewind(ctx)
	case "compact":
		return done{}, room.begins(room.conv.Ports().Compact != nil, func(ctx context.Context) session.Result { return room.conv.Ports().Compact(ctx, a.Text) })
	case "run":
		return done{}, room.begins(room.conv.Ports().Run != nil, func(ctx context.Context) session.Result { return room.conv.Ports().Run(ctx, a.Text) })
	case "revert", "stage":
		return done{}, room.hunk(ctx, name, a)
	case "reviewed":
		room.mu.Lock()
		room.review = false
		room.mu.Unlock()
		s.stir()
		return done{}, nil
	}
	return nil, &refusal{http.StatusNotFound, "no such action"}
}

// stored does something to a session that is in the store, and tells pages.
func (s *Server) stored(ctx context.Context, id session.ID, do func() error) error {
	_, err := s.House.Session(ctx, id)
	if err == nil {
		err = do()
	}
	s.stir()
	return err
}

// now does what waits for nothing.
func (r *room) now(name string, a action) (any, error) {
	switch name {
	case "answer":
		choice, known := choices[a.Choice]
		if a.Choice != "" && !known {
			return nil, &refusal{http.StatusBadRequest, "there is no such choice"}
		}
		return done{}, r.answer(a.Question, permission.Answer{Choice: choice, Offer: a.Offer, Reason: a.Reason, Text: a.Text, Refused: a.Refused, By: a.by}, a.Text)
	case "stop":
		if !r.Stop() {
			return nil, &refusal{http.StatusConflict, "no turn of this session is running here"}
		}
	case "unqueue":
		if !r.unqueue(a.Text) {
			return nil, &refusal{http.StatusConflict, "that message was sent already"}
		}
	case "cancel":
		return done{}, r.cancel(a.Call)
	}
	return done{}, nil
}

// prompted takes what the user says.
func (r *room) prompted(a action) (any, error) {
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
	delete(r.readers, q) // pages read all turns
	return done{Text: "sent"}, nil
}

// nudged has pages look at what waits.
func (r *room) nudged() {
	for q := range r.readers {
		if q.turn == everyTurn {
			nudge(q.woken)
		}
	}
}

// unqueue takes a prompt back that waits for its turn.
func (r *room) unqueue(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.jobs, func(j job) bool { return j.do == nil && j.prompt.Text == text })
	if at < 0 {
		return false
	}
	r.jobs = slices.Delete(r.jobs, at, at+1)
	r.nudged()
	return true
}

// cancel ends one running call, by what it is called on the page.
func (r *room) cancel(name string) error {
	r.mu.Lock()
	calls := slices.Clone(r.turn.calls)
	r.mu.Unlock()
	for _, e := range calls {
		if call, parent := whose(e); parent == "" && htmlstream.CallID(call) == name {
			if stop := r.conv.Ports().CancelCall; stop != nil && stop(call) {
				return nil
			}
		}
	}
	return &refusal{http.StatusConflict, "that call has ended already"}
}

// begins does something in place of a turn, when those before it have ended.
func (r *room) begins(can bool, do func(context.Context) session.Result) error {
	if !can {
		return errNotHere
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.leaving {
		return errLeaving
	}
	r.enqueue(job{do: do})
	return nil
}

var errNotHere = &refusal{http.StatusNotImplemented, "that cannot be done in this session"}

// alone does something while no turn runs, and waits for its end.
func (r *room) alone(do func(ctx context.Context)) error {
	over := make(chan struct{})
	r.mu.Lock()
	if r.running || r.leaving {
		r.mu.Unlock()
		return &refusal{http.StatusConflict, "a turn runs; wait for its end, or stop it"}
	}
	r.enqueue(job{quiet: true, do: func(ctx context.Context) session.Result {
		defer close(over)
		do(ctx)
		return session.Result{Cause: session.CauseDone}
	}})
	r.mu.Unlock()
	<-over
	return nil
}

// repeat makes the newest answer again.
func (s *Server) repeat(ctx context.Context, r *room) error {
	turn, _, ok, err := s.last(ctx, r.id)
	if err != nil {
		return err
	}
	if !ok {
		return &refusal{http.StatusConflict, "there is no answer to make again"}
	}
	p := Prompt{Text: turn.prompt.Text(), Again: true}
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

// set chooses the mode or the effort.
func (r *room) set(name, value string) error {
	ports := r.conv.Ports()
	var err error
	switch {
	case name == "mode" && ports.SetMode != nil:
		err = ports.SetMode(value)
	case name == "effort" && ports.SetEffort != nil:
		ports.SetEffort(value)
	default:
		return errNotHere
	}
	if err != nil {
		return &refusal{http.StatusBadRequest, err.Error()}
	}
	r.server.stir()
	return nil
}

// changeModel opens the session with another model. One that is not stored yet is begun once more.
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
	room, err := s.enterAs(ctx, id, Wish{Model: model})
	if errors.Is(err, session.ErrNotFound) {
		room, err = s.enterAs(ctx, "", Wish{Model: model})
	}
	if err != nil {
		return nil, err
	}
	return done{ID: room.id}, nil
}

// undo puts files back as they were before the last turn that changed some, or says what it would.
func (r *room) undo(ctx context.Context, a action) (any, error) {
	undo := r.conv.Ports().Undo
	if undo == nil {
		return nil, errNotHere
	}
	wish := api.Undo{Redo: a.Redo, Dry: a.Dry}
	if a.Dry {
		came, err := undo(ctx, wish)
		return came, asRefusal(err)
	}
	var came api.Undone
	var err error
	if busy := r.alone(func(ctx context.Context) { came, err = undo(ctx, wish) }); busy != nil {
		return nil, busy
	}
	r.anew()
	return came, asRefusal(err)
}

// asRefusal is an error that the user reads.
func asRefusal(err error) error {
	if err == nil {
		return nil
	}
	return &refusal{http.StatusConflict, err.Error()}
}

// rewind takes back the last prompt with all that came of it, and answers with its text.
func (r *room) rewind(context.Context) (any, error) {
	rewind := r.conv.Ports().Rewind
	if rewind == nil {
		return nil, errNotHere
	}
	var text string
	var err error
	if busy := r.alone(func(ctx context.Context) { text, err = rewind(ctx) }); busy != nil {
		return nil, busy
	}
	r.anew()
	return done{Text: text}, asRefusal(err)
}

// hunk takes a change back, or stages it: the one that the page has shown, and no other.
func (r *room) hunk(ctx context.Context, name string, a action) error {
	ports := r.conv.Ports()
	do := ports.Revert
	if name == "stage" {
		do = ports.Stage
	}
	if do == nil || ports.Net == nil {
		return errNotHere
	}
	net, err := ports.Net(ctx, api.Since(a.Since))
	if err != nil {
		return asRefusal(err)
	}
	for _, f := range net.Files {
		if f.Path != a.File || a.Hunk < 0 || a.Hunk >= len(f.Hunks) || hunkHash(f.Hunks[a.Hunk]) != a.Hash {
			continue
		}
		return r.begins(true, func(ctx context.Context) session.Result { return do(ctx, api.NetHunk{File: f, Number: a.Hunk}) })
	}
	return &refusal{http.StatusConflict, "the file changed meanwhile; look at the changes once more"}
}

func hunkHash(h api.HunkText) string {
	sum := sha256.Sum256([]byte(h.Text))
	return hex.EncodeToString(sum[:8])
}
