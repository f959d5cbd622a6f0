package fleet

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet/batch"
	"adze/session"
)

// A Worker pulls tasks from a server and runs them on this machine.
type Worker struct {
	*Server
	Name    string
	Version string
	Labels  []string // of accepted tasks; empty for all
	Jobs    int
	Grace   time.Duration // time for running tasks after a stop
	Runner  *batch.Runner
	// Refuses returns an error if this machine's owner does not allow a task with these flags, the
	// last of which are the owner's.
	Refuses       func(t batch.Task, flags []string) error
	CheckCapacity func() error // returns an error if no task can be taken now
	// Export writes a session to a file. It may be nil.
	Export func(ctx context.Context, id session.ID, path string) error
	Redact func([]byte) []byte // masks secrets in JSON
	Notify func(text string)

	taking    sync.Mutex // guards the fields up to the empty line
	last      map[string]string
	consumers map[string]jetstream.Consumer

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // by batch and task
	abort   context.CancelCauseFunc
	took    atomic.Int64
}

// Reasons for ending a task.
var (
	errCancelled = errors.New("the batch was cancelled")
	errGivenBack = errors.New("the worker stops")
)

// Presence describes an active worker.
type Presence struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Labels   []string  `json:"labels,omitempty"`
	Jobs     int       `json:"jobs"`
	Running  []string  `json:"running,omitempty"`
	LastSeen time.Time `json:"seen"`
}

// Stored is a task's result on the server.
type Stored struct {
	batch.Result
	PatchFile   string `json:"patch_file,omitempty"`   // object name
	SessionFile string `json:"session_file,omitempty"` // object name of the session, exported as JSON
}

// Run takes tasks until ctx ends, and returns when the running ones are finished or returned.
func (w *Worker) Run(ctx context.Context) error {
	w.last, w.consumers, w.running = map[string]string{}, map[string]jetstream.Consumer{}, map[string]context.CancelCauseFunc{}
	hard, abort := context.WithCancelCause(context.WithoutCancel(ctx))
	w.mu.Lock()
	w.abort = abort
	w.mu.Unlock()
	defer abort(nil)
	defer context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(w.Grace, func() { abort(errGivenBack) })
		context.AfterFunc(hard, func() { timer.Stop() })
	})()
	var beside, jobs sync.WaitGroup
	ended, end := context.WithCancel(hard)
	beside.Go(func() { w.present(ended) })
	beside.Go(func() {
		_ = w.watch(ended, w.cancels, "*", time.Minute, func(e jetstream.KeyValueEntry) bool { // ends with ctx
			if e != nil {
				w.stop(e.Key())
			}
			return true
		})
	})
	for range w.Jobs {
		jobs.Go(func() {
			for {
				msg, l := w.take(ctx)
				if msg == nil {
					return
				}
				w.work(hard, msg, l)
			}
		})
	}
	jobs.Wait()
	end()
	beside.Wait()
	return nil
}

// GiveBack returns running tasks to the server at once, without Grace.
func (w *Worker) GiveBack() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abort != nil {
		w.abort(errGivenBack)
	}
}

func (w *Worker) stop(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, cancel := range w.running {
		if strings.HasPrefix(key, id+".") {
			cancel(errCancelled)
		}
	}
}

// present announces this worker.
func (w *Worker) present(ctx context.Context) {
	key := token(strings.Map(func(r rune) rune {
		if r < 128 && (r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return r
		}
		return '_'
	}, w.Name))
	tick := time.NewTicker(presenceTTL / 3)
	defer tick.Stop()
	for {
		p := Presence{w.Name, w.Version, w.Labels, w.Jobs, nil, time.Now().UTC()}
		w.mu.Lock()
		for key := range w.running {
			p.Running = append(p.Running, key)
		}
		w.mu.Unlock()
		if raw, err := json.Marshal(p); err == nil {
			_, _ = w.workers.Put(ctx, key, raw) // without it, the worker counts as gone
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = w.workers.Delete(gone, key) // otherwise its TTL removes it
			return
		}
	}
}

// The pause between polls grows from pollLeast to pollMost.
const (
	pollLeast = 100 * time.Millisecond
	pollMost  = 2 * time.Second
)

