package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"adze/internal/editors/htmlstream"
	"adze/internal/editors/uistream"
	"adze/internal/files/attachments"
	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/stream/ask"
	"adze/session"
	"adze/tool"
)

// neighbours are the sessions of other processes that have a socket.
type neighbours struct {
	street
	adding sync.Mutex // one connection for the state of a session is made at a time
	mu     sync.Mutex
	all    map[session.ID]*neighbour
}

// street is what they need of the server.
type street struct {
	ctx     context.Context // of the server
	ends    *sync.WaitGroup // as in Server
	house   House
	sockets string
	stir    func()
}

// ownPage is how a page is called in the log, and by owners of sessions.
const ownPage = "page"

// patience is how long an owner may take to say hello. One that was stopped by a signal never does.
const patience = 2 * time.Second

// neighbour is a session that another process has, from its first line to its end.
type neighbour struct {
	street
	hello live.Hello

	mu      sync.Mutex
	status  live.Status
	link    *link                    // that steers
	watched map[*reader]*live.Client // that pages read
	gone    bool
}

// link is a connection over which a session is steered.
type link struct {
	client *live.Client
	mu     sync.Mutex
	waits  map[int]chan came // what became of a line, by its number; nil when the owner is gone
}

// came is what came of a line.
type came struct {
	result json.RawMessage
	err    error
}

func (n *neighbours) find(id session.ID) *neighbour {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all[id]
}

// watch follows what other processes do, until the server ends.
func (n *neighbours) watch() {
	next, stop, err := live.Await(n.sockets, n.house.Locks())
	if err != nil {
		return // nobody can listen there
	}
	defer stop()
	for {
		all, _ := live.List(n.ctx, n.sockets) // without a list there is nobody to be followed
		n.adding.Lock()
		for _, h := range all {
			if n.find(h.Session) == nil {
				n.add(h.Session)
			}
		}
		n.adding.Unlock()
		if next(n.ctx) != nil {
			return
		}
		n.stir() // another process may have a session, or none
	}
}

// add follows what a session does, until nobody has it. The caller holds n.adding.
func (n *neighbours) add(id session.ID) {
	b := &neighbour{street: n.street, watched: map[*reader]*live.Client{}}
	l, err := b.connect(n.ctx, id)
	n.mu.Lock()
	if err == nil {
		b.hello, b.status = l.client.Hello, l.client.Hello.Status
		b.status.Mode, b.status.Effort = b.hello.Mode, b.hello.Effort
		n.all[id] = b
	} else {
		delete(n.all, id)
	}
	n.mu.Unlock()
	if err != nil {
		return // it has ended just now
	}
	n.stir()
	n.ends.Go(func() {
		stop := context.AfterFunc(n.ctx, func() { _ = l.client.Close() }) // the session goes on
		defer stop()
		l.read(b.states)
		b.end()
		b.freed()
		n.adding.Lock()
		defer n.adding.Unlock()
		n.add(id) // another process may have it by now
		n.stir()
	})
}

// connect makes a connection that steers, and is told the state.
func (b *neighbour) connect(ctx context.Context, id session.ID) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := live.Dial(ctx, b.sockets, id, live.Wish{As: ownPage, StateOnly: true})
	if err != nil {
		return nil, err
	}
	l := &link{client: c, waits: map[int]chan came{}}
	b.link = l
	return l, nil
}

// states takes a line that tells what the session does.
func (b *neighbour) states(l live.Line) {
	var told live.Status
	if l.Type != "state" || json.Unmarshal(l.Raw, &told) != nil {
		return
	}
	b.mu.Lock()
	told.Mode = cmp.Or(told.Mode, b.status.Mode)
	b.status = told
	b.mu.Unlock()
	b.stir()
}

// end closes all connections with an owner that has ended.
func (b *neighbour) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = true
	for _, c := range b.watched {
		_ = c.Close() // as above
	}
}

