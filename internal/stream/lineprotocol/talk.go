// Package lineprotocol lets a program control a whole conversation: it writes prompts, remarks for
// the running turn, answers and aborts as JSON lines to stdin, and reads events from stdout.
//
// The one rule: every line has one effect or is rejected with its number; none is dropped silently,
// and an invalid one changes nothing.
//
// Start reading at Talk.Run, then line.go (input lines) and question.go (questions to the program).
//
// The end of stdin does not mean that the program has ended: it may still be reading. Its end is
// detected by a stdout without a reader (stdio.WatchReader), which ends the run.
//
// Known limits: answers apply to this conversation only; for a lasting rule use adze permission
// add. A line is limited to 16 MiB.
package lineprotocol

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"adze/internal/stream"
	"adze/internal/text/lineread"
	"adze/session"
	"adze/tool"
)

// A Conversation is controlled by a program. Prompt is called for one prompt at a time; the other
// methods are safe for concurrent use.
type Conversation interface {
	Prompt(ctx context.Context, p Prompt) session.Result
	Steer(text string) bool
	CancelCall(id tool.CallID) bool
	// Set sets a permission mode and an effort, also during a turn; "" keeps the current one.
	Set(mode, effort string) error
	// Model sets the model from the next prompt on. It is called between turns.
	Model(ctx context.Context, name string) error
}

// A Prompt is a turn's input.
type Prompt struct {
	ID     string // the program's name for it, repeated in its result
	Text   string
	Texts  string   // accompanying texts
	Attach []string // files
	Files  []tool.Attachment

	model string                               // instead of a prompt: the new model
	line  int                                  // line number of its request
	do    func(context.Context) session.Result // instead of a prompt: a user's action
	quiet bool                                 // do is not a turn
}

// A Talk is a conversation with a program.
type Talk struct {
	Out *stream.Printer
	// Turned is called after each turn, when all its work has ended. It may be nil.
	Turned func()
	// Changed is called when the queue or the running turn changes. It may be nil.
	Changed func()
	// OnSettled is called with the name of a question that is no longer waiting. It may be nil.
	OnSettled func(question string)

	mu      sync.Mutex
	prompts []Prompt
	steered []string // sent to the running turn, which has not read them yet
	asked   map[string]*question
	count   int                // questions so far
	abort   context.CancelFunc // aborts the running turn; nil if there is none
	taken   bool               // a prompt is in work, even before its turn runs
	ended   bool               // no more input
	over    bool               // no more work
	stirred chan struct{}      // the fields above have changed
}

// New returns a Talk with a program that reads out.
func New(out *stream.Printer) *Talk {
	return &Talk{Out: out, asked: map[string]*question{}, stirred: make(chan struct{}, 1)}
}

// Run runs the conversation until in ends and all prompts are done, or ctx ends. in may be nil. The
// prompts in first come before all others. The result has the last turn's end and all turns' usage.
func (t *Talk) Run(ctx context.Context, in io.Reader, with Conversation, first ...Prompt) session.Result {
	t.set(func() { t.prompts, t.ended = append(first, t.prompts...), in == nil })
	if in != nil {
		go t.read(in, with)
	}
	var all session.Result
	for turns := 0; ; {
		p, ok := t.next(ctx)
		switch {
		case ctx.Err() != nil:
			return sum(all, session.Sort(context.Cause(ctx)))
		case !ok && turns == 0:
			return session.Result{Cause: session.CauseUsage, Message: "stdin ended, and no prompt came",
				Hint: `write {"type":"prompt","text":"what to do"} and a line feed`}
		case !ok:
			return all
		case p.model != "":
			if err := with.Model(ctx, p.model); err != nil {
				t.Out.Unread(p.line, err)
			}
			continue
		}
		r := t.turn(ctx, with, p)
		if !p.quiet {
			turns++
		}
		if t.Turned != nil {
			t.Turned()
		}
		if p.quiet {
			continue
		}
		all = sum(all, r)
		if ctx.Err() != nil {
			return all
		}
		t.Out.Turn(p.ID, r)
	}
}

