package natsqueue_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/fleet"
	"adze/internal/fleet/batch"
	"adze/internal/fleet/natsclient"
	"adze/internal/fleet/natsqueue"
	"adze/internal/testkit/natstest"
)

// BenchmarkTasksAgainstTheBareClient has workers that do nothing take tasks from one server, and
// the bare client make the requests that the least of that is: a record and a message each, taken,
// two changes of the record, and an acknowledgement. ratio is the rate of the fleet by that of the
// client, in one run.
func BenchmarkTasksAgainstTheBareClient(b *testing.B) {
	for _, workers := range []int{1, 10} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			servers := natstest.Start(b, natstest.Options{Lazy: true})
			conn, err := natsclient.Dial(b.Context(), natsclient.Options{URL: servers.URL(), Wait: 2 * time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			const tasks = 500
			var ours, bare time.Duration
			n := 0
			var asked [2]uint64
			sent := func(of int, how func() time.Duration) time.Duration {
				before := conn.NATS().Stats().OutMsgs
				defer func() { asked[of] += conn.NATS().Stats().OutMsgs - before }()
				return how()
			}
			for b.Loop() {
				bare += sent(0, func() time.Duration { return throughClient(b, conn.JetStream(), fmt.Sprint("B", n), tasks, workers) })
				ours += sent(1, func() time.Duration { return throughFleet(b, conn, tasks, workers) })
				n++
			}
			b.ReportMetric(float64(asked[0])/float64(n*tasks), "bare-requests/task")
			b.ReportMetric(float64(asked[1])/float64(n*tasks), "requests/task")
			b.ReportMetric(float64(bare)/float64(ours), "ratio")
			b.ReportMetric(float64(n*tasks)/ours.Seconds(), "tasks/s")
		})
	}
}

type nothing struct{}

func (nothing) Do(_ context.Context, j fleet.Job) (batch.Result, string, error) {
	return batch.Result{Task: j.Task.ID, OK: true, Cause: batch.CauseDone}, "", nil
}

func throughFleet(b testing.TB, conn *natsclient.Conn, tasks, workers int) time.Duration {
	c, err := natsqueue.Open(b.Context(), conn)
	if err != nil {
		b.Fatal(err)
	}
	s := &fleet.Submission{}
	for i := range tasks {
		s.Tasks = append(s.Tasks, batch.Task{ID: fmt.Sprint(i), Repo: "r", Prompt: "x", Line: i + 1})
	}
	if err := s.Prepare(time.Now()); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(tasks))
	began := time.Now()
	if err := c.Submit(ctx, s); err != nil {
		b.Fatal(err)
	}
	for i := range workers {
		w := fleet.NewWorker(c, fmt.Sprint("w", i), nothing{})
		w.Grace = time.Minute
		w.Jobs = 1
		w.Tell = func(e fleet.Event) {
			if e.Kind == fleet.Ended && left.Add(-1) == 0 {
				stop()
			}
		}
		all.Go(func() { _ = w.Run(ctx) })
	}
	all.Wait() // a worker that is told to stop has its last answers come
	return time.Since(began)
}

func throughClient(b *testing.B, js jetstream.JetStream, name string, tasks, workers int) time.Duration {
	must := func(err error) {
		if err != nil {
			b.Error(err)
		}
	}
	ctx := b.Context()
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: name + "Q", Subjects: []string{name + "q.*"}, Retention: jetstream.WorkQueuePolicy})
	must(err)
	_, err = js.CreateStream(ctx, jetstream.StreamConfig{Name: name + "R", Subjects: []string{name + "r.*"}, MaxMsgsPerSubject: 1})
	must(err)
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{Durable: "c", AckPolicy: jetstream.AckExplicitPolicy})
	must(err)
	if b.Failed() {
		b.FailNow()
	}
	value := make([]byte, 600)
	began := time.Now()
	each(tasks, 16, func(i int) {
		_, err := js.Publish(ctx, fmt.Sprint(name, "r.", i), value, jetstream.WithExpectLastSequencePerSubject(0))
		must(err)
		_, err = js.Publish(ctx, fmt.Sprint(name, "q.", i), value[:80])
		must(err)
	})
	each(tasks, workers, func(int) {
		batch, err := consumer.Fetch(1)
		must(err)
		for m := range batch.Messages() {
			subject := name + "r." + m.Subject()[len(name)+2:]
			ack, err := js.PublishMsg(ctx, &nats.Msg{Subject: subject, Data: value})
			must(err)
			if err == nil {
				_, err = js.Publish(ctx, subject, value, jetstream.WithExpectLastSequencePerSubject(ack.Sequence))
				must(err)
			}
			must(m.DoubleAck(ctx))
		}
	})
	return time.Since(began)
}

// each does something so many times, so many at a time.
func each(times, together int, do func(int)) {
	var all sync.WaitGroup
	next := make(chan int)
	for range together {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range times {
		next <- i
	}
	close(next)
	all.Wait()
}