// freed waits until the lock of a process that has ended is free, but not for one that another
// process has by now.
func (b *neighbour) freed() {
	id := b.hello.Session
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	before := b.house.Holder(id)
	// The list tells of a holder that keeps it longer.
	_ = live.Place{Locks: b.house.Locks(), Holder: func() string {
		if now := b.house.Holder(id); now == before {
			return now
		}
		return ""
	}}.Freed(ctx)
}

// read reads what the owner says, until it ends.
func (l *link) read(each func(live.Line)) {
	defer func() {
		_ = l.client.Close() // nothing waits in it
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, w := range l.waits {
			w <- came{err: live.ErrNobody}
		}
		l.waits = nil
	}()
	for {
		line, err := l.client.Next()
		if err != nil {
			return
		}
		switch line.Type {
		case "accepted", "unread", "reply":
			l.settled(line)
		default:
			each(line)
		}
	}
}

// settled tells who said a line what became of it.
func (l *link) settled(line live.Line) {
	var told struct {
		live.Reply
		Message, Hint string
	}
	if json.Unmarshal(line.Raw, &told) != nil {
		return
	}
	c := came{result: told.Result}
	why := told.Error
	if line.Type == "unread" {
		why = &live.Failure{Message: told.Message, Hint: told.Hint}
	}
	if why != nil {
		c.err = &refusal{http.StatusConflict, why.Error()}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w := l.waits[told.Line]; w != nil {
		w <- c
		delete(l.waits, told.Line)
	}
}

var errGone = &refusal{http.StatusConflict, "too late: the process that had this session has ended"}

// say sends a line to the owner, and waits until it had its effect, or none.
func (b *neighbour) say(ctx context.Context, line any) error {
	_, err := b.asks(ctx, line)
	return err
}

// asks is say for a line that is answered.
func (b *neighbour) asks(ctx context.Context, line any) (json.RawMessage, error) {
	told, err := b.link.send(line)
	var c came
	if err == nil {
		select {
		case c = <-told:
			err = c.err
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	switch {
	case errors.Is(err, live.ErrNobody):
		return nil, errGone
	case errors.Is(err, live.ErrLong):
		return nil, &refusal{http.StatusRequestEntityTooLarge, err.Error()}
	}
	return c.result, err
}

func (l *link) send(line any) (chan came, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waits == nil {
		return nil, live.ErrNobody
	}
	n, err := l.client.Number(line)
	told := make(chan came, 1)
	if err == nil {
		l.waits[n] = told
	}
	return told, err
}

// attend has a reader told what happens, from the position in the log that follow is called with.
func (b *neighbour) attend(woken chan struct{}) attended {
	q := newReader(everyTurn)
	q.woken = woken
	return attended{reader: q, follow: func(after int64, seen map[string]bool) (running bool) { return b.follow(q, after, seen) }}
}

func (b *neighbour) follow(q *reader, after int64, seen map[string]bool) (running bool) {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	c, err := live.Dial(ctx, b.sockets, b.hello.Session, live.Wish{As: ownPage, After: after})
	if err != nil {
		q.put(item{gone: true})
		return false
	}
	b.mu.Lock()
	if b.gone {
		_ = c.Close() // nothing was read
	}
	b.watched[q] = c
	b.mu.Unlock()
	b.ends.Go(func() {
		stop := context.AfterFunc(b.ctx, func() { _ = c.Close() }) // the session goes on
		defer stop()
		f := &following{neighbour: b, to: q, seen: seen, questions: map[string]item{}}
		for {
			l, err := c.Next()
			if err != nil {
				q.put(item{gone: true})
				return
			}
			f.line(l)
		}
	})
	return c.Hello.State != live.Idle
}

func (b *neighbour) forget(q *reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.watched[q]; c != nil {
		_ = c.Close() // the session goes on
		delete(b.watched, q)
	}
}

// following makes items for a page of the lines of an owner.
type following struct {
	*neighbour
	to        *reader
	events    live.Events
	seen      map[string]bool // by the identity of what was shown
	questions map[string]item // that wait
}

func (f *following) line(l live.Line) {
	for _, e := range f.events.Of(l) {
		id := live.Identity(e)
		if f.seen[id] {
			continue
		}
		if id != "" {
			f.seen[id] = true
		}
		if done, is := e.(session.MessageDone); is && uistream.Prompts(done.Message) {
			f.to.put(item{event: e, prompts: true})
			continue
		}
		f.to.put(item{event: e})
	}
	switch l.Type {
	case "live":
		f.to.put(item{joins: true})
	case "missed", "anew":
		f.to.put(item{anew: true})
	case "mode":
		var told struct {
			Mode string `json:"permission_mode"`
		}
		if json.Unmarshal(l.Raw, &told) == nil {
			f.mu.Lock()
			f.status.Mode = told.Mode
			f.mu.Unlock()
			nudge(f.to.woken)
		}
	case "question":
		var q live.Question
		if json.Unmarshal(l.Raw, &q) == nil {
			it := f.question(q)
			f.questions[q.Question] = it
			f.to.put(it)
		}
	case "answered":
		var told live.Settled
		if json.Unmarshal(l.Raw, &told) != nil {
			return
		}
		if it, is := f.questions[told.Question]; is {
			delete(f.questions, told.Question)
			if it.answered = "by " + told.By; told.By == "" {
				it.answered = "where the session is"
			}
			f.to.put(it)
		}
	}
}

// question is one of the owner.
func (b *neighbour) question(q live.Question) item {
	w := &asked{Question: uistream.Question{ID: b.named(q.Question), Kind: uistream.Inquiry, Call: q.Call, Tool: q.Name, Agent: q.Agent, Text: q.Text, Choices: q.Choices}, elsewhere: true}
	if q.Problem != "" {
		w.Text = q.Problem
	}
	if a, is := live.Permission(q); is {
		w.Kind, w.ask = uistream.Permission, &a
	} else {
		w.inquiry = &ask.Question{Title: q.Title, Agent: q.Agent, Text: q.Text, Choices: q.Choices}
	}
	return item{question: &w.Question, asked: w}
}

// named is a question by a name that no other owner of the session gives: each counts from 1.
func (b *neighbour) named(question string) string {
	return question + "." + b.hello.Since.UTC().Format("20060102T150405.000000000")
}

// fill tells what the session does.
func (b *neighbour) fill(to *bar) {
	b.mu.Lock()
	defer b.mu.Unlock()
	to.State = map[live.State]string{live.Working: "running", live.Waiting: "waiting"}[b.status.State]
	if to.State == "" {
		to.State = "idle"
	}
	if b.status.Doing != "" {
		to.Doing = b.status.Doing
	}
	to.Mode, to.Effort = b.status.Mode, b.status.Effort
	to.Queue, to.Steered = b.status.Queued, b.status.Steered
	if to.Cost == nil && b.status.Cost > 0 {
		cost := b.status.Cost
		to.Cost = &cost
	}
}

// describe tells what the session does, for the list.
func (b *neighbour) describe(to *row) *live.Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	to.model = b.hello.Provider + "/" + b.hello.Model
	now := b.status
	if now.Cost > 0 {
		to.cost = &now.Cost
	}
	return &now
}

func (b *neighbour) works(h session.Head) Status {
	s := b.house.Status(h)
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Model, s.Folder, s.Mode, s.Effort, s.Sandbox = b.hello.Provider+"/"+b.hello.Model, b.hello.Cwd, b.status.Mode, b.status.Effort, ""
	return s
}

// blocks shows a call of the log, or of the socket, where its blocks stand in the metadata.
func (b *neighbour) blocks(name string, metadata json.RawMessage) []tool.Block {
	if drawn := live.Blocks(name, metadata); len(drawn) > 0 {
		return drawn
	}
	return b.house.Blocks(name, metadata)
}

// ownersChoices are the choices of a permission as an owner names them; it offers no others.
var ownersChoices = map[ask.Choice]string{ask.Deny: "no", ask.Once: "once", ask.ForSession: "session"}

// control asks the owner.
func (b *neighbour) control(ctx context.Context, r control.Request) (any, error) {
	out, err := b.asks(ctx, live.Control{Type: "control", Request: r})
	if err == nil && r.Do == control.Set && r.Name == "model" {
		return done{ID: b.hello.Session}, nil
	}
	return out, err
}

func (b *neighbour) stopped(ctx context.Context) error {
	return b.say(ctx, live.Abort{Type: "abort"})
}

// repeated makes the newest answer again: its prompt is taken back, and sent once more.
func (b *neighbour) repeated(ctx context.Context) error {
	turn, err := newest(ctx, b.house, b.hello.Session)
	if err == nil {
		_, err = b.control(ctx, control.Request{Do: control.Rewind})
	}
	if err != nil {
		return err
	}
	line := live.Prompt{Type: "prompt", Text: turn.prompt.Text()}
	for _, p := range turn.prompt.Parts {
		if p.Attachment != nil {
			line.Files = append(line.Files, live.File{Name: p.Attachment.Name, Data: p.Attachment.Data})
		}
	}
	return b.say(ctx, line)
}

func (b *neighbour) answered(ctx context.Context, a action) error {
	line := live.Answer{Type: "answer", Text: a.Text, Reason: a.Reason, Refused: a.Refused}
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

// prompted hands on what the user says. A remark to no turn is a prompt there.
func (b *neighbour) prompted(ctx context.Context, a action) (any, error) {
	line := live.Prompt{Type: "steer", Text: a.Text}
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
	if b.hello.Once {
		line.Once = a.Once
	}
	return done{Text: "sent"}, b.say(ctx, line)
}

// hand sends what the user says in a prompt of its own, or as a remark.
func (b *neighbour) hand(ctx context.Context, p Prompt) error {
	line := live.Prompt{Type: "steer", Text: p.Text + p.Beside}
	for _, a := range p.Attachments {
		line.Type, line.Files = "prompt", append(line.Files, live.File{Name: a.Name, Data: a.Data})
	}
	return b.say(ctx, line)
}

// cancelled ends one running call, by what it is called on the page.
func (b *neighbour) cancelled(ctx context.Context, name string) error {
	var found tool.CallID
	err := b.house.Log(ctx, b.hello.Session, 0, func(_ int64, e session.Entry) error {
		for _, ev := range events(e) {
			if call, parent := whose(ev); call != "" && parent == "" && htmlstream.CallID(call) == name {
				found = call
			}
		}
		return nil
	})
	if err == nil && found == "" {
		err = &refusal{http.StatusConflict, "that call has ended already"}
	}
	if err != nil {
		return err
	}
	return b.say(ctx, live.Abort{Type: "abort", Call: string(found)})
}

// unfinished finds the message that was arriving at the end of a log, and where it began: its owner
// tells that from its beginning.
type unfinished struct {
	message string
	before  int64 // the entry before its first piece
}

func (u *unfinished) add(seq int64, e session.Entry) {
	switch e.Type {
	case session.FragmentEntry:
		var f session.Fragment
		if json.Unmarshal(e.Data, &f) == nil && f.Message != u.message {
			*u = unfinished{f.Message, seq - 1}
		}
	case session.MessageEntry:
		var m session.Message
		if json.Unmarshal(e.Data, &m) == nil && m.ID == u.message {
			*u = unfinished{}
		}
	}
}

// has reports an event that is a piece of the message.
func (u unfinished) has(e session.Event) bool {
	switch e := e.(type) {
	case session.TextDelta:
		return u.message != "" && e.Message == u.message
	case session.ReasoningDelta:
		return u.message != "" && e.Message == u.message
	}
	return false
}

// seenIn are the identities of events.
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