// turn runs one prompt to its end or an abort.
func (t *Talk) turn(ctx context.Context, with Conversation, p Prompt) session.Result {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.set(func() { t.abort = func() { cancel(session.ErrInterrupted) } })
	work := p.do
	if work == nil {
		work = func(ctx context.Context) session.Result { return with.Prompt(ctx, p) }
	}
	r := work(ctx)
	t.set(func() {
		t.abort, t.taken = nil, false
		for _, text := range t.steered { // the turn ended before it read them
			t.prompts = append(t.prompts, Prompt{Text: text})
		}
		t.steered = nil
	})
	t.changed()
	return r
}

// Idle reports whether no turn is running and no prompt is waiting.
func (t *Talk) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.taken && len(t.prompts)+len(t.steered) == 0
}

// Begin queues a user's action in place of a turn.
func (t *Talk) Begin(do func(context.Context) session.Result) error {
	ended := false
	t.set(func() {
		if ended = t.ended; !ended {
			t.prompts = append(t.prompts, Prompt{do: do})
		}
	})
	if ended {
		return ErrNobody
	}
	t.stir()
	return nil
}

// RunExclusive runs do if no turn is running or waiting, and returns at its end or ctx's. Otherwise
// it returns false.
func (t *Talk) RunExclusive(ctx context.Context, do func(context.Context)) (free bool, err error) {
	over := make(chan struct{})
	t.set(func() {
		if free = !t.ended && !t.taken && len(t.prompts)+len(t.steered) == 0; free {
			t.prompts = append(t.prompts, Prompt{quiet: true, do: func(ctx context.Context) session.Result {
				defer close(over)
				do(ctx)
				return session.Result{Cause: session.CauseDone}
			}})
		}
	})
	if !free {
		return false, nil
	}
	t.stir()
	select {
	case <-over:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// Waits returns the texts in waiting prompts and unread remarks.
func (t *Talk) Waits() (queued, steered []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.prompts {
		if p.Text != "" {
			queued = append(queued, p.Text)
		}
	}
	return queued, slices.Clone(t.steered)
}

// Unqueue removes a waiting prompt with this text, or returns false.
func (t *Talk) Unqueue(text string) (found bool) {
	t.set(func() {
		at := slices.IndexFunc(t.prompts, func(p Prompt) bool { return p.Text == text && text != "" })
		if found = at >= 0; found {
			t.prompts = slices.Delete(t.prompts, at, at+1)
		}
	})
	t.changed()
	return found
}

// HandleEvent handles an event: a remark that the model got is not prompted again.
func (t *Talk) HandleEvent(e session.Event) {
	done, ok := e.(session.MessageDone)
	if !ok || done.Message.Role != session.User || done.Message.Note {
		return
	}
	t.set(func() {
		if i := slices.Index(t.steered, done.Message.Text()); i >= 0 {
			t.steered = slices.Delete(t.steered, i, i+1)
		}
	})
	t.changed()
}

func (t *Talk) changed() {
	if t.Changed != nil {
		t.Changed()
	}
}

// next waits for a prompt, or returns false if there will be none.
func (t *Talk) next(ctx context.Context) (p Prompt, ok bool) {
	for {
		ended := false
		t.set(func() {
			if ok = len(t.prompts) > 0; ok {
				p, t.prompts = t.prompts[0], t.prompts[1:]
			}
			t.taken, ended = ok, t.ended
			t.over = ended && !ok || ctx.Err() != nil
		})
		if ok {
			t.changed()
		}
		if ok || ended {
			return p, ok
		}
		select {
		case <-t.stirred:
		case <-ctx.Done():
			return Prompt{}, false
		}
	}
}

func (t *Talk) set(change func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
}

func (t *Talk) stir() {
	t.changed()
	select {
	case t.stirred <- struct{}{}:
	default: // it is awake already
	}
}

// read reads lines to the end. A blocked read cannot be interrupted; it ends with the process.
func (t *Talk) read(in io.Reader, with Conversation) {
	lines := lineread.New(in, maxLine)
	for n := 1; ; n++ {
		raw, err := nextLine(lines)
		if err == io.EOF {
			break
		}
		if err == nil && len(raw) > 0 {
			err = t.take(raw, n, with)
		}
		if err != nil {
			t.Out.Unread(n, err)
		}
		if failed := (*readError)(nil); errors.As(err, &failed) {
			break
		}
	}
	t.set(func() {
		t.ended = true
		for _, q := range t.asked {
			close(q.gone)
		}
		clear(t.asked)
	})
	t.stir()
}
