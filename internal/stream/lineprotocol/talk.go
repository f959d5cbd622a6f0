// Package lineprotocol lets a program hold a whole conversation: it writes prompts, remarks for the
// running turn, answers and aborts as JSON lines to stdin, and reads on stdout what happens.
//
// The one rule: every line that comes has one effect or is refused aloud with its number; none is
// dropped in silence, and one that cannot be read changes nothing.
//
// Start reading at Talk.Run, then line.go (what a program may write) and question.go (what it is
// asked).
//
// The end of stdin is no end of the program: it may have said all, and read on. That it is gone is
// known by stdout, which nobody can read any more then (stdio.WatchReader); the run ends there.
//
// Known limits: answers are for this conversation only; a program that wants a rule to last writes
// it with adze permission add. A line has at most 16 MiB.
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

// Conversation is what a program talks with. Prompt is called for one prompt after the other; the
// others by any goroutine.
type Conversation interface {
	Prompt(ctx context.Context, p Prompt) session.Result
	Steer(text string) bool
	CancelCall(id tool.CallID) bool
	// Set puts a permission mode and an effort in force, also while a turn runs; if empty, as it is.
	Set(mode, effort string) error
	// Model has another model answer from the next prompt on. It is called while no turn runs.
	Model(ctx context.Context, name string) error
}

// Prompt is what a turn begins with.
type Prompt struct {
	ID     string // the program's own name for it, told again with what came of it
	Text   string
	Beside string   // texts that go with it
	Attach []string // files
	Files  []tool.Attachment

	model string                               // in place of all that: the model that answers from here on
	line  int                                  // that asked for it
	do    func(context.Context) session.Result // in place of all that: something of the user's own
	quiet bool                                 // that is no turn
}

// Talk is one conversation with a program.
type Talk struct {
	Out *stream.Printer
	// Turned is called after each turn, when nothing of it runs any more; if nil, nobody cares.
	Turned func()
	// Changed is called when what waits or what runs has changed; if nil, nobody cares.
	Changed func()
	// Settled is called with the name of a question that waits no more; if nil, nobody cares.
	Settled func(question string)

	mu      sync.Mutex
	prompts []Prompt
	steered []string // handed to the running turn, which has not read them yet
	asked   map[string]*question
	count   int                // of the questions
	abort   context.CancelFunc // of the running turn; if nil, none runs
	taken   bool               // a prompt is being worked on, also before its turn runs
	ended   bool               // nothing more will come
	over    bool               // nothing more is done
	stirred chan struct{}      // something of the above has changed
}

// New is a conversation whose other side reads what out writes.
func New(out *stream.Printer) *Talk {
	return &Talk{Out: out, asked: map[string]*question{}, stirred: make(chan struct{}, 1)}
}

// Run holds the conversation until in ends and all that was asked for is done, or ctx ends. in is
// optional. What is left of first is prompted before anything that comes. The result has the end of
// the last turn and the sums of all.
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

// turn is one prompt, to its end or to an abort.
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
		for _, text := range t.steered { // the turn was over before it looked again
			t.prompts = append(t.prompts, Prompt{Text: text})
		}
		t.steered = nil
	})
	t.changed()
	return r
}

// Idle reports that no turn runs and no prompt waits.
func (t *Talk) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.taken && len(t.prompts)+len(t.steered) == 0
}

// Begin has something of the user's own done in place of a turn, behind the prompts that wait.
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

// Alone does something while no turn runs and none waits, and returns at its end or that of ctx. It
// reports false where a turn runs or waits.
func (t *Talk) Alone(ctx context.Context, do func(context.Context)) (free bool, err error) {
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

// Waits are the texts of prompts that wait for their turn, and of remarks that were not read yet.
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

// Unqueue takes back a prompt that waits; if false, none of this text does.
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

// Heard takes an event of the conversation: a remark that the model has got is not prompted again.
func (t *Talk) Heard(e session.Event) {
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

// next waits for a prompt; if false, there will be none.
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

// stir wakes who waits for a prompt.
func (t *Talk) stir() {
	t.changed()
	select {
	case t.stirred <- struct{}{}:
	default: // it is awake already
	}
}

// read takes lines until there are no more. It blocks in a read that nothing can end; the process
// ends it.
func (t *Talk) read(in io.Reader, with Conversation) {
	lines := lines{lineread.New(in, maxLine)}
	for n := 1; ; n++ {
		raw, err := lines.next()
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
