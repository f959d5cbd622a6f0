package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/live/control"
	"adze/internal/stream"
	"adze/internal/stream/ask"
	"adze/internal/stream/lineprotocol"
	"adze/internal/text/lineread"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
)

// Config configures an owner.
type Config struct {
	Folder string // of the sockets
	ID     session.ID
	// Hello returns a client's first line. The owner sets Type, Protocol, Session, PID, OwnedSince and
	// Status.
	Hello func() Hello
	// Log passes the entries after a number to each, in order. It must not block appending.
	Log func(ctx context.Context, after int64, each func(seq int64, e session.Entry) error) error
	// Position returns the number of the newest appended entry.
	Position func() int64
	// Mode returns the present permission mode.
	Mode func() string
	// Blocks returns the blocks to display for a call's metadata. Optional.
	Blocks func(tool string, metadata json.RawMessage) []tool.Block
	// Redact removes content of an event that must not be displayed. Optional.
	Redact func(session.Event) session.Event
	// Mask masks secrets; nil masks only those recognized by their shape.
	Mask func() *redact.Masker
	// ParentCall explains why a process belongs to a call of adze, or returns "".
	ParentCall func(pid int) string
	// Act runs a line of --input-format stream-json, except answers.
	Act func(from Peer, raw []byte) error
	// Control runs a client's request. Optional.
	Control func(ctx context.Context, from Peer, r control.Request) (any, error)
	// Works returns the session's Works for each Refresh. If nil, clients do not get them.
	Works func() Works
	// Release makes the owner end its turn and close. Optional.
	Release func(to Peer)
	// Confirm asks the user in the owner's own window whether a client of another login may steer.
	// If nil, without such a window, it may.
	Confirm func(ctx context.Context, p Peer) error
	// Record logs a client's action. Optional.
	Record func(p Peer, act string)
	// OnDisconnect is called after a client has disconnected. Optional.
	OnDisconnect func()
}

// An Owner is the side of the process that writes a session. It is safe for concurrent use.
type Owner struct {
	config   Config
	since    time.Time
	listen   listener
	talk     *lineprotocol.Talk // the questions
	ctx      context.Context
	cancel   context.CancelFunc
	ends     sync.WaitGroup
	later    func(time.Duration, func()) // calls a function after a delay
	asking   context.Context             // context of requests
	giveUp   context.CancelFunc          // cancels asking
	requests sync.WaitGroup              // in progress

	mu       sync.Mutex
	closing  bool // accepts no more requests
	watchers map[*watcher]struct{}
	news     news
	asked    []openQuestion // waiting questions
	answers  map[string]Peer
	status   Status
	works    Works
	running  []tool.Event // calls, oldest first
	turn     bool         // a turn runs
}

type openQuestion struct {
	name  string
	line  []byte
	about string // short description
}

// Listen makes a session watchable until Close. The caller must hold the session's lock: an
// existing socket belongs to a killed process.
func Listen(c Config) (*Owner, error) {
	if c.Mask == nil {
		c.Mask = func() *redact.Masker { return &redact.Masker{} }
	}
	if err := prepare(c.Folder); err != nil {
		return nil, fmt.Errorf("the folder of live sessions: %w", err)
	}
	at := path(c.Folder, c.ID)
	l, err := listen(at)
	if err != nil {
		return nil, err
	}
	o := &Owner{config: c, since: time.Now(), listen: l, watchers: map[*watcher]struct{}{}, answers: map[string]Peer{}, status: Status{State: Idle},
		later: func(d time.Duration, do func()) { time.AfterFunc(d, do) }}
	o.ctx, o.cancel = context.WithCancel(context.Background())
	o.asking, o.giveUp = context.WithCancel(o.ctx)
	o.news = news{owner: o}
	o.talk = lineprotocol.New(&stream.Printer{Out: &splitter{to: o.ask}, Format: stream.StreamJSON, Mask: c.Mask})
	o.talk.OnSettled = o.settled
	o.ends.Go(o.accept)
	ring(at)
	return o, nil
}

// ring notifies watchers of the folder: a socket did not accept connections when its file appeared.
func ring(at string) {
	bell := strings.TrimSuffix(at, end) + ".up"
	if f, err := os.OpenFile(bell, os.O_CREATE|os.O_WRONLY, 0o600); err == nil { // else it is found at the next change
		_ = f.Close() // nothing was written
		_ = os.Remove(bell)
	}
}

// Close informs all watchers that the session is released, and to whom, if known.
func (o *Owner) Close(why string) {
	o.listen.Close()
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.giveUp()
	o.requests.Wait() // each gets its reply
	o.mu.Lock()
	for w := range o.watchers {
		w.close(encode(ownerLine{Type: closingLine, Reason: why}))
	}
	o.mu.Unlock()
	o.cancel()
	o.ends.Wait()
}

// Watched returns the number of clients that watch the whole session.
func (o *Owner) Watched() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.watched()
}

func (o *Owner) watched() (n int) {
	for w := range o.watchers {
		if w.all {
			n++
		}
	}
	return n
}