// take returns the next task, or nil when ctx ends.
func (w *Worker) take(ctx context.Context) (jetstream.Msg, lane) {
	w.taking.Lock()
	defer w.taking.Unlock()
	told := ""
	for wait := pollLeast; ctx.Err() == nil; wait = min(2*wait, pollMost) {
		err := w.CheckCapacity()
		if err == nil {
			var msg jetstream.Msg
			var l lane
			if msg, l, err = w.next(ctx); msg != nil {
				return msg, l
			}
		}
		if err != nil && ctx.Err() == nil && err.Error() != told {
			told = err.Error()
			w.Notify("no task is taken: " + told)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil, lane{}
}

// next pulls a task from the highest priority with tasks, from the batch after the last served one.
func (w *Worker) next(ctx context.Context) (jetstream.Msg, lane, error) {
	all, err := w.Lanes(ctx, "")
	if err != nil {
		return nil, lane{}, err
	}
	var lanes []lane
	for _, l := range all {
		if len(w.Labels) == 0 || slices.Contains(w.Labels, l.label) {
			lanes = append(lanes, l.lane)
		}
	}
	slices.SortFunc(lanes, func(a, b lane) int {
		return cmp.Or(strings.Compare(a.priority, b.priority), w.turn(a)-w.turn(b), strings.Compare(a.batch, b.batch), strings.Compare(a.label, b.label))
	})
	for _, l := range lanes {
		c := w.consumers[l.name()]
		if c == nil {
			if c, err = w.tasks.Consumer(ctx, l.name()); err != nil {
				continue // the batch is finished
			}
			w.consumers[l.name()] = c
		}
		got, err := c.FetchNoWait(1)
		if err != nil {
			return nil, l, err
		}
		for msg := range got.Messages() {
			w.last[l.priority] = l.batch
			return msg, l, nil
		}
	}
	return nil, lane{}, nil
}

// turn returns 0 for batches after the last served one, and 1 for the others.
func (w *Worker) turn(l lane) int {
	if l.batch > w.last[l.priority] {
		return 0
	}
	return 1
}

// work runs a task, stores its result, and acknowledges it.
func (w *Worker) work(hard context.Context, msg jetstream.Msg, l lane) {
	task := msg.Subject()[strings.LastIndexByte(msg.Subject(), '.')+1:]
	key := l.batch + "." + task
	ctx, cancel := context.WithCancelCause(hard)
	defer cancel(nil)
	w.mu.Lock()
	_, twice := w.running[key]
	if !twice {
		w.running[key] = cancel
	}
	w.mu.Unlock()
	if twice { // redelivered while the server heard nothing; the running one acknowledges both
		return
	}
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, key)
	}()
	stop := w.beat(ctx, msg)
	defer stop()
	done, files, err := w.do(ctx, msg, l, key)
	defer func() {
		for _, f := range files {
			_ = os.Remove(f) // a remaining file is deleted with the worker's folder
		}
	}()
	if err == nil {
		err = w.store(hard, key, done, files)
	}
	if err != nil {
		w.Notify(key + " is given back: " + err.Error())
		_ = msg.NakWithDelay(pollMost) // otherwise it returns after AckWait
		return
	}
	_ = msg.Ack() // without it the task returns, and has a result
	w.Notify(key + ": " + cmp.Or(done.Cause, "it had a result"))
}

// beat reports progress to the server until stop.
func (w *Worker) beat(ctx context.Context, msg jetstream.Msg) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(w.options.AckWait / 4)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				_ = msg.InProgress() // without a connection any worker may get the task
			}
		}
	})
	return func() { cancel(); beating.Wait() }
}

// do returns a task's result and files: its patch and session. The result is empty if the task has
// one already. An error is the reason to return the task.
func (w *Worker) do(ctx context.Context, msg jetstream.Msg, l lane, key string) (done Stored, files []string, err error) {
	if err = w.patiently(ctx, func(ctx context.Context) error {
		_, err := w.results.Get(ctx, key)
		return err
	}); !errors.Is(err, jetstream.ErrKeyNotFound) {
		return done, nil, err
	}
	if err = w.patiently(ctx, func(ctx context.Context) error {
		_, err := w.cancels.Get(ctx, l.batch)
		return err
	}); err == nil {
		return w.failedResult(key, l, batch.CauseCancelled, errCancelled), nil, nil
	} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
		return done, nil, err
	}
	var it item
	d := json.NewDecoder(bytes.NewReader(msg.Data()))
	d.DisallowUnknownFields()
	err = d.Decode(&it)
	it.Task.Line = it.Line
	if err == nil {
		err = it.Task.Validate()
	}
	if err == nil && (it.Order.ID+"."+token(it.Task.ID) != key) {
		err = errors.New("its id is not the one of its subject")
	}
	meta, wrong := msg.Metadata()
	switch {
	case wrong != nil:
		return done, nil, wrong
	case err != nil:
		return w.failedResult(key, l, string(session.CauseUsage), fmt.Errorf("worker %s (adze %s) cannot read the task: %w", w.Name, w.Version, err)), nil, nil
	case meta.NumDelivered > uint64(it.Order.Attempts):
		why := fmt.Errorf("its worker was lost, or gave it back, %d times", it.Order.Attempts)
		return w.failedResult(key, l, batch.CauseDead, why), nil, w.bury(ctx, key, msg.Data(), why)
	}
	it.Task.Flags = slices.Concat(it.Order.Flags, it.Task.Flags)
	if !it.Order.Push {
		it.Task.Branch = ""
	}
	if err := w.Refuses(it.Task, it.Task.Flags); err != nil {
		return w.failedResult(key, l, string(session.CauseDenied), err), nil, nil
	}
	w.Notify(fmt.Sprintf("%s begins, attempt %d of %d", key, meta.NumDelivered, it.Order.Attempts))
	return w.run(ctx, it.Task, key)
}

