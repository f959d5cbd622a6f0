package recorder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"adze/internal/undo"
	"adze/session"
	"adze/tool"
)

// Times that the first call which may change files waits for the first state of a folder: until the
// user is told, and until it runs uncovered, which they are told too.
const (
	Slow    = 2 * time.Second
	Patient = 20 * time.Second
)

// Options say what a Keeper keeps, and what it asks for.
type Options struct {
	undo.Options
	// Tell tells the user, from any goroutine; if nil, nobody hears it.
	Tell func(string)
	// Failed decides what becomes of a call whose files cannot be kept: no error lets it run. If nil,
	// it does not run.
	Failed func(ctx context.Context, err error) error
	// Mask hides secrets in the diffs of what changed; if nil, there are no diffs.
	Mask func(string) string
	// Jobs lists what runs in the background; if nil, nothing does.
	Jobs func() []Job
	// Named tells the states of the folder that sessions name, so that others are dropped once a day;
	// if nil, none is.
	Named func(context.Context) ([]undo.Named, error)
	// Path makes what a call names a path relative to the folder, where it is in it: for folders that
	// are too wide to be covered but for the files that are named. If nil, nothing is covered there.
	Path func(target string) (rel string, inside bool)
	// Apart reports a call whose commands change the folder only through Applying, or say so to Live
	// before they start. If nil, there is none.
	Apart func(tool.Record) bool
	// Followed reports that commands of the user may run when a call has ended, as a part of it. If
	// nil, none do.
	Followed func() bool
	// ChangeLog knows what calls were seen to change. If nil, all that changes while one runs is taken
	// for its own.
	ChangeLog *ChangeLog
	// Slow and Patient; if 0, the defaults.
	Slow, Patient time.Duration
}

// Job is something that goes on after its call.
type Job struct {
	Tag     string // of its command: see proc.TagOf
	Started time.Time
	Wait    func(context.Context) // until it has ended
}

// Keeper keeps the states of a folder around the calls of one run: session.Snapshots. It looks at
// nothing before Begin, and opens its store beside its caller.
type Keeper struct {
	o     Options
	begin sync.Once
	life  context.Context
	stop  context.CancelFunc
	ready chan struct{} // closed when the first state was taken, or cannot be
	ws    *undo.Workspace
	err   error // why there is no workspace
	// narrow says that only named paths are covered.
	narrow bool

	mu   sync.Mutex // states are in the order of their times
	last int64
	told map[string]bool
	late sync.WaitGroup

	apart apart
}

var _ session.Snapshots = (*Keeper)(nil)

// NewKeeper makes it.
func NewKeeper(o Options) *Keeper {
	if o.Slow == 0 {
		o.Slow = Slow
	}
	if o.Patient == 0 {
		o.Patient = Patient
	}
	k := &Keeper{o: o, ready: make(chan struct{}), told: map[string]bool{}}
	k.life, k.stop = context.WithCancel(context.Background())
	return k
}

// Begin takes the first state beside the caller, once. It may be called as soon as it is likely
// that a call comes.
func (k *Keeper) Begin() {
	if k == nil {
		return
	}
	k.begin.Do(func() {
		go func() {
			defer close(k.ready)
			if k.err = k.open(); k.err == nil && !k.narrow {
				_, _ = k.ws.Take(k.life) // a failure is met again, and told, at the first call
			}
		}()
	})
}

func (k *Keeper) open() error {
	k.o.Same = sameForGit
	ws, err := undo.Open(k.o.Options)
	if errors.Is(err, undo.ErrTooWide) {
		ws, err = k.openWidely(err)
	}
	if err != nil {
		return err
	}
	done, err := ws.Recover(k.life)
	for _, r := range done {
		k.tell(fmt.Sprintf("an undo that was interrupted is finished: %s", paths(len(r.Done))))
	}
	if err != nil {
		return errors.Join(err, ws.Close())
	}
	k.ws = ws
	return nil
}

