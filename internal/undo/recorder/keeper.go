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

// The first call that may change files waits this long for the first state: until the user is
// informed, and until it runs uncovered, also reported.
const (
	Slow    = 2 * time.Second
	MaxWait = 20 * time.Second
)

// Options configure a Keeper.
type Options struct {
	undo.Options
	// Notify reports a text to the user, from any goroutine. Optional.
	Notify func(string)
	// Failed decides about a call whose files cannot be stored: a nil error lets it run. If Failed
	// is nil, it does not run.
	Failed func(ctx context.Context, err error) error
	// Mask redacts secrets in diffs. If nil, there are no diffs.
	Mask func(string) string
	// Jobs lists the background jobs. Optional.
	Jobs func() []Job
	// Named returns the folder's states sessions refer to; once a day, others are deleted. If nil,
	// nothing is.
	Named func(context.Context) ([]undo.Named, error)
	// Path converts a call's target to a path relative to the folder, for folders that are too wide
	// to cover except for named files. If nil, nothing is covered there.
	Path func(target string) (rel string, inside bool)
	// Separate reports whether a call's commands change the folder only through Applying or announce
	// themselves to Live. Optional.
	Separate func(tool.Record) bool
	// Followed reports whether the user's own commands may run after a call, as a part of it.
	// Optional.
	Followed func() bool
	// ChangeLog records the calls' changes. If nil, all changes during a call are attributed to it.
	ChangeLog *ChangeLog
	// Slow and MaxWait override the default times unless 0.
	Slow, MaxWait time.Duration
}

// A Job outlives its call.
type Job struct {
	Tag     string // of its command: see proc.TagOf
	Started time.Time
	Wait    func(context.Context) // until it has ended
}

// A Keeper stores the folder's states around one run's calls. It implements session.Snapshots. It
// does nothing before Begin, and opens its store in the background.
type Keeper struct {
	o     Options
	begin sync.Once
	life  context.Context
	stop  context.CancelFunc
	ready chan struct{} // closed once the first state was taken or has failed
	ws    *undo.Workspace
	err   error // why there is no workspace
	// narrow is set if only named paths are covered.
	narrow bool

	mu       sync.Mutex // keeps states in time order
	last     int64
	notified map[string]bool
	late     sync.WaitGroup

	separate separateCalls
}

var _ session.Snapshots = (*Keeper)(nil)

// NewKeeper returns a keeper that has not begun.
func NewKeeper(o Options) *Keeper {
	if o.Slow == 0 {
		o.Slow = Slow
	}
	if o.MaxWait == 0 {
		o.MaxWait = MaxWait
	}
	k := &Keeper{o: o, ready: make(chan struct{}), notified: map[string]bool{}}
	k.life, k.stop = context.WithCancel(context.Background())
	return k
}

// Begin takes the first state in the background, once. Call it when a call becomes likely.
func (k *Keeper) Begin() {
	if k == nil {
		return
	}
	k.begin.Do(func() {
		go func() {
			defer close(k.ready)
			if k.err = k.open(); k.err == nil && !k.narrow {
				_, _ = k.ws.Take(k.life) // the first call meets and reports a failure
			}
		}()
	})
}

func (k *Keeper) open() error {
	ws, err := undo.Open(k.o.Options)
	if errors.Is(err, undo.ErrTooWide) {
		ws, err = k.openWidely(err)
	}
	if err != nil {
		return err
	}
	done, err := ws.Recover(k.life)
	for _, r := range done {
		k.notify(fmt.Sprintf("an undo that was interrupted is finished: %s", paths(len(r.Done))))
	}
	if err != nil {
		return errors.Join(err, ws.Close())
	}
	k.ws = ws
	return nil
}

// Workspace waits for the first state and returns the workspace.
func (k *Keeper) Workspace(ctx context.Context) (*undo.Workspace, error) {
	k.Begin()
	select {
	case <-k.ready:
		return k.ws, k.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close stops the keeper. Jobs must have ended before.
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

func (k *Keeper) notify(text string) {
	k.mu.Lock()
	again := k.notified[text]
	k.notified[text] = true
	k.mu.Unlock()
	if !again && k.o.Notify != nil {
		k.o.Notify(text)
	}
}

// covered waits for the first state. False means the call runs uncovered.
func (k *Keeper) covered(ctx context.Context) (bool, error) {
	k.Begin()
	slow, late := time.NewTimer(k.o.Slow), time.NewTimer(k.o.MaxWait)
	defer slow.Stop()
	defer late.Stop()
	for {
		select {
		case <-k.ready:
			if errors.Is(k.err, undo.ErrUnsupported) {
				k.notify(fmt.Sprintf("what is changed here cannot be undone: %v", k.err))
				return false, nil
			}
			return k.err == nil, k.err
		case <-slow.C:
			k.notify("all files of this folder are looked at once, so that what is changed can be undone")
		case <-late.C:
			k.notify("this folder takes long to look at: until that is done, what is changed cannot be undone")
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

// take stores the folder's state. With named paths it looks only at those; if only named paths are
// covered, the state holds them alone.
func (k *Keeper) take(ctx context.Context, named []string) (session.State, undo.Mark, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	look := k.ws.Take
	if k.narrow || len(named) > 0 {
		look = func(ctx context.Context) (undo.Mark, error) { return k.ws.TakeAt(ctx, named) }
	}
	mark, err := look(ctx)
	if errors.Is(err, undo.ErrSpace) && !mark.IsZero() {
		err = nil // entries that did not fit are reported as left out
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

// state names a mark with a unique time. The caller holds mu.
func (k *Keeper) state(mark undo.Mark) session.State {
	k.last = max(time.Now().UnixNano(), k.last+1)
	return session.State{Root: k.o.Root, Mark: mark.String(), Time: k.last, Uncovered: len(k.ws.LeftOut())}
}

// tellLeft reports once which paths are not covered.
func (k *Keeper) tellLeft() {
	left := slices.DeleteFunc(k.ws.LeftOut(), undo.Uncovered.Expected)
	if len(left) == 0 {
		return
	}
	k.mu.Lock()
	again := k.notified["left"]
	k.notified["left"] = true
	k.mu.Unlock()
	if !again && k.o.Notify != nil {
		if text := LeftOut(left); text != "" {
			k.o.Notify(text)
		}
	}
}
