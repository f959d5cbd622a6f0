package natsqueue_test

import (
	"context"
	"testing"
	"time"

	"adze/internal/fleet"
	"adze/internal/fleet/natsqueue"
	"adze/internal/testkit/natstest"
)

// TestTicketsAreTold: who waits gets a ticket of a label that is new on the server, one whose delay
// is over, and one that a limit held back, each by a message.
func TestTicketsAreTold(t *testing.T) {
	servers := natstest.Start(t, natstest.Options{Lazy: true})
	conn, other := dial(t, servers), dial(t, servers)
	c, err := natsqueue.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	submitter, err := natsqueue.Open(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	submit := func(run string) {
		t.Helper()
		if err := submitter.Queue.Submit(t.Context(), fleet.Ticket{Run: "b." + run, Round: 1, Label: "new", Priority: 2}, false); err != nil {
			t.Fatal(err)
		}
	}
	type got struct {
		taken fleet.Taken
		err   error
	}
	// each wait is for one ticket; most is what a clock of seconds would need
	wait := func(then func()) (fleet.Taken, time.Duration) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		came := make(chan got, 1)
		go func() {
			taken, err := c.Queue.Await(ctx, nil)
			came <- got{taken, err}
		}()
		for asked := conn.NATS().Stats().OutMsgs; conn.NATS().Stats().OutMsgs == asked && len(came) == 0; { // until it waits at the server
		}
		began := time.Now()
		then()
		g := <-came
		if g.err != nil {
			t.Fatal(g.err)
		}
		return g.taken, time.Since(began)
	}
	first, took := wait(func() { submit("a") })
	t.Logf("a new label: %v", took)
	if _, again := wait(func() {
		if err := first.Retry(t.Context(), 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}); again > took+2*time.Second {
		t.Errorf("a delay of 100 ms took %v", again)
	}
	if err := submitter.Queue.Limit(t.Context(), "new", 2); err != nil {
		t.Fatal(err)
	}
	submit("b")
	submit("c")
	second, err := c.Queue.Await(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Queue.Take(t.Context(), nil); err == nil {
		t.Fatal("the limit of two does not hold")
	}
	if third, place := wait(func() {
		if err := second.Done(t.Context()); err != nil {
			t.Fatal(err)
		}
	}); place > 2*time.Second || third.Ticket().Run != "b.c" {
		t.Errorf("a place that was free took %v", place)
	}
}
