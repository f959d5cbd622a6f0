package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/run/process"
	"adze/internal/sessiondb"
	"adze/internal/stream/ask"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/tui"
	"adze/tui/plain"
)

// attachedView is an interface for a session that another process owns: it shows events, sends
// prompts and answers, stops turns, and can take over the session. Leaving it ends nothing there.
type attachedView struct {
	app       *terminal
	logs      *sessiondb.Store
	id        session.ID
	folder    string // folder of the sockets
	leave     context.CancelFunc
	takenOver atomic.Bool // the session is taken over here

	ui     *tui.UI
	events live.Events
	seen   map[string]bool // identities of shown events
	left   atomic.Bool     // the user is leaving this window
	after  int64           // log position up to which all was shown

	known   chan struct{} // closed once it is known whether there is an owner
	settled sync.Once     // closes known

	mu        sync.Mutex
	client    *live.Client // nil without an owner
	none      error        // why there is no owner
	working   bool
	turns     []chan session.Result         // waiting for the end of a turn
	questions map[string]context.CancelFunc // shown questions
	calls     []chan struct{}               // waiting for the end of a call
	since     api.Baseline                  // starting point of the shown hunks
}

// thisWindow is how the owner names this window to the user.
func thisWindow() string { return live.Peer{PID: os.Getpid(), Kind: "terminal"}.String() }

// Slash commands besides prompts.
const (
	detachIt = "detach"
	stopIt   = "stop"
	takeIt   = "take"
)

func (w *attachedView) run(ctx context.Context, o *flags.Request, theme string) error {
	attaching, leave := context.WithCancel(ctx)
	defer leave()
	w.leave = leave
	w.seen, w.questions, w.known = map[string]bool{}, map[string]context.CancelFunc{}, make(chan struct{})
	a := w.app
	if a.linesOnly(&o.Run) && a.lines == nil {
		a.lines = plain.ReadLines(a.In)
	}
	info := tui.Info{Version: Version, Mode: "attached", Session: string(w.id), Back: o.Back, Watches: true, Commands: func() []api.Named {
		return []api.Named{
			{Name: takeIt, Help: "go on with the session here; its process ends its turn and attaches to this one"},
			{Name: stopIt, Help: "stop the turn that runs in the session"},
			{Name: detachIt, Help: "leave this window; the session goes on"},
		}
	}}
	client, err := w.dial(attaching)
	if err == nil {
		h := client.Hello
		info.Model, info.Mode, info.Effort, info.Cwd, info.Folder = h.Provider+"/"+h.Model, h.Mode, h.Effort, h.Cwd, h.Cwd
	}
	w.ui = tui.New(tui.Options{Send: w.send, Theme: theme, In: a.In, PendingKeys: &a.PendingKeys, Lines: a.lines, Out: a.Out, Env: a.Getenv, Copy: hostio.Copier(a.Getenv, info.Cwd), Info: info, Blocks: live.Blocks, Ports: w.ports(), Closing: func() { w.left.Store(true) }})
	a.ui.Store(w.ui)
	var ended sync.WaitGroup
	ended.Go(func() { w.follow(attaching, client, err) })
	if a.linesOnly(&o.Run) {
		err = w.ui.RunPlain(attaching)
	} else {
		err = w.ui.Run(attaching)
	}
	leave()
	w.hangUp()
	ended.Wait()
	if w.takenOver.Load() {
		w.ui.HandOn()
		return nil
	}
	return err
}

func (w *attachedView) dial(ctx context.Context) (*live.Client, error) {
	return live.Dial(ctx, w.folder, w.id, live.Subscription{Kind: "terminal", After: w.after})
}

func (w *attachedView) ports() api.Ports {
	p := api.Ports{Modes: hostio.Modes(""), Efforts: hostio.Efforts(),
		Steer: func(text string) bool {
			return w.isWorking() && w.sendLine(live.Input{Type: "steer", Text: text}, nil) == nil
		},
		CancelCall: func(id tool.CallID) bool { return w.sendLine(live.Input{Type: "abort", Call: string(id)}, nil) == nil },
	}
	w.steers(&p)
	return p
}

func (w *attachedView) isWorking() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.working
}

// settle tells the user and those who wait for an owner why there is none; nil means that there is
// one.
func (w *attachedView) settle(none error) {
	w.mu.Lock()
	w.none = none
	w.mu.Unlock()
	w.settled.Do(func() { close(w.known) })
	if none != nil {
		w.notify(told(none).Error())
	}
}