// failedResult returns the result for a task that was not started.
func (w *Worker) failedResult(key string, l lane, cause string, why error) Stored {
	now := time.Now().UTC()
	return Stored{Result: batch.Result{Task: strings.ReplaceAll(strings.TrimPrefix(key, l.batch+"."), "=", "."), Cause: cause, Message: why.Error(), StartedAt: now, Ended: now, Worker: w.Name}}
}

// bury stores a task whose workers died, for a user to inspect.
func (w *Worker) bury(ctx context.Context, key string, task []byte, why error) error {
	m := &nats.Msg{Subject: "adze.dead." + key, Data: task, Header: nats.Header{"Adze-Reason": {why.Error()}}}
	return w.patiently(ctx, func(ctx context.Context) error {
		_, err := w.js.PublishMsg(ctx, m, jetstream.WithMsgID(key))
		return err
	})
}

// maxPause limits a task's wait for its model's provider.
const maxPause = time.Hour

// run runs a task in a new clone. If the model's provider requires a pause, it waits and starts
// again.
func (w *Worker) run(ctx context.Context, t batch.Task, key string) (done Stored, files []string, err error) {
	subject := "adze.lines." + key
	for {
		name := fmt.Sprintf("%s.%d", key, w.took.Add(1))
		patch := filepath.Join(w.Runner.Dir, name+".patch")
		r, err := w.Runner.RunTask(ctx, t, name, patch, func(line []byte) {
			if int64(len(line)) < w.nc.MaxPayload()/2 {
				_ = w.nc.Publish(subject, line) // viewers may miss it
			}
		})
		cancelled := errors.Is(context.Cause(ctx), errCancelled)
		switch {
		case err != nil && !cancelled:
			return done, nil, err
		case err != nil:
			l, _, _ := strings.Cut(key, ".")
			return w.failedResult(key, lane{batch: l}, batch.CauseCancelled, errCancelled), nil, nil
		}
		if r.RetryAfter != nil {
			pause := min(max(time.Duration(*r.RetryAfter)*time.Millisecond, time.Minute), maxPause)
			w.Notify(fmt.Sprintf("%s waits %v for the provider: %s", key, pause, r.Message))
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
			}
		}
		r.Worker = w.Name
		done.Result = r
		if r.Patch != "" {
			files, done.Patch, done.PatchFile = append(files, patch), "", name+".patch"
		}
		if path := filepath.Join(w.Runner.Dir, name+".session"); w.Export != nil && r.Session != "" && w.Export(ctx, r.Session, path) == nil {
			files, done.SessionFile = append(files, path), name+".session"
		}
		return done, files, nil
	}
}

// store stores a task's result and files, unless it has a result. It retries until ctx ends.
func (w *Worker) store(ctx context.Context, key string, done Stored, files []string) error {
	if done.Cause == "" { // it has a result
		return nil
	}
	raw, err := json.Marshal(done)
	if err == nil && int64(len(raw)) > w.nc.MaxPayload()/2 {
		done.Text, done.Calls, done.Denied = "", nil, nil
		raw, err = json.Marshal(done)
	}
	if err != nil {
		return err
	}
	raw = w.Redact(raw)
	for {
		err := w.patiently(ctx, func(ctx context.Context) error {
			for _, f := range files {
				if err := w.put(ctx, filepath.Base(f), f); err != nil {
					return err
				}
			}
			_, err := w.results.Create(ctx, key, raw)
			if errors.Is(err, jetstream.ErrKeyExists) {
				return nil // by this worker, whose response was lost, or another
			}
			return err
		})
		if err == nil || !errors.Is(err, ErrAway) && !errors.Is(err, ErrStream) || ctx.Err() != nil {
			return err
		}
		w.Notify(key + " waits for the server: " + err.Error())
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pollMost):
		}
	}
}

func (w *Worker) put(ctx context.Context, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = w.files.Put(ctx, jetstream.ObjectMeta{Name: name}, f)
	return err
}
