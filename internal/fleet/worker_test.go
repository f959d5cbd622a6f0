package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/testkit/fleettest"
	"adze/session"
)

const patience = 2 * time.Minute

// doer does attempts as a test says.
type doer func(ctx context.Context, j fleet.Job) (batch.Result, string, error)

func (d doer) Do(ctx context.Context, j fleet.Job) (batch.Result, string, error) { return d(ctx, j) }

func done(j fleet.Job, text string) batch.Result {
	return batch.Result{Task: j.Task.ID, Cause: "done", OK: true, Text: text}
}

// park waits until the attempt is stopped, as an adze that is interrupted does.
func park(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// yard is a server in memory with a batch on it, and workers that run until the test ends.
type yard struct {
	t *testing.T
	*fleettest.Memory
	fleet.Cluster
	sub  fleet.Submission
	mu   sync.Mutex
	told []fleet.Event
}

func newYard(t *testing.T, tasks int, how func(*fleet.Submission)) *yard {
	t.Helper()
	y := &yard{t: t, Memory: fleettest.NewMemory()}
	y.Hurry, y.Cluster = true, y.Memory.Cluster()
	for i := range tasks {
		y.sub.Tasks = append(y.sub.Tasks, batch.Task{ID: fmt.Sprint("t", i), Repo: "https://host/r.git", Prompt: "x", Line: i + 1})
	}
	if how != nil {
		how(&y.sub)
	}
	if err := y.sub.Prepare(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := y.Cluster.Submit(t.Context(), &y.sub); err != nil {
		t.Fatal(err)
	}
	return y
}

// work starts a worker and returns what tells it to stop and waits.
func (y *yard) work(name string, d doer, how func(*fleet.Worker)) (stop func()) {
	w := fleet.NewWorker(y.Cluster, name, d)
	w.Jobs, w.Grace = 2, patience
	w.Tell = func(e fleet.Event) {
		y.mu.Lock()
		defer y.mu.Unlock()
		y.told = append(y.told, e)
	}
	if how != nil {
		how(w)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() { defer close(over); _ = w.Run(ctx) }()
	y.t.Cleanup(func() { cancel(); <-over })
	return func() { cancel(); <-over }
}

// until waits until all runs are over and tells them.
func (y *yard) until() []fleet.Run {
	y.t.Helper()
	ctx, cancel := context.WithTimeout(y.t.Context(), patience)
	defer cancel()
	if err := y.Follow(ctx, y.sub.ID, len(y.sub.Tasks), func(fleet.Run) error { return nil }); err != nil {
		y.t.Fatal(err)
	}
	runs, err := y.List(ctx, y.sub.ID)
	if err != nil {
		y.t.Fatal(err)
	}
	return runs
}

// empty waits until the queue is.
func (y *yard) empty() {
	y.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if sizes, err := y.Queue.Sizes(y.t.Context()); err == nil && len(sizes) == 0 {
			return
		}
	}
	y.t.Fatal("tickets are left")
}

func (y *yard) events(kind fleet.EventKind) (n int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, e := range y.told {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func TestEveryTaskHasOneResult(t *testing.T) {
	y := newYard(t, 30, nil)
	var mu sync.Mutex
	began := map[string]int{}
	d := func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		mu.Lock()
		defer mu.Unlock()
		began[j.Run.ID]++
		return done(j, "secret of "+j.Task.ID), "patch", nil
	}
	for _, name := range []string{"a", "b", "c"} {
		y.work(name, d, func(w *fleet.Worker) {
			w.RedactJSON = func(raw []byte) []byte { return []byte(strings.ReplaceAll(string(raw), "secret", "***")) }
		})
	}
	for i, r := range y.until() {
		if r.State != fleet.Finished || !r.Result.OK || r.Result.Text != fmt.Sprint("*** of t", i) || r.Attempts != 1 || r.Patch != "patch" || r.Worker == "" || r.Session == "" {
			t.Errorf("%+v", r)
		}
	}
	y.empty()
	for id, n := range began {
		if n != 1 {
			t.Errorf("%s was begun %d times", id, n)
		}
	}
}

// TestAWorkerThatLosesATaskStops: both when it notices and when it does not, the other worker's
// result counts and there is one.
func TestAWorkerThatLosesATaskStops(t *testing.T) {
	for _, unseen := range []bool{false, true} {
		y := newYard(t, 1, nil)
		taken, wake, told := make(chan string, 1), make(chan struct{}), make(chan error, 1)
		y.work("first", func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
			if j.Run.Lost > 0 { // it was quicker than the second
				return done(j, "of the second"), "", nil
			}
			taken <- j.Run.ID
			if unseen { // as a machine that sleeps and wakes
				<-wake
				told <- j.Away.Keep(ctx, batch.Progress{Base: "of the first"})
				return done(j, "of the first"), "", nil
			}
			err := park(ctx)
			told <- err
			return batch.Result{}, "", err
		}, func(w *fleet.Worker) { w.Jobs = 1 })
		id := <-taken
		second := func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
			return done(j, "of the second"), "", nil
		}
		if unseen {
			y.LoseUnseen(id)
		} else {
			y.Lose(id)
		}
		y.work("second", second, nil)
		runs := y.until()
		close(wake)
		if err := <-told; !errors.Is(err, batch.ErrLost) {
			t.Errorf("the first was told %v", err)
		}
		if r := runs[0]; r.Result.Text != "of the second" || r.Attempts != 1 || r.Lost != 1 {
			t.Errorf("unseen %v: %+v", unseen, r)
		}
		for end := time.Now().Add(patience); y.events(fleet.LostIt) == 0 && unseen; {
			if time.Now().After(end) {
				t.Fatal("nobody said that it was lost")
			}
		}
		if again, _ := y.List(t.Context(), y.sub.ID); again[0].Result.Text != "of the second" || again[0].Kept.Base != "" {
			t.Errorf("the late one changed it: %+v", again[0])
		}
	}
}

// TestWhatFailsIsTriedAndThenDead: each kind of failure of a machine has its reason, and the last
// one is kept with the dead letter.
func TestWhatFailsIsTriedAndThenDead(t *testing.T) {
	for want, d := range map[string]doer{
		"no room left on the disk of w": func(context.Context, fleet.Job) (batch.Result, string, error) {
			return batch.Result{}, "", fmt.Errorf("git: %w", syscall.ENOSPC)
		},
		"adze ended with -1": func(context.Context, fleet.Job) (batch.Result, string, error) {
			return batch.Result{Crashed: true, Cause: "internal", Message: "adze ended with -1"}, "", nil
		},
		"the log is full": func(context.Context, fleet.Job) (batch.Result, string, error) {
			return batch.Result{Cause: string(session.CauseStore), Message: "the log is full"}, "", nil
		},
	} {
		y := newYard(t, 1, func(s *fleet.Submission) { s.Attempts = 2 })
		y.work("w", d, nil)
		r := y.until()[0]
		y.empty()
		if r.State != fleet.Dead || r.Attempts != 2 || !strings.Contains(r.Reason, want) || !strings.Contains(y.Dead()[r.ID], want) || r.Result != nil || y.events(fleet.Retried) != 1 {
			t.Errorf("%s: %+v, dead: %v", want, r, y.Dead())
		}
		if n, err := y.Retry(t.Context(), []fleet.Run{r}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if r := y.until()[0]; r.Round != 2 || r.State != fleet.Dead || !strings.HasPrefix(r.Session, "run-") {
			t.Errorf("%+v", r)
		}
	}
}

// A worker that is lost is no attempt of its task, until a task has lost so many that it is at
// fault itself.
func TestAWorkerThatIsLostIsNoAttempt(t *testing.T) {
	const excused = 10
	y := newYard(t, 1, func(s *fleet.Submission) { s.Attempts = 1 })
	taken := make(chan string)
	for i := range 3 {
		y.work(fmt.Sprint("w", i), func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
			taken <- j.Run.ID
			return batch.Result{}, "", park(ctx)
		}, nil)
	}
	for range excused + 1 {
		y.Lose(<-taken)
	}
	if r := y.until()[0]; r.State != fleet.Dead || !strings.Contains(r.Reason, "was lost") || r.Attempts != 1 || r.Lost != excused {
		t.Errorf("%+v", r)
	}
}

func TestACancelReachesWhatRunsAndWhatWaits(t *testing.T) {
	y := newYard(t, 3, nil)
	taken, told := make(chan string, 10), make(chan error, 10)
	y.work("w", func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
		taken <- j.Run.ID
		err := park(ctx)
		told <- err
		return batch.Result{}, "", err
	}, nil)
	<-taken
	<-taken // the third waits
	runs, err := y.Find(t.Context(), y.sub.ID)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := y.Cancel(t.Context(), runs, "me"); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	for _, r := range y.until() {
		if r.State != fleet.Cancelled {
			t.Errorf("%+v", r)
		}
	}
	y.empty()
	if err := <-told; !errors.Is(err, fleet.ErrCancelled) {
		t.Error(err)
	}
	if n, _ := y.Retry(t.Context(), runs); n != 3 { // the cancel is of the first round
		t.Error(n)
	}
	runs, _ = y.List(t.Context(), y.sub.ID)
	if n, err := y.Cancel(t.Context(), runs, "me"); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	y.until()
}

