package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"adze/internal/editors/uistream"
	"adze/internal/files/attachments"
	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/tool"
)

// remoteSessions holds the sessions of other processes with a socket.
type remoteSessions struct {
	live.Sessions
	backend Backend
}

// ownPage is a page's name in the log and for owners of sessions.
const ownPage = "page"

// patience limits the wait for an owner's hello. A suspended one never sends it.
const patience = 2 * time.Second

// remoteSession is a session owned by another process, while it is connected.
type remoteSession struct {
	*live.Session
	sessions *remoteSessions
}

// find returns another process's session, or false.
func (n *remoteSessions) find(id session.ID) (remoteSession, bool) {
	r := n.Find(id)
	return remoteSession{r, n}, r != nil
}

// freed waits until an ended process's lock is free, unless another process has it now.
func (n *remoteSessions) freed(h live.Hello) {
	ctx, cancel := context.WithTimeout(n.Ctx, patience)
	defer cancel()
	before := n.backend.Holder(h.Session)
	// The list shows a holder that keeps it longer.
	_ = live.Place{Holder: func() string {
		if now := n.backend.Holder(h.Session); now == before {
			return now
		}
		return ""
	}}.Freed(ctx)
}

var errGone = &refusal{http.StatusConflict, "too late: the process that had this session has ended"}

// say sends a line to the owner and waits for its effect.
func (b remoteSession) say(ctx context.Context, line any) error {
	_, err := b.asks(ctx, line)
	return err
}

// asks is say for a line with a result.
func (b remoteSession) asks(ctx context.Context, line any) (json.RawMessage, error) {
	out, err := b.Ask(ctx, line)
	var why *live.Failure
	switch {
	case errors.As(err, &why):
		return nil, &refusal{http.StatusConflict, why.Error()}
	case errors.Is(err, live.ErrNobody):
		return nil, errGone
	case errors.Is(err, live.ErrLong):
		return nil, &refusal{http.StatusRequestEntityTooLarge, err.Error()}
	}
	return out, err
}

// attend registers a reader for events after the position given to follow.
func (b remoteSession) attend(woken chan struct{}) pageState {
	q := newReader(everyTurn)
	q.wake = woken
	return pageState{reader: q, follow: func(after int64, seen map[string]bool) (running bool) { return b.follow(q, after, seen) }}
}

func (b remoteSession) follow(q *reader, after int64, seen map[string]bool) (running bool) {
	ctx, cancel := context.WithTimeout(b.sessions.Ctx, patience)
	defer cancel()
	c, err := live.Dial(ctx, b.sessions.Folder, b.Hello.Session, live.Subscription{Kind: ownPage, After: after})
	if err != nil {
		return false
	}
	q.stop = func() { _ = c.Close() } // the session continues
	b.sessions.Ends.Go(func() {
		defer context.AfterFunc(b.sessions.Ctx, q.stop)()
		defer cancel()
		f := &itemMaker{remoteSession: b, reader: q, seen: seen, questions: map[string]item{}}
		for l, err := c.Next(); err == nil; l, err = c.Next() {
			if f.line(l); l.Type == "live" {
				cancel() // later events are sent anyway
			}
		}
		nudge(q.wake)
	})
	<-ctx.Done()
	return c.Hello.State != live.Idle
}

func (b remoteSession) forget(q *reader) {
	if q.stop != nil {
		q.stop()
	}
}

// itemMaker converts an owner's lines to items for a page.
type itemMaker struct {
	remoteSession
	reader    *reader
	events    live.Events
	seen      map[string]bool // by the shown events' identity
	questions map[string]item // waiting
}

func (f *itemMaker) line(l live.Line) {
	for _, e := range f.events.Decode(l) {
		id := live.Identity(e)
		if f.seen[id] {
			continue
		}
		if id != "" {
			f.seen[id] = true
		}
		if done, is := e.(session.MessageDone); is && uistream.Prompts(done.Message) {
			f.reader.add(item{event: e, prompts: true})
			continue
		}
		f.reader.add(item{event: e})
	}
	switch l.Type {
	case "live":
		f.reader.add(item{joins: true})
	case "missed", "anew":
		f.reader.add(item{anew: true})
	case "mode":
		nudge(f.reader.wake)
	case "question":
		var q live.Question
		if json.Unmarshal(l.Raw, &q) == nil {
			it := f.question(q)
			f.questions[q.Question] = it
			f.reader.add(it)
		}
	case "answered":
		var told live.QuestionClosed
		if json.Unmarshal(l.Raw, &told) != nil {
			return
		}
		if it, is := f.questions[told.Question]; is {
			delete(f.questions, told.Question)
			if it.answered = "by " + told.Client; told.Client == "" {
				it.answered = "where the session is"
			}
			f.reader.add(it)
		}
	}
}