func (o *Owner) accept() {
	for {
		c, err := o.listen.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no file descriptor available; later ones may succeed
			select {
			case <-time.After(time.Second):
				continue
			case <-o.ctx.Done():
				return
			}
		}
		o.ends.Go(func() { o.serve(c) })
	}
}

// ownerLine is a line written by the owner itself. Its type determines the fields used.
type ownerLine struct {
	Type     string       `json:"type"`
	Call     tool.CallID  `json:"call,omitempty"`
	Blocks   []tool.Block `json:"blocks,omitempty"`
	Question string       `json:"question,omitempty"`
	Client   string       `json:"by,omitempty"`
	Events   int          `json:"events,omitempty"`
	Line     int          `json:"line,omitempty"`
	Message  string       `json:"message,omitempty"`
	Hint     string       `json:"hint,omitempty"`
	Reason   string       `json:"why,omitempty"`
	After    int64        `json:"after,omitempty"` // a log position
}

// watch is a client's first line.
type watch struct {
	Type  string `json:"type"` // watch
	Kind  string `json:"as"`
	After int64  `json:"after"`
	// Only is empty, or "state" to receive only Status.
	Only string `json:"only,omitempty"`
}

func encode(v any) []byte { return []byte(stream.Line(v) + "\n") }

func (o *Owner) hello() Hello {
	h := o.config.Hello()
	h.Type, h.Protocol, h.Session, h.PID, h.OwnedSince = helloLine, Protocol, o.config.ID, os.Getpid(), o.since
	o.mu.Lock()
	defer o.mu.Unlock()
	h.Status = o.status
	return h
}

// longestLine limits a client's line, in bytes.
const longestLine = 16 << 20

// serve handles one client until it disconnects.
func (o *Owner) serve(c connection) {
	defer c.Close()
	p, why := examine(c, o.config.ParentCall)
	if why != "" {
		_, _ = c.Write(encode(ownerLine{Type: refusedLine, Message: why})) // an absent client does not read it
		return
	}
	if _, err := c.Write(encode(o.hello())); err != nil {
		return
	}
	stop := context.AfterFunc(o.ctx, func() { c.CloseRead() })
	defer stop()
	in := lineread.New(c, longestLine)
	raw, err := in.Next()
	var first watch
	if err != nil || json.Unmarshal(raw, &first) != nil || first.Type != "watch" {
		return // it only checked for an owner
	}
	p.Kind = first.Kind
	w := newWatcher(c, o, first)
	o.join(w)
	o.ends.Go(w.run)
	o.heed(in, p, w)
	o.leave(w)
	if o.ctx.Err() == nil { // the client disconnected
		_ = c.Close()
	}
	<-w.done
	if o.config.OnDisconnect != nil {
		o.config.OnDisconnect()
	}
}

// heed runs a client's lines.
func (o *Owner) heed(in *lineread.Reader, p Peer, w *watcher) {
	steers := false
	slots := make(chan struct{}, atOneTime)
	for n := 2; ; n++ {
		raw, err := in.Next()
		if err != nil && !errors.Is(err, lineread.ErrLong) {
			return
		}
		request, is, broken := readControl(raw)
		looks := is && (broken != nil || request.Looks())
		if err == nil && !steers && !looks {
			err = o.maySteer(p)
			steers = err == nil
		}
		switch {
		case is:
			o.begin(request, n, cmp.Or(broken, err), p, w, slots)
			continue
		case err == nil:
			err = o.act(p, raw)
		}
		line := ownerLine{Type: acceptedLine, Line: n}
		if err != nil {
			why := failure(err)
			line = ownerLine{Type: unreadLine, Line: n, Message: why.Message, Hint: why.Hint}
		}
		w.say(encode(line))
	}
}

// maySteer asks for confirmation of a client of another login.
func (o *Owner) maySteer(p Peer) error {
	if o.config.Confirm == nil || p.Login == loginOf(os.Getpid()) {
		return nil
	}
	if err := o.config.Confirm(o.ctx, p); err != nil {
		return usage.Mistake("it is asked again with the next line", "the user at the session's own window did not let %s steer it: %v", p, err)
	}
	return nil
}

// act runs one line and records its sender.
func (o *Owner) act(p Peer, raw []byte) error {
	var l struct {
		Type     string `json:"type"`
		Question string `json:"question"`
		Choice   string `json:"choice"`
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return usage.Mistake("write one JSON object on a line", "the line cannot be read: %v", err)
	}
	var err error
	switch l.Type {
	case "take":
		if o.config.Release == nil {
			return usage.Mistake("end it where it was started", "this process does not let go of the session")
		}
		o.config.Release(p)
	case "answer":
		err = o.answer(p, l.Question, raw)
	default:
		if o.config.Act == nil {
			return usage.Mistake("take the session over to prompt it", "this process takes no prompts")
		}
		err = o.config.Act(p, raw)
	}
	if err != nil {
		return err
	}
	what := l.Type
	if l.Question != "" {
		what += " " + l.Question + " " + cmp.Or(l.Choice, "in words")
	}
	if o.config.Record != nil {
		o.config.Record(p, what)
	}
	return nil
}