// TestAWorkerThatIsToldToStopGivesBack: what it gave back is no attempt, and another worker goes on
// with what was kept.
func TestAWorkerThatIsToldToStopGivesBack(t *testing.T) {
	y := newYard(t, 1, func(s *fleet.Submission) { s.Attempts = 1 })
	taken, cost := make(chan bool), 0.25
	stop := y.work("first", func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
		if err := j.Away.Keep(ctx, batch.Progress{Base: "abc", Started: 1}); err != nil {
			t.Error(err)
		}
		close(taken)
		err := park(ctx)
		return batch.Result{Cost: &cost}, "", err
	}, func(w *fleet.Worker) { w.Grace = 0 })
	<-taken
	stop()
	runs, _ := y.List(t.Context(), y.sub.ID)
	if r := runs[0]; r.State != fleet.Waiting || r.Attempts != 0 || *r.Cost != cost {
		t.Fatalf("%+v", r)
	}
	y.work("second", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		return done(j, j.Away.Progress().Base), "", nil
	}, nil)
	if r := y.until()[0]; r.Result.Text != "abc" || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
}

// TestALimitPausesAllOfItsKey: a provider that says too much is asked again by nobody with the same
// key, and no attempt counts.
func TestALimitPausesAllOfItsKey(t *testing.T) {
	y := newYard(t, 4, func(s *fleet.Submission) { s.Tasks[3].Flags, s.Attempts = []string{"--model=other/m"}, 1 })
	asked := make(chan string, 100)
	key := func(flags []string) string { return "key" + strings.Join(flags, "") }
	y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		asked <- j.Task.ID
		if j.Task.ID == "t3" {
			return done(j, ""), "", nil
		}
		return batch.Result{Cause: "provider", Message: "too much (HTTP 429)", RetryAfter: new(int64)}, "", nil
	}, func(w *fleet.Worker) { w.Key, w.Jobs = key, 1 })
	for end := time.Now().Add(patience); y.events(fleet.PutOff) < 5 || y.events(fleet.Ended) < 1; {
		if time.Now().After(end) {
			t.Fatal("too few were put off")
		}
	}
	if len(asked) != 2 {
		t.Errorf("%d were asked, want one of the key and one of the other", len(asked))
	}
	runs, _ := y.List(t.Context(), y.sub.ID)
	for _, r := range runs[:3] {
		if r.State != fleet.Waiting || r.Attempts != 0 || !strings.Contains(r.Reason, "429") {
			t.Errorf("%+v", r)
		}
	}
}