// question converts the owner's question.
func (b remoteSession) question(q live.Question) item {
	w := inquiryQuestion(b.named(q.Question), ask.Question{Title: q.Title, Agent: q.Agent, Text: q.Text, Choices: q.Choices, Said: q.Problem})
	if a, is := live.Permission(q); is {
		w = permissionQuestion(w.ID, a)
	}
	w.elsewhere = true
	return item{question: w}
}

// named returns a question ID that is unique among the session's owners, each of which counts from
// 1.
func (b remoteSession) named(question string) string {
	return question + "." + b.Hello.OwnedSince.UTC().Format("20060102T150405.000000000")
}

func (b remoteSession) model() string { return b.Hello.Provider + "/" + b.Hello.Model }

func (b remoteSession) works(h session.Head) Status {
	s, now := b.sessions.backend.Status(h), b.Status()
	s.Model, s.Folder, s.Mode, s.Effort, s.Sandbox = b.model(), b.Hello.Cwd, now.Mode, now.Effort, ""
	return s
}

// blocks returns the blocks of a call from the log, or from the socket if its metadata contains
// them.
func (b remoteSession) blocks(name string, metadata json.RawMessage) []tool.Block {
	if drawn := live.Blocks(name, metadata); len(drawn) > 0 {
		return drawn
	}
	return b.sessions.backend.Blocks(name, metadata)
}

// ownersChoices maps choices to an owner's names for them; it offers no others.
var ownersChoices = map[ask.Choice]string{ask.Deny: "no", ask.Once: "once", ask.ForSession: "session"}

// control sends a request to the owner.
func (b remoteSession) control(ctx context.Context, r control.Request) (any, error) {
	out, err := b.asks(ctx, live.Control{Type: "control", Request: r})
	if err == nil && r.Action == control.Set && r.Name == "model" {
		return done{ID: b.Hello.Session}, nil
	}
	return out, err
}

func (b remoteSession) stopped(ctx context.Context) error {
	return b.say(ctx, live.Input{Type: "abort"})
}

// repeated regenerates the newest answer: it reverts its prompt and sends it again.
func (b remoteSession) repeated(ctx context.Context) error {
	turn, err := newest(ctx, b.sessions.backend, b.Hello.Session)
	if err == nil {
		_, err = b.control(ctx, control.Request{Action: control.Rewind})
	}
	if err != nil {
		return err
	}
	line := live.Input{Type: "prompt", Text: turn.prompt.Text()}
	for _, p := range turn.prompt.Parts {
		if p.Attachment != nil {
			line.Files = append(line.Files, live.File{Name: p.Attachment.Name, Data: p.Attachment.Data})
		}
	}
	return b.say(ctx, line)
}

func (b remoteSession) answered(ctx context.Context, a action) error {
	line := live.Input{Type: "answer", Text: a.Text, Reason: a.Reason, Refused: a.Refused}
	if a.Choice != "" {
		choice, known := choices[a.Choice]
		if line.Choice = ownersChoices[choice]; !known || line.Choice == "" {
			return &refusal{http.StatusBadRequest, "that was not offered"}
		}
		if choice == ask.ForSession {
			line.Offer = &a.Offer
		}
	}
	if end := len(a.Question) - len(b.named("")); end > 0 {
		line.Question = a.Question[:end]
	}
	if b.named(line.Question) != a.Question {
		return errGone
	}
	return b.say(ctx, line)
}

// prompted forwards the user's message. A remark without a running turn becomes a prompt there.
func (b remoteSession) prompted(ctx context.Context, a action) (any, error) {
	line := live.Input{Type: "steer", Text: a.Text}
	var checked Prompt
	for i, f := range a.Files {
		if err := checked.enclose(f); err != nil {
			return nil, err
		}
		raw, err := attachments.Data(f.URL)
		if err != nil {
			return nil, err
		}
		line.Files = append(line.Files, live.File{Name: cmp.Or(f.Filename, fmt.Sprint("file ", i+1)), Data: raw})
	}
	if len(line.Files) == 0 && strings.TrimSpace(a.Text) == "" {
		return nil, &refusal{http.StatusBadRequest, "the message says nothing"}
	}
	if a.Queue || len(line.Files) > 0 {
		line.Type = "prompt"
	}
	return done{Text: "sent"}, b.say(ctx, line)
}

// seenIn returns the turns' event identities.
func seenIn(turns []past) map[string]bool {
	seen := map[string]bool{}
	for _, t := range turns {
		for _, e := range t.events {
			if id := live.Identity(e); id != "" {
				seen[id] = true
			}
		}
	}
	return seen
}