// owner returns the owner's connection. It waits until it is known whether there is one.
func (w *attachedView) owner(ctx context.Context) (*live.Client, error) {
	select {
	case <-w.known:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return w.now()
}

// now returns the owner's connection, or why there is none.
func (w *attachedView) now() (*live.Client, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client == nil {
		return nil, cmp.Or(w.none, live.ErrNobody)
	}
	return w.client, nil
}

// sendLine sends a line; refused is called if the owner rejects it, and defaults to a notice.
func (w *attachedView) sendLine(line any, refused func(why string)) error {
	client, err := w.now()
	if err != nil {
		return err
	}
	if refused == nil {
		refused = w.notify
	}
	return client.SendThen(line, func(r live.Reply) {
		if r.Error != nil {
			refused(r.Error.Error())
		}
	})
}

// hangUp disconnects from the owner.
func (w *attachedView) hangUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client != nil {
		_ = w.client.Close() // unblocks Next
	}
}

// follow shows the session across owners.
func (w *attachedView) follow(ctx context.Context, client *live.Client, err error) {
	// An owner closes its socket before it releases its lock, so both are watched.
	next, stop, failed := live.Await(w.folder, w.logs.Locks())
	if failed != nil {
		w.settle(fmt.Errorf("the session cannot be watched: %w", failed))
		return
	}
	defer stop()
	if errors.Is(err, live.ErrNobody) { // an owner may have appeared before the watch
		client, err = w.dial(ctx)
	}
	told := "" // holder that the user knows of
	for ctx.Err() == nil {
		switch {
		case err == nil:
			told = "its owner"
			w.notify(fmt.Sprintf("process %d has this session: messages and answers go there; /take goes on with it here, /detach leaves", client.Hello.PID))
			if err := w.watch(client); ctx.Err() == nil && !w.takenOver.Load() && !errors.Is(err, io.EOF) {
				told = nobody
				w.notify(err.Error() + "; /take goes on with it here")
			}
		case errors.Is(err, live.ErrRefused):
			w.settle(err)
			return
		default:
			if told = w.alone(ctx, told); next(ctx) != nil {
				return
			}
		}
		if w.takenOver.Load() {
			if placeOf(w.app.Process, w.logs, w.id).Freed(ctx) == nil {
				w.leave()
			}
			return
		}
		client, err = w.dial(ctx)
	}
}

// nobody stands for a session without a holder.
const nobody = "nobody"

// alone shows the log of a session whose owner cannot be watched. told is the holder that the user
// knows of; alone returns the new one.
func (w *attachedView) alone(ctx context.Context, told string) string {
	holder := cmp.Or(w.logs.Holder(w.id), nobody)
	// A closing owner still holds it for a moment.
	if holder == told || told != "" && holder != nobody {
		return told
	}
	err := w.logs.ScanEach(ctx, sessiondb.Scan{Session: w.id, After: w.after}, func(f sessiondb.ScanResult) error {
		w.after = f.Seq
		for _, e := range live.Logged(f.Entry) {
			w.show(e)
		}
		return nil
	})
	none := usage.Mistake("adze --resume "+string(w.id)+" --fork goes on with a copy", "%s has this session, and it cannot be watched there", holder)
	switch {
	case ctx.Err() != nil:
		return holder
	case err != nil:
		none = fmt.Errorf("the session cannot be read: %w", err)
	case holder == nobody:
		none = errElsewhere("nobody has the session any more")
	}
	w.settle(none)
	return holder
}

func (w *attachedView) notify(text string) {
	w.ui.Observe(session.Notice{Text: safeterm.Clean(text).String()})
}

// show shows an event once, and none that tells of this window's own act.
func (w *attachedView) show(e session.Event) {
	if n, ok := e.(session.Notice); ok && strings.HasPrefix(n.Text, "from another "+thisWindow()+": ") {
		return
	}
	if id := live.Identity(e); id != "" {
		if w.seen[id] {
			return
		}
		w.seen[id] = true
	}
	w.ui.Observe(e)
}

// watch shows one owner's events until it ends.
func (w *attachedView) watch(c *live.Client) (err error) {
	w.mu.Lock()
	w.client, w.working = c, c.Hello.State != live.Idle
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.client, w.none, w.working = nil, errElsewhere("the process that had the session has let go of it"), false
		for _, take := range w.questions {
			take()
		}
		w.mu.Unlock()
		w.settled.Do(func() { close(w.known) }) // the owner may have ended before it said its state
		w.callEnded()
		w.turnEnded(session.Result{Cause: session.CauseInterrupted, Message: "the process that had the session has let go of it"})
		_ = c.Close() // nothing is pending
	}()
	for {
		l, err := c.Next()
		if err != nil {
			return err
		}
		w.line(l)
	}
}