// TestAWorkerWaitsAsLongAsTheProviderSays: within bounds, and the next one who takes a task of the
// key waits as well.
func TestAWorkerWaitsAsLongAsTheProviderSays(t *testing.T) {
	for asked, want := range map[time.Duration]time.Duration{7 * time.Minute: 7 * time.Minute, time.Millisecond: time.Second, 24 * time.Hour: 15 * time.Minute, 0: time.Minute} {
		y := newYard(t, 2, nil)
		asking := make(chan string, 100)
		d := func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
			asking <- j.Task.ID
			return batch.Result{Cause: "provider", Message: "slow down", RetryAfter: new(asked.Milliseconds())}, "", nil
		}
		began := time.Now()
		y.Hurry = false // the ticket is away for so long, too
		for _, name := range []string{"one", "two"} {
			y.work(name, d, func(w *fleet.Worker) { w.Key, w.Jobs = func([]string) string { return "key" }, 1 })
		}
		for end := time.Now().Add(patience); y.events(fleet.PutOff) < 2; {
			if time.Now().After(end) {
				t.Fatal("not put off")
			}
		}
		r, err := y.Pauses.Get(t.Context(), "key")
		var p struct{ Until time.Time }
		if err == nil {
			err = json.Unmarshal(r.Value, &p)
		}
		if err != nil || p.Until.Before(began.Add(want)) || p.Until.After(time.Now().Add(want)) {
			t.Errorf("asked to wait for %v: until %v (from %v), want %v: %v", asked, p.Until, began, want, err)
		}
		runs, _ := y.List(t.Context(), y.sub.ID)
		for _, r := range runs {
			if want > time.Second && (r.State != fleet.Waiting || r.Attempts != 0) { // a second may be over
				t.Errorf("%+v", r)
			}
		}
	}
}

