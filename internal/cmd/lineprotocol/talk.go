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
	"sync"

	"adze/internal/cmd/print"
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
	Attach []string // files
	Files  []tool.Attachment

	model string // in place of all that: the model that answers from here on
	line  int    // that asked for it
}

// Talk is one conversation with a program.
type Talk struct {
	Out *print.Printer
	// Turned is called after each turn, when nothing of it runs any more; if nil, nobody cares.
	Turned func()
	// Settled is called with the name of a question that waits no more; if nil, nobody cares.
	Settled func(question string)

	mu      sync.Mutex
	prompts []Prompt
	steered []string // handed to the running turn, which has not read them yet
	asked   map[string]*question
	count   int                // of the questions
	abort   context.CancelFunc // of the running turn; if nil, none runs
	ended   bool               // nothing more will come
	stirred chan struct{}      // something of the above has changed
}

// New is a conversation whose other side reads what out writes.
func New(out *print.Printer) *Talk {
	return &Talk{Out: out, asked: map[string]*question{}, stirred: make(chan struct{}, 1)}
}

// Run holds the conversation until in ends and all that was asked for is done, or ctx ends. What is
// left of first is prompted before anything that comes. The result has the end of the last turn and
// the sums of all.
func (t *Talk) Run(ctx context.Context, in io.Reader, with Conversation, first ...Prompt) session.Result {
	t.prompts = append(first, t.prompts...)
	go t.read(in, with)
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
		turns++
		r := t.turn(ctx, with, p)
		if t.Turned != nil {
			t.Turned()
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
	r := with.Prompt(ctx, p)
	t.set(func() {
		t.abort = nil
		for _, text := range t.steered { // the turn was over before it looked again
			t.prompts = append(t.prompts, Prompt{Text: text})
		}
		t.steered = nil
	})
	return r
}

// Idle reports that no turn runs and no prompt waits.
func (t *Talk) Idle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.abort == nil && len(t.prompts)+len(t.steered) == 0
}

// Heard takes an event of the conversation: a remark that the model has got is not prompted again.
func (t *Talk) Heard(e session.Event) {
	done, ok := e.(session.MessageDone)
	if !ok || done.Message.Role != session.User || done.Message.Note {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, text := range t.steered {
		if text == done.Message.Text() {
			t.steered = append(t.steered[:i:i], t.steered[i+1:]...)
			return
		}
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
			ended = t.ended
		})
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