// line handles a line from the owner.
func (w *attachedView) line(l live.Line) {
	for _, e := range w.events.Decode(l) {
		w.show(e)
		switch e := e.(type) {
		case session.TurnEnd:
			w.turnEnded(e.Result)
		case session.ToolEnd:
			w.callEnded()
		}
	}
	var told struct {
		After    int64
		Events   int
		State    live.State
		Mode     string `json:"permission_mode"`
		Question string
		By       string
		Why      string
	}
	if json.Unmarshal(l.Raw, &told) != nil {
		return
	}
	switch l.Type {
	case "live":
		w.after = told.After
	case "missed":
		w.notify(fmt.Sprintf("this window was too slow for %d events; what the log has of them follows", told.Events))
	case "state":
		w.mu.Lock()
		w.working = told.State != live.Idle
		w.mu.Unlock()
		w.settle(nil)
		if told.State == live.Idle {
			w.callEnded()
		}
	case "mode":
		w.ui.InMode(told.Mode)
	case "question":
		var q live.Question
		if json.Unmarshal(l.Raw, &q) == nil {
			w.ask(q)
		}
	case "answered":
		w.mu.Lock()
		take := w.questions[told.Question]
		w.mu.Unlock()
		if take != nil {
			take()
			if told.By != "" && told.By != thisWindow() {
				w.notify("answered by " + told.By)
			}
		}
	case "closing":
		if told.Why != "" {
			w.notify(told.Why)
		}
	}
}

func (w *attachedView) turnEnded(r session.Result) {
	w.mu.Lock()
	turns := w.turns
	w.turns = nil
	w.mu.Unlock()
	for _, t := range turns {
		t <- r
	}
}

// nextTurn returns a channel for the end of the running or next turn.
func (w *attachedView) nextTurn() chan session.Result {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := make(chan session.Result, 1)
	w.turns = append(w.turns, t)
	return t
}

// send sends a prompt to the owner and waits for the end of its turn.
func (w *attachedView) send(ctx context.Context, p api.Prompt) session.Result {
	done := session.Result{Cause: session.CauseDone}
	name := strings.TrimPrefix(strings.TrimSpace(p.Text), "/")
	if name == detachIt {
		w.leave()
		return done
	}
	_, err := w.owner(ctx)
	switch {
	case name == takeIt:
		return w.take(ctx)
	case err != nil:
		return ended(err)
	case name == stopIt:
		if err := w.sendLine(live.Input{Type: "abort"}, nil); err != nil {
			return process.Failure(err)
		}
		return done
	}
	turns := 1
	if w.isWorking() {
		turns = 2 // the running one, then this
	}
	refused := make(chan string, 1)
	ended := w.nextTurn()
	if err := w.sendLine(live.Input{Type: "prompt", Text: p.Text, Attach: p.Attach}, func(why string) { refused <- why }); err != nil {
		return process.Failure(err)
	}
	for aborted := ctx.Done(); ; {
		select {
		case why := <-refused:
			return process.Failure(usage.Mistake("", "%s", why))
		case r := <-ended:
			if turns--; turns == 0 || r.Cause == session.CauseInterrupted {
				return r
			}
			ended = w.nextTurn()
		case <-aborted:
			aborted = nil
			if w.left.Load() {
				return done // the session continues without this window
			}
			if w.sendLine(live.Input{Type: "abort"}, nil) != nil {
				return session.Sort(session.ErrInterrupted)
			}
		}
	}
}

// take makes the owner release the session and ends this window, so that the session is opened
// here.
func (w *attachedView) take(ctx context.Context) session.Result {
	w.takenOver.Store(true)
	refused := make(chan string, 1)
	err := w.sendLine(struct {
		Type string `json:"type"`
	}{"take"}, func(why string) { w.takenOver.Store(false); refused <- why })
	switch {
	case err == nil: // follow ends this window when the owner has ended
		select {
		case <-ctx.Done():
		case why := <-refused:
			return process.Failure(usage.Mistake("", "%s", why))
		}
	case w.logs.Holder(w.id) == "":
		w.leave()
		<-ctx.Done() // keeps queued messages from starting here
	default:
		w.takenOver.Store(false)
		return process.Failure(usage.Mistake("try again, or end that process", "%s has the session and cannot be reached: %v", w.logs.Holder(w.id), err))
	}
	return session.Result{Cause: session.CauseDone}
}

// ask shows a question from the owner. The first answer counts, from any window.
func (w *attachedView) ask(q live.Question) {
	ctx, cancel := context.WithCancel(context.Background())
	w.mu.Lock()
	w.questions[q.Question] = cancel
	w.mu.Unlock()
	go func() {
		defer cancel()
		answer, err := w.answer(ctx, q)
		w.mu.Lock()
		delete(w.questions, q.Question)
		w.mu.Unlock()
		if err != nil || ctx.Err() != nil {
			return // asked elsewhere, or answered
		}
		answer.Type, answer.Question = "answer", q.Question
		err = w.sendLine(answer, func(why string) { q.Problem = why; w.ask(q) })
		if err != nil {
			w.notify("the answer did not reach the session: " + err.Error())
		}
	}()
}