// awayBook tells once that a record could not be read because no server answers.
type awayBook struct {
	fleet.Book
	once *sync.Once
	then func()
}

func (b awayBook) Get(ctx context.Context, key string) (fleet.Record, error) {
	r, err := b.Book.Get(ctx, key)
	if errors.Is(err, fleet.ErrAway) {
		b.once.Do(b.then)
	}
	return r, err
}

// TestALeaseThatIsLostWithItsServerIsNoAttempt: the only attempt of a task is still there when
// servers answer again.
func TestALeaseThatIsLostWithItsServerIsNoAttempt(t *testing.T) {
	y := newYard(t, 1, func(s *fleet.Submission) { s.Attempts = 1 })
	y.Cluster.Runs = awayBook{y.Cluster.Runs, new(sync.Once), func() { y.Refuse(nil) }}
	begun := 0
	y.work("w", func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
		if begun++; begun > 1 {
			return done(j, ""), "", nil
		}
		y.Refuse(fleet.ErrAway)
		y.Lose(j.Run.ID)
		return batch.Result{}, "", park(ctx)
	}, func(w *fleet.Worker) { w.Jobs = 1 })
	if r := y.until()[0]; r.State != fleet.Finished || r.Attempts != 1 || r.Away != 1 {
		t.Errorf("%+v", r)
	}
}

// TestABatchCostsWhatItMay: a task begins while money is left, tells what it costs while it runs,
// and is stopped when all together have cost the limit. Whatever order they run in, as many are
// done as the money is for.
func TestABatchCostsWhatItMay(t *testing.T) {
	y := newYard(t, 20, func(s *fleet.Submission) { s.MaxCost = 5 })
	const request, each = 0.255, 1.02
	var limit atomic.Value
	limit.Store(5.0)
	d := func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
		cost := 0.0
		for cost < each-request/2 {
			cost += request
			so := cost
			j.Watch(batch.State{Cost: &so})
			before := 0.0
			for known := false; !known; { // until all others know, as a request to a model takes longer than that
				if ctx.Err() != nil {
					return batch.Result{Cost: &cost}, "", context.Cause(ctx)
				}
				r, err := y.Runs.Get(ctx, "purse."+y.sub.ID)
				if err != nil {
					continue
				}
				var p struct {
					Spent float64
					Now   map[string]float64
				}
				if err := json.Unmarshal(r.Value, &p); err != nil {
					t.Error(err)
				}
				known, before = p.Now[j.Run.ID] >= cost, p.Spent
				for _, c := range p.Now {
					before += c
				}
			}
			if before >= limit.Load().(float64) {
				return batch.Result{Cost: &cost}, "", park(ctx)
			}
		}
		r := done(j, "")
		r.Cost = &cost
		return r, "", nil
	}
	for _, name := range []string{"a", "b"} {
		y.work(name, d, func(w *fleet.Worker) { w.Jobs = 1 })
	}
	causes, sum := map[string]int{}, 0.0
	for _, r := range y.until() {
		if r.Result == nil {
			t.Fatalf("%s: %s", r.State, r.Reason)
		}
		causes[r.Result.Cause]++
		if r.Result.Cost != nil {
			sum += *r.Result.Cost
		}
	}
	first := causes["done"] // two are worked on when the money is gone, as far as either of them is
	if first != 3 && first != 4 || causes["budget"] != 20-first || sum < 5 || sum > 5+2*request {
		t.Errorf("%v, cost %g", causes, sum)
	}
	// What it has cost counts in the next round, by the limit that is raised just now.
	runs, _ := y.List(t.Context(), y.sub.ID)
	limit.Store(8.2)
	if err := y.Raise(t.Context(), y.sub.ID, 8.2); err != nil {
		t.Fatal(err)
	}
	if n, err := y.Retry(t.Context(), runs); n != 20-first || err != nil {
		t.Fatal(n, err)
	}
	causes, now := map[string]int{}, 0.0
	for _, r := range y.until() {
		causes[r.Result.Cause]++
		now += r.Earlier
		if r.Cost != nil {
			now += *r.Cost
		}
	}
	if n := causes["done"]; n < first+1 || n > first+4 || now < 8.2 || now > 8.2+2*request {
		t.Errorf("%v, cost %g in both rounds", causes, now)
	}
}