// Workspace is the folder with its states, as soon as the first was taken.
func (k *Keeper) Workspace(ctx context.Context) (*undo.Workspace, error) {
	k.Begin()
	select {
	case <-k.ready:
		return k.ws, k.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends what is under way; what calls left running has ended before.
func (k *Keeper) Close() error {
	if k == nil {
		return nil
	}
	begun := true
	k.begin.Do(func() { begun = false })
	if !begun {
		return nil
	}
	k.late.Wait()
	k.stop()
	<-k.ready
	if k.ws == nil {
		return nil
	}
	if !k.o.Look {
		k.prune()
	}
	return k.ws.Close()
}

// tell says a thing once.
func (k *Keeper) tell(text string) {
	k.mu.Lock()
	again := k.told[text]
	k.told[text] = true
	k.mu.Unlock()
	if !again && k.o.Tell != nil {
		k.o.Tell(text)
	}
}

// covered waits for the first state. False: the call runs without one.
func (k *Keeper) covered(ctx context.Context) (bool, error) {
	k.Begin()
	slow, late := time.NewTimer(k.o.Slow), time.NewTimer(k.o.Patient)
	defer slow.Stop()
	defer late.Stop()
	for {
		select {
		case <-k.ready:
			if errors.Is(k.err, undo.ErrUnsupported) {
				k.tell(fmt.Sprintf("what is changed here cannot be undone: %v", k.err))
				return false, nil
			}
			return k.err == nil, k.err
		case <-slow.C:
			k.tell("all files of this folder are looked at once, so that what is changed can be undone")
		case <-late.C:
			k.tell("this folder takes long to look at: until that is done, what is changed cannot be undone")
			return false, nil
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// Before implements session.Snapshots.
func (k *Keeper) Before(ctx context.Context, r tool.Record) (*session.State, error) {
	covered, err := k.covered(ctx)
	if err == nil && !covered {
		return nil, nil
	}
	var state *session.State
	if err == nil {
		state = k.beforeApart(r)
	}
	switch {
	case state != nil:
	case err == nil && k.narrow:
		state, err = k.beforeNamed(ctx, r)
	case err == nil:
		state = new(session.State)
		*state, _, err = k.take(ctx, k.alone(r))
	}
	switch {
	case err == nil:
		k.tellLeft()
		return state, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case k.o.Failed != nil:
		return nil, k.o.Failed(ctx, err)
	}
	return nil, err
}

// take keeps the state of the folder. Where paths are named, only those are looked at; where only
// named paths are covered, the state is of them alone.
func (k *Keeper) take(ctx context.Context, named []string) (session.State, undo.Mark, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	look := k.ws.Take
	if k.narrow || len(named) > 0 {
		look = func(ctx context.Context) (undo.Mark, error) { return k.ws.TakeAt(ctx, named) }
	}
	mark, err := look(ctx)
	if errors.Is(err, undo.ErrSpace) && !mark.IsZero() {
		err = nil // what had no room is left out, and told
	}
	if err != nil {
		return session.State{}, mark, err
	}
	state := k.state(mark)
	if state.Named = named; k.narrow {
		state.Only = named
	}
	return state, mark, nil
}

// state names a mark. Each has another time; the caller holds mu.
func (k *Keeper) state(mark undo.Mark) session.State {
	k.last = max(time.Now().UnixNano(), k.last+1)
	return session.State{Root: k.o.Root, Mark: mark.String(), At: k.last, Left: len(k.ws.LeftOut())}
}

// tellLeft says once what is not covered.
func (k *Keeper) tellLeft() {
	left := slices.DeleteFunc(k.ws.LeftOut(), undo.Left.Usual)
	if len(left) == 0 {
		return
	}
	k.mu.Lock()
	again := k.told["left"]
	k.told["left"] = true
	k.mu.Unlock()
	if !again && k.o.Tell != nil {
		if text := LeftOut(left); text != "" {
			k.o.Tell(text)
		}
	}
}
