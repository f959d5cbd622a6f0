package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
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

// Config is what an owner needs of the program.
type Config struct {
	Folder string // of the sockets
	ID     session.ID
	// Hello is what a client is told first. Type, Protocol, Session, PID, Since and Status are
	// filled in.
	Hello func() Hello
	// Log hands over the entries behind a number, in order. It must not hold up who appends.
	Log func(ctx context.Context, after int64, each func(seq int64, e session.Entry) error) error
	// Position is the number of the newest entry that was appended.
	Position func() int64
	// Mode is the permission mode in force.
	Mode func() string
	// Blocks are what a pane draws of a call's metadata; if nil, nothing.
	Blocks func(tool string, metadata json.RawMessage) []tool.Block
	// Redact takes out of an event what is not for the screen; if nil, nothing.
	Redact func(session.Event) session.Event
	// Mask hides secrets; if nil, only those that are known by their look.
	Mask func() *redact.Masker
	// ParentCall explains why a process belongs to a call of adze; if empty, it belongs to none.
	ParentCall func(pid int) string
	// Act does what a line of --input-format stream-json says that is no answer.
	Act func(from Peer, raw []byte) error
	// Control does what a client asks for; if nil, nothing is.
	Control func(ctx context.Context, from Peer, r control.Request) (any, error)
	// Works tells how the session works, each time that Refresh is called; if nil, clients are not
	// told.
	Works func() Works
	// Release has the owner end its turn and close; if nil, it cannot be had to.
	Release func(to Peer)
	// Confirm asks the user in the owner's own window whether a client of another login may steer; if
	// nil, there is no window, and it may.
	Confirm func(ctx context.Context, p Peer) error
	// Record writes down what a client did; if nil, nobody does.
	Record func(p Peer, act string)
	// Left is called when a client has gone; if nil, nobody cares.
	Left func()
}

// Owner is the side of the process that writes a session. It is safe for concurrent use.
type Owner struct {
	config   Config
	since    time.Time
	listen   listener
	talk     *lineprotocol.Talk // the questions
	ctx      context.Context
	cancel   context.CancelFunc
	ends     sync.WaitGroup
	later    func(time.Duration, func()) // calls a function after some time
	asking   context.Context             // of requests
	giveUp   context.CancelFunc          // ends asking
	requests sync.WaitGroup              // that are worked on

	mu       sync.Mutex
	closing  bool // no request is begun any more
	watchers map[*watcher]struct{}
	news     news
	asked    []openQuestion // questions that wait
	answers  map[string]Peer
	status   Status
	works    Works
	running  []tool.Event // calls, oldest first
	turn     bool         // one runs
}

// openQuestion is a question that waits.
type openQuestion struct {
	name  string
	line  []byte
	about string // in a few words
}

// Listen has a session be watched until Close. The caller has the session's lock: a socket that is
// there is one of a process that was killed.
func Listen(c Config) (*Owner, error) {
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
	o.talk.Settled = o.settled
	o.ends.Go(o.accept)
	ring(at)
	return o, nil
}

// ring wakes who waits in the folder: a socket that was just made did not take connections yet.
func ring(at string) {
	bell := strings.TrimSuffix(at, end) + ".up"
	if f, err := os.OpenFile(bell, os.O_CREATE|os.O_WRONLY, 0o600); err == nil { // else it is found at the next change
		_ = f.Close() // nothing was written
		_ = os.Remove(bell)
	}
}

// Close tells all watchers that the session is let go, and to whom where that is known.
func (o *Owner) Close(why string) {
	o.listen.Close()
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.giveUp()
	o.requests.Wait() // each has its answer
	o.mu.Lock()
	for w := range o.watchers {
		w.close(encode(ownerLine{Type: closingLine, Why: why}))
	}
	o.mu.Unlock()
	o.cancel()
	o.ends.Wait()
}