// TestALimitThatComesLaterCounts what was spent before there was one.
func TestALimitThatComesLaterCounts(t *testing.T) {
	y := newYard(t, 4, nil)
	cost, good := 1.5, false
	y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		if good {
			return done(j, ""), "", nil
		}
		return batch.Result{Task: j.Task.ID, Cause: "provider", Cost: &cost}, "", nil
	}, nil)
	runs := y.until()
	good = true
	if err := y.Raise(t.Context(), y.sub.ID, 6); err != nil {
		t.Fatal(err)
	}
	if n, err := y.Retry(t.Context(), runs); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	for _, r := range y.until() {
		if r.Result.Cause != "budget" || r.Earlier != cost || r.Round != 2 {
			t.Errorf("%+v", r)
		}
	}
}

// TestBatchesTakeTurns: five tasks behind five hundred do not wait for all of them, a batch that is
// cancelled in the middle or done again goes on to its end, and a submission that was cut off is
// completed.
func TestBatchesTakeTurns(t *testing.T) {
	y := newYard(t, 500, nil)
	small := fleet.Submission{}
	for i := range 5 {
		small.Tasks = append(small.Tasks, batch.Task{ID: fmt.Sprint("s", i), Repo: "https://host/r.git", Prompt: "x", Line: i + 1})
	}
	if err := small.Prepare(time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := y.Cluster.Submit(t.Context(), &small); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	last, n := 0, 0
	y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		mu.Lock()
		defer mu.Unlock()
		if n++; j.Run.Batch == small.ID {
			last = n
		}
		if n == 100 { // one far behind is stopped before its turn
			runs, err := y.Find(t.Context(), y.sub.ID)
			if err != nil {
				t.Error(err)
			}
			if c, err := y.Cancel(t.Context(), runs[300:301], "me"); c != 1 || err != nil {
				t.Error(c, err)
			}
			if c, err := y.Retry(t.Context(), runs[300:301]); c != 1 || err != nil {
				t.Error(c, err)
			}
		}
		return batch.Result{Cause: "provider"}, "", nil
	}, func(w *fleet.Worker) { w.Jobs = 1 })
	runs := y.until()
	if last == 0 || last > 30 {
		t.Errorf("the last of five was task number %d", last)
	}
	if n, err := y.Retry(t.Context(), runs); n != 500 || err != nil {
		t.Fatal(n, err)
	}
	if sizes, err := y.Queue.Sizes(t.Context()); err != nil || len(sizes) > 1 || len(sizes) == 1 && sizes[0].Waiting > 20 {
		t.Errorf("%+v, %v", sizes, err)
	}
	for _, r := range y.until() {
		if want := 2 + r.Line/301*(301/r.Line); r.Round != want && r.State != fleet.Finished {
			t.Fatalf("%+v", r)
		}
	}
	y.empty()
}

// TestAnAnswerThatIsLostIsNoLoss: a change that was made, but whose answer did not come, is the
// attempt's own.
func TestAnAnswerThatIsLostIsNoLoss(t *testing.T) {
	y := newYard(t, 1, nil)
	y.work("w", func(ctx context.Context, j fleet.Job) (batch.Result, string, error) {
		y.Swallow(1)
		if err := j.Away.Keep(ctx, batch.Progress{Base: "b"}); err != nil {
			t.Error(err)
		}
		y.Swallow(1) // of the result
		return done(j, j.Away.Progress().Base), "", nil
	}, nil)
	if r := y.until()[0]; r.Result == nil || r.Result.Text != "b" || r.Attempts != 1 {
		t.Errorf("%+v", r)
	}
	y.empty()
}

