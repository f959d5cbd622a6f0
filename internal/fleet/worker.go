package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"adze/internal/fleet/batch"
)

// How often a worker does what it does without being told.
const (
	beatEvery = 10 * time.Second
	tellEvery = 2 * time.Second // how far a task is
	idleLeast = 100 * time.Millisecond
	idleMost  = 2 * time.Second
	hurtMost  = 30 * time.Second // between tries when the server does not answer
	roomWait  = 10 * time.Second
)

// Worker takes tasks and has them done.
type Worker struct {
	Cluster
	Name    string
	Version string   // of this adze
	Labels  []string // whose tasks it takes; none: all
	Jobs    int
	Doer    Doer
	Grace   time.Duration // how long what runs may go on when the worker is told to stop
	// Key is what a provider knows the model of a task by; tasks with the same one pause together.
	// Cap is what a task's flags say it may cost. It is 0 where there is nothing.
	Key func(flags []string) string
	Cap func(flags []string) float64
	// Refuses says why the owner of this machine does not let it do a task with these flags.
	// Optional.
	Refuses func(t batch.Task, flags []string) error
	// Room says why nothing can be done on this machine now; if nil, it can.
	Room func() error
	// Redact and RedactJSON take secrets from what all can see.
	Redact     func(text string) string
	RedactJSON func([]byte) []byte
	Tell       func(Event) // by one caller at a time

	now     func() time.Time
	telling sync.Mutex
	mu      sync.Mutex
	live    map[string]liveRun
	stopped map[string]int // the round that was cancelled, by run; if nil, what is cancelled is not known
	orders  map[string]known
	stops   bool
	refuses []string
	changed chan struct{} // there is news to tell of the worker
	drain   chan struct{} // closed when what runs is to be given back
	hurry   sync.Once
}

// NewWorker makes a worker; the other fields are as its owner likes.
func NewWorker(c Cluster, name string, d Doer) *Worker {
	return &Worker{Cluster: c, Name: name, Doer: d, drain: make(chan struct{}), changed: make(chan struct{}, 1)}
}

// liveRun is a run that this worker works on.
type liveRun struct {
	round int
	stop  context.CancelCauseFunc
}

// known is an order as it was a moment ago.
type known struct {
	Order
	at time.Time
}

// orderFor is how long the order of a batch without a limit is taken to be what it was: only the
// limit can change.
const orderFor = 5 * time.Second

func (w *Worker) orderOf(ctx context.Context, id string, round int) (Order, error) {
	w.mu.Lock()
	o, there := w.orders[id]
	w.mu.Unlock()
	if there && time.Since(o.at) < orderFor && round == 1 && o.MaxCost == 0 { // a round may have begun with another limit
		return o.Order, nil
	}
	var err error
	if o.Order, _, err = readKnown[Order](ctx, w.Runs, ordersBelow+id); err != nil {
		return o.Order, err
	}
	o.at = time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.orders[id] = o
	return o.Order, nil
}

// Doer does the work of an attempt. It returns the result with the name under which its patch was
// saved; an error where there is none: then the result has the cost so far.
type Doer interface {
	Do(ctx context.Context, j Job) (r batch.Result, patch string, err error)
}

// Job is one attempt at a task.
type Job struct {
	Run     Run
	Task    batch.Task
	Order   Order
	MaxCost float64 // USD; if 0, any
	Away    batch.Away
	Watch   func(batch.State)
}

// EventKind is what happened to a worker.
type EventKind string

// Kinds of events.
const (
	Took      EventKind = "taken"
	Ended     EventKind = "finished" // Run has its result
	Retried   EventKind = "retried"  // it waits again after it failed; Why says of what
	PutOff    EventKind = "put off"  // it was not tried; Why says what it waits for
	Died      EventKind = "dead"
	Stopped   EventKind = "cancelled"
	LostIt    EventKind = "lost"       // another worker may have it
	GaveBack  EventKind = "given back" // the worker stops
	Unhappy   EventKind = "trouble"    // of the worker itself: the server, the disk
	Happy     EventKind = "well again"
	IsDrained EventKind = "stopping"
)

// Event is told to who watches a worker, with how many tasks it works on.
type Event struct {
	Kind    EventKind
	Run     Run
	Why     string
	Running int
}