// answer passes an answer on; the first valid one counts.
func (o *Owner) answer(p Peer, name string, raw []byte) error {
	o.mu.Lock()
	o.answers[name] = p
	o.mu.Unlock()
	err := o.talk.TakeOf(p.String(), raw)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.answers, name)
	}
	return err
}

// Ask sends a permission question to all clients and returns the first valid answer.
func (o *Owner) Ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	return o.talk.Ask(ctx, a)
}

// Inquire sends a question of the model to all clients.
func (o *Owner) Inquire(ctx context.Context, q ask.Question) (string, error) {
	return o.talk.Inquire(ctx, q)
}

func (o *Owner) ask(line []byte) {
	var q Question
	if json.Unmarshal(line, &q) != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = append(o.asked, openQuestion{q.Question, line, about(q)})
	o.spread(item{line: line})
	o.stated()
}

func about(q Question) string {
	text := q.Title
	switch {
	case len(q.Needs) > 0:
		text = q.Name + " " + q.Needs[0].Target
	case text == "":
		text = q.Text
	}
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return text
}

// settled withdraws a question.
func (o *Owner) settled(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = slices.DeleteFunc(o.asked, func(a openQuestion) bool { return a.name == name })
	line := ownerLine{Type: answeredLine, Question: name}
	if p, ok := o.answers[name]; ok {
		line.Client = p.String()
		delete(o.answers, name)
	}
	o.spread(item{line: encode(line)})
	o.stated()
}

// stated sends the session's state if it has changed. The caller holds o.mu.
func (o *Owner) stated() {
	now := Status{State: Idle, Questions: len(o.asked), Cost: o.status.Cost, Works: o.works}
	switch {
	case now.Questions > 0:
		now.State = Waiting
	case o.turn:
		now.State = Working
	}
	if n := len(o.running); n > 0 {
		now.Activity = cmp.Or(o.running[n-1].Title, o.running[n-1].Tool)
	}
	if len(o.asked) > 0 {
		now.Activity = cmp.Or(o.asked[0].about, now.Activity)
	}
	if !reflect.DeepEqual(now, o.status) {
		o.status = now
		if len(o.watchers) > 0 { // join sends it to later ones
			o.spread(o.state())
		}
	}
}

// state returns the line with the session's state. The caller holds o.mu.
func (o *Owner) state() item {
	return item{kind: stateItem, line: encode(struct {
		Type string `json:"type"`
		Status
	}{stateLine, o.status})}
}

// turns tracks the session's state. The caller holds o.mu.
func (o *Owner) turns(e session.Event) {
	switch e := e.(type) {
	case session.MessageDone:
		o.turn = o.turn || e.Message.Role == session.User && !e.Message.Note
	case session.TurnEnd:
		o.turn, o.running = false, nil
	case session.Requested:
		if e.Cost != nil {
			o.status.Cost += *e.Cost
		}
	case session.ToolStart:
		o.turn = o.turn || e.Parent == "" // also a user's own command, whose event comes at its end
		o.running = append(o.running, e.Event)
	case session.ToolUpdate:
		for i := range o.running {
			if o.running[i].Call == e.Call && e.Title != "" {
				o.running[i].Title = e.Title
			}
		}
	case session.ToolEnd:
		o.running = slices.DeleteFunc(o.running, func(r tool.Event) bool { return r.Call == e.Outcome.Call })
	}
}

// Observe receives an event of the session. It never waits for a watcher.
func (o *Owner) Observe(e session.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turns(e)
	if o.config.Works != nil && o.config.Mode != nil && Identity(e) != "" {
		o.works.Mode = o.config.Mode() // an accepted plan changes it
	}
	o.news.add(e)
	o.stated()
}

// view returns the line with a call's blocks, or nil without any.
func (o *Owner) view(call tool.CallID, name string, metadata json.RawMessage) []byte {
	if o.config.Blocks == nil || len(metadata) == 0 {
		return nil
	}
	blocks := o.config.Blocks(name, metadata)
	if len(blocks) == 0 {
		return nil
	}
	return append(o.config.Mask().JSON([]byte(stream.Line(ownerLine{Type: viewLine, Call: call, Blocks: blocks}))), '\n')
}

// spread sends a line to all watchers. The caller holds o.mu.
func (o *Owner) spread(i item) {
	for w := range o.watchers {
		if w.all || i.kind == stateItem {
			w.add(i)
		}
	}
}

// join adds a watcher, starting with unlogged events. A watcher that missed events joins again.
func (o *Owner) join(w *watcher) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.set(func() { w.droppedEvents = 0 })
	if delete(o.watchers, w); w.all { // avoids duplicates
		for _, l := range o.news.unlogged() {
			w.add(l)
		}
		for _, q := range o.asked {
			w.add(item{line: q.line})
		}
	}
	w.add(o.state())
	o.watchers[w] = struct{}{}
}

func (o *Owner) leave(w *watcher) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.watchers, w)
	w.end()
}