func (w *attachedView) answer(ctx context.Context, q live.Question) (live.Input, error) {
	a, is := live.Permission(q)
	if !is {
		text, err := w.ui.Inquire(ctx, ask.Question{Title: q.Title, Agent: q.Agent, Text: q.Text, Choices: q.Choices, Said: q.Problem})
		return live.Input{Text: text}, err
	}
	got, err := w.ui.Ask(ctx, a)
	if err != nil {
		return live.Input{}, err
	}
	switch got.Choice {
	case ask.Once:
		return live.Input{Choice: "once", Text: got.Text, Refused: got.Refused, Reason: got.Reason}, nil
	case ask.ForSession:
		return live.Input{Choice: "session", Offer: &got.Offer}, nil
	}
	if got.Absent {
		return live.Input{}, ask.ErrClosed
	}
	return live.Input{Choice: "no", Reason: got.Reason}, nil
}

// errElsewhere returns an error for an operation that needs the owner.
func errElsewhere(what string) error {
	return usage.Mistake("/take goes on with the session here", "%s", what)
}

// control sends a request to the owner and waits for the reply; out, if not nil, receives the
// result.
func (w *attachedView) control(ctx context.Context, r control.Request, out any) error {
	client, err := w.owner(ctx)
	if err != nil {
		return err
	}
	result, err := client.Ask(ctx, live.Control{Type: "control", Request: r})
	var why *live.Failure
	switch {
	case errors.Is(err, live.ErrNobody):
		return errElsewhere("the process that had the session has let go of it")
	case errors.As(err, &why):
		return usage.Mistake(why.Hint, "%s", why.Message)
	case err != nil || out == nil:
		return err
	}
	return json.Unmarshal(result, out)
}

// callEnded reports that the running calls have ended.
func (w *attachedView) callEnded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		close(c)
	}
	w.calls = nil
}

// steers adds the operations that use control requests to the ports.
func (w *attachedView) steers(p *api.Ports) {
	p.Undo = func(ctx context.Context, u api.Undo) (out api.UndoResult, err error) {
		if u.Since || u.Git || u.Unknown {
			return out, errElsewhere("this window undoes only the last turn that changed files, and not git's own state or what changed while a call ran")
		}
		err = w.control(ctx, control.Request{Action: control.Undo, Redo: u.Redo, Dry: u.Dry}, &out)
		return out, err
	}
	p.Net = w.differences
	p.Revert = func(ctx context.Context, h api.NetHunk) session.Result { return w.hunk(ctx, control.Revert, h) }
	p.Stage = func(ctx context.Context, h api.NetHunk) session.Result { return w.hunk(ctx, control.Stage, h) }
	p.Run = func(ctx context.Context, command string) session.Result {
		return ended(w.control(ctx, control.Request{Action: control.Run, Text: command}, nil))
	}
	set := func(name, value string) error {
		if _, none := w.now(); none != nil {
			return none
		}
		go func() { // the interface must not block
			if err := w.control(context.Background(), control.Request{Action: control.Set, Name: name, Value: value}, nil); err != nil {
				w.notify(told(err).Error())
			}
		}()
		return nil
	}
	p.SetMode = func(name string) error { return set("mode", name) }
	p.SetEffort = func(name string) string {
		if set("effort", name) != nil {
			return ""
		}
		return name
	}
}

func ended(err error) session.Result {
	if errors.Is(err, context.Canceled) {
		return session.Sort(session.ErrInterrupted)
	}
	if err != nil {
		return process.Failure(err)
	}
	return session.Result{Cause: session.CauseDone}
}

// differences returns the net changes since a starting point, from the owner.
func (w *attachedView) differences(ctx context.Context, since api.Baseline) (out api.Net, err error) {
	var d control.Difference
	since = cmp.Or(since, api.SinceSession)
	if err := w.control(ctx, control.Request{Action: control.Changes, Since: since}, &d); err != nil {
		return out, err
	}
	out.Baseline, out.Files = d.Baseline, d.Files
	for i := range out.Files {
		for _, h := range out.Files[i].Hunks {
			out.Files[i].Diff += h.Text
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = since
	return out, nil
}

// hunk makes the owner act on a hunk from differences, and waits for the call.
func (w *attachedView) hunk(ctx context.Context, do string, h api.NetHunk) session.Result {
	w.mu.Lock()
	since := w.since
	over := make(chan struct{})
	w.calls = append(w.calls, over)
	w.mu.Unlock()
	if h.Number < 0 || h.Number >= len(h.File.Hunks) {
		return ended(usage.Mistake("look at the changes once more", "the file changed meanwhile"))
	}
	err := w.control(ctx, control.Request{Action: do, Since: since, File: h.File.Path, Hunk: h.Number, Hash: h.File.Hunks[h.Number].Hash}, nil)
	if err == nil {
		select {
		case <-over:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return ended(err)
}