// Run takes and does tasks until ctx ends. Then it takes no more, lets what runs come to its end
// for a while and gives the rest back.
func (w *Worker) Run(ctx context.Context) error {
	w.prepare()
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go w.watchCancels(work)
	var present sync.WaitGroup
	over := make(chan struct{})
	present.Go(func() { w.present(work, over) })
	defer present.Wait()
	defer close(over)
	var running sync.WaitGroup
	free := make(chan struct{}, max(1, w.Jobs)) // a token is a task that runs
	idle, trouble := idleLeast, ""
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case free <- struct{}{}:
		}
		t, err := w.take(ctx)
		if err != nil {
			<-free
			idle = w.rest(ctx, err, idle, &trouble)
			continue
		}
		if t == nil {
			<-free
			w.well(ctx, &trouble)
			continue
		}
		if ctx.Err() != nil || w.Room() != nil { // while it waited for the ticket
			<-free
			_ = t.Retry(ctx, 0)
			continue
		}
		w.well(ctx, &trouble)
		idle = idleLeast
		running.Go(func() {
			defer func() { <-free }()
			w.attempt(work, t)
		})
	}
	w.mu.Lock()
	w.stops = true
	w.mu.Unlock()
	w.change()
	w.tell(Event{Kind: IsDrained})
	late := time.AfterFunc(w.Grace, w.GiveBack)
	running.Wait()
	late.Stop()
	return nil
}

// GiveBack has what runs be given back now; who calls it has ended the context of Run.
func (w *Worker) GiveBack() { w.hurry.Do(func() { close(w.drain) }) }

func (w *Worker) prepare() {
	w.live, w.orders = map[string]liveRun{}, map[string]known{}
	if w.now == nil {
		w.now = time.Now
	}
	if w.Room == nil {
		w.Room = func() error { return nil }
	}
	if w.Redact == nil {
		w.Redact = func(text string) string { return text }
	}
	if w.RedactJSON == nil {
		w.RedactJSON = slices.Clone[[]byte]
	}
	if w.Key == nil {
		w.Key = func([]string) string { return "" }
	}
	if w.Refuses == nil {
		w.Refuses = func(batch.Task, []string) error { return nil }
	}
	if w.Cap == nil {
		w.Cap = func([]string) float64 { return 0 }
	}
}

// errRoom is a machine that can do nothing now.
type errRoom struct{ error }

func (w *Worker) take(ctx context.Context) (Taken, error) {
	if err := w.Room(); err != nil {
		return nil, errRoom{err}
	}
	waiting, cancel := context.WithTimeout(ctx, roomWait) // then it looks for room again
	defer cancel()
	t, err := w.Queue.Await(waiting, w.Labels)
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	return t, err
}

// rest waits until it is worth asking again, and says how long to wait the next time. The same
// trouble is told once.
func (w *Worker) rest(ctx context.Context, err error, idle time.Duration, trouble *string) time.Duration {
	if text := err.Error(); text != *trouble && ctx.Err() == nil {
		*trouble = text
		w.tell(Event{Kind: Unhappy, Why: text})
	}
	if errors.As(err, &errRoom{}) {
		idle = roomWait
	}
	wait := time.NewTimer(idle/2 + rand.N(idle))
	defer wait.Stop()
	select {
	case <-ctx.Done():
	case <-wait.C:
	}
	return min(hurtMost, 2*idle)
}

// well tells that a trouble is over.
func (w *Worker) well(ctx context.Context, trouble *string) {
	if *trouble != "" && ctx.Err() == nil {
		*trouble = ""
		w.tell(Event{Kind: Happy})
	}
}

// tell tells of an event, one at a time.
func (w *Worker) tell(e Event) {
	if w.Tell == nil {
		return
	}
	w.mu.Lock()
	e.Running = len(w.live)
	w.mu.Unlock()
	w.telling.Lock()
	defer w.telling.Unlock()
	w.Tell(e)
}

// enter notes that a run is worked on, and how it is stopped.
func (w *Worker) enter(r Run, stop context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live[r.ID] = liveRun{r.Round, stop}
	w.change()
}

func (w *Worker) leave(r Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.live, r.ID)
	w.change()
}