// Watched counts the clients that see all of the session.
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
		if err != nil { // no file is left for one more; the next who asks may find one
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

// ownerLine is a line that an owner writes itself; its type says which fields it has.
type ownerLine struct {
	Type     string       `json:"type"`
	Call     tool.CallID  `json:"call,omitempty"`
	Blocks   []tool.Block `json:"blocks,omitempty"`
	Question string       `json:"question,omitempty"`
	By       string       `json:"by,omitempty"`
	Events   int          `json:"events,omitempty"`
	Line     int          `json:"line,omitempty"`
	Message  string       `json:"message,omitempty"`
	Hint     string       `json:"hint,omitempty"`
	Why      string       `json:"why,omitempty"`
	After    int64        `json:"after,omitempty"` // a position in the log
}

// watch is the first line of a client.
type watch struct {
	Type  string `json:"type"` // watch
	As    string `json:"as"`
	After int64  `json:"after"`
	// Only is empty, or state: nothing but Status is told.
	Only string `json:"only,omitempty"`
}

func encode(v any) []byte { return []byte(stream.Line(v) + "\n") }

// hello is the first line for a client.
func (o *Owner) hello() Hello {
	h := o.config.Hello()
	h.Type, h.Protocol, h.Session, h.PID, h.Since = helloLine, Protocol, o.config.ID, os.Getpid(), o.since
	o.mu.Lock()
	defer o.mu.Unlock()
	h.Status = o.status
	return h
}

// longestLine bounds what a client writes.
const longestLine = 16 << 20

// serve talks with one client until it leaves.
func (o *Owner) serve(c connection) {
	defer c.Close()
	p, why := examine(c, o.config.ParentCall)
	if why != "" {
		_, _ = c.Write(encode(ownerLine{Type: refusedLine, Message: why})) // a client that is gone does not read it
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
		return // it wanted to know that the owner is there
	}
	p.As = first.As
	w := newWatcher(c, o, first)
	o.join(w)
	o.ends.Go(w.run)
	o.heed(in, p, w)
	o.leave(w)
	if o.ctx.Err() == nil { // the client left, and reads no more
		_ = c.Close()
	}
	<-w.done
	if o.config.Left != nil {
		o.config.Left()
	}
}

// heed does what a client says, line by line.
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

// maySteer has a client of another login be confirmed in the owner's window.
func (o *Owner) maySteer(p Peer) error {
	if o.config.Confirm == nil || p.Login == loginOf(os.Getpid()) {
		return nil
	}
	if err := o.config.Confirm(o.ctx, p); err != nil {
		return usage.Mistake("it is asked again with the next line", "the user at the session's own window did not let %s steer it: %v", p, err)
	}
	return nil
}

// act does what one line says, and writes down who said it.
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

// answer takes an answer; the first one that can be followed counts.
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

// Ask puts a question of the gate to all clients. It returns the first answer that can be followed.
func (o *Owner) Ask(ctx context.Context, a ask.Permission) (ask.Answer, error) {
	return o.talk.Ask(ctx, a)
}

// Inquire puts a question of the model to all clients.
func (o *Owner) Inquire(ctx context.Context, q ask.Question) (string, error) {
	return o.talk.Inquire(ctx, q)
}

// ask shows all clients a question.
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

// about says in a few words what a question is about.
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

// settled takes a question back.
func (o *Owner) settled(name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = slices.DeleteFunc(o.asked, func(a openQuestion) bool { return a.name == name })
	line := ownerLine{Type: answeredLine, Question: name}
	if p, ok := o.answers[name]; ok {
		line.By = p.String()
		delete(o.answers, name)
	}
	o.spread(item{line: encode(line)})
	o.stated()
}

// stated shows what the session does now, where that has changed. The caller holds o.mu.
func (o *Owner) stated() {
	now := Status{State: Idle, Questions: len(o.asked), Cost: o.status.Cost, Works: o.works}
	switch {
	case now.Questions > 0:
		now.State = Waiting
	case o.turn:
		now.State = Working
	}
	if n := len(o.running); n > 0 {
		now.Doing = cmp.Or(o.running[n-1].Title, o.running[n-1].Tool)
	}
	if len(o.asked) > 0 {
		now.Doing = cmp.Or(o.asked[0].about, now.Doing)
	}
	if !now.same(o.status) {
		o.status = now
		if len(o.watchers) > 0 { // join tells one that comes later
			o.spread(o.state())
		}
	}
}

// state is the line with what the session does. The caller holds o.mu.
func (o *Owner) state() item {
	return item{kind: stateItem, line: encode(struct {
		Type string `json:"type"`
		Status
	}{stateLine, o.status})}
}

// turns follows what the session does. The caller holds o.mu.
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
		o.turn = o.turn || e.Parent == "" // also a command of the user's own, which is told when it has ended
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

// Observe takes an event of the session. It never waits for a watcher.
func (o *Owner) Observe(e session.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.turns(e)
	if o.config.Works != nil && o.config.Mode != nil && Identity(e) != "" {
		o.works.Mode = o.config.Mode() // a plan that was accepted changes it
	}
	o.news.add(e)
	o.stated()
}

// view is the line with what a pane draws of a call; if nil, there is nothing.
func (o *Owner) view(call tool.CallID, name string, metadata json.RawMessage) []byte {
	if o.config.Blocks == nil || len(metadata) == 0 {
		return nil
	}
	blocks := o.config.Blocks(name, metadata)
	if len(blocks) == 0 {
		return nil
	}
	return append(o.mask().JSON([]byte(stream.Line(ownerLine{Type: viewLine, Call: call, Blocks: blocks}))), '\n')
}

// spread hands a line to all watchers. The caller holds o.mu.
func (o *Owner) spread(i item) {
	for w := range o.watchers {
		if w.all || i.kind == stateItem {
			w.add(i)
		}
	}
}

// join has a watcher see what happens from here on, and first what the log does not hold yet. One
// that has missed events joins again.
func (o *Owner) join(w *watcher) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w.set(func() { w.missed = 0 })
	if delete(o.watchers, w); w.all { // so that nothing reaches it twice
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