func TestAServerThatRefusesIsToldOnce(t *testing.T) {
	y := newYard(t, 1, nil)
	y.Refuse(errors.New("the token is wrong"))
	y.work("w", func(_ context.Context, j fleet.Job) (batch.Result, string, error) { return done(j, ""), "", nil }, nil)
	for end := time.Now().Add(patience); y.events(fleet.Unhappy) == 0; {
		if time.Now().After(end) {
			t.Fatal("nothing was told")
		}
	}
	y.Refuse(nil)
	if r := y.until()[0]; !r.Result.OK || y.events(fleet.Unhappy) != 1 || y.events(fleet.Happy) != 1 {
		t.Errorf("%+v", r)
	}
}

func TestASubmissionIsHeldAndMayBeSentAgain(t *testing.T) {
	y := newYard(t, 3, func(s *fleet.Submission) { s.Tasks[1].Prompt = strings.Repeat("x", 600<<10) })
	if err := y.Cluster.Submit(t.Context(), &y.sub); err != nil {
		t.Fatal(err)
	}
	runs, err := y.List(t.Context(), "")
	if err != nil || len(runs) != 3 || runs[1].Work.Blob == "" || runs[0].Work.Task == nil {
		t.Fatalf("%+v, %v", runs, err)
	}
	if task, err := y.Task(t.Context(), runs[1]); err != nil || len(task.Prompt) != 600<<10 || task.Line != 2 {
		t.Fatal(err)
	}
	own := strings.TrimPrefix(runs[2].ID, y.sub.ID+".")
	for word, want := range map[string]int{y.sub.ID: 3, runs[2].ID: 1, own[:5]: 1, y.sub.ID + "." + own[:3]: 1} {
		if found, err := y.Find(t.Context(), word); err != nil || len(found) != want {
			t.Errorf("%s: %d, %v", word, len(found), err)
		}
	}
	if _, err := y.Find(t.Context(), "nothing"); !errors.Is(err, fleet.ErrNone) {
		t.Error(err)
	}
	for want, task := range map[string]batch.Task{
		"the most":         {ID: "a", Repo: "r", Prompt: strings.Repeat("x", 10<<20), Line: 7},
		"p1, p2 or p3":     {ID: "a", Repo: "r", Prompt: "x", Labels: map[string]string{"priority": "high"}, Line: 7},
		"of small letters": {ID: "a", Repo: "r", Prompt: "x", Labels: map[string]string{"queue": "a.b>"}, Line: 7},
	} {
		bad := fleet.Submission{Tasks: []batch.Task{task}}
		if err := bad.Prepare(time.Now()); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 7: ") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestAServerThatIsAwayCostsNoAttempt: a session that could not be opened or saved because no
// server answered is tried again, and only a task that always loses its servers runs out of tries.
func TestAServerThatIsAwayCostsNoAttempt(t *testing.T) {
	y := newYard(t, 2, func(s *fleet.Submission) { s.Attempts = 1 })
	var mu sync.Mutex
	tried := map[string]int{}
	y.work("a", doer(func(_ context.Context, j fleet.Job) (batch.Result, string, error) {
		mu.Lock()
		defer mu.Unlock()
		tried[j.Task.ID]++
		if j.Task.ID == "t1" || tried[j.Task.ID] <= 3 {
			return batch.Result{Task: j.Task.ID, Cause: "store", Message: "the session store could not be opened: bucket ADZE_LEASE: no NATS server answers: asked 10 times"}, "", nil
		}
		return done(j, "end"), "", nil
	}), nil)
	runs := y.until()
	if r := runs[0]; r.State != fleet.Finished || r.Attempts != 1 || r.Away != 3 {
		t.Errorf("%+v", r)
	}
	if r := runs[1]; r.State != fleet.Dead || r.Attempts != 1 || tried["t1"] != 21 || !strings.Contains(r.Reason, "ADZE_LEASE") {
		t.Errorf("%d tries: %+v", tried["t1"], r)
	}
}
