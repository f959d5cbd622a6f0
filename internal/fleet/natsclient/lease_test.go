package natsclient

import (
	"context"
	"errors"
	"os/exec"
	"sync"
	"testing"
	"time"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func leasesOn(t *testing.T, url string, times LeaseTimes) *Leases {
	t.Helper()
	c, err := Dial(t.Context(), Options{URL: url, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	l, err := c.Leases(t.Context(), times)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// waits fails a test that would wait for ever.
func waits(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(2 * time.Minute):
		t.Fatal("waited in vain for " + what)
	}
}

// slow renews never by itself within a test.
var slow = LeaseTimes{Live: time.Hour, Renew: time.Hour, Lose: time.Hour}

func TestALeaseHasOneHolderAndCanBeGivenBack(t *testing.T) {
	for name, start := range map[string]func(testing.TB, natstest.Options) *natstest.Cluster{"one": natstest.Start, "three": natstest.StartCluster} {
		t.Run(name, func(t *testing.T) {
			if !effort.Is(effort.Short) && name == "three" {
				t.Skip("-short starts no cluster here")
			}
			url := start(t, natstest.Options{}).URL()
			a, b := leasesOn(t, url, slow), leasesOn(t, url, slow)
			first, err := a.Hold(t.Context(), "../odd key")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.Hold(t.Context(), "../odd key"); !errors.Is(err, ErrHeld) {
				t.Fatalf("got %v, want ErrHeld", err)
			}
			if who, err := b.Who(t.Context(), "../odd key"); err != nil || who.Owner != first.me.Owner {
				t.Errorf("held by %+v, %v", who, err)
			}
			for range 3 {
				if err := first.Prove(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := first.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
			second, err := b.Hold(t.Context(), "../odd key")
			if err != nil {
				t.Fatal(err)
			}
			if err := first.Release(t.Context()); err != nil || second.Prove(t.Context()) != nil {
				t.Errorf("giving back twice took the lease of another: %v", err)
			}
		})
	}
}

// TestALeaseThatWasGivenBackLeavesNothing: what says so on the server ends by itself.
func TestALeaseThatWasGivenBackLeavesNothing(t *testing.T) {
	times := slow
	times.Gone = time.Second
	l := leasesOn(t, natstest.Start(t, natstest.Options{}).URL(), times)
	lease, err := l.Hold(t.Context(), "a")
	if err == nil {
		err = lease.Release(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2 * time.Minute); ; {
		last, err := l.last(t.Context(), lease.subject)
		if err != nil {
			t.Fatal(err)
		}
		if last == nil || last.Header.Get("Nats-Marker-Reason") != "" { // which has an end, too
			return
		}
		if time.Now().After(end) {
			t.Fatalf("still there: %v", last.Header)
		}
	}
}

func TestALeaseIsLostByTheHoldersOwnClock(t *testing.T) {
	l := leasesOn(t, natstest.Start(t, natstest.Options{}).URL(), slow)
	c := &clock{at: time.Now()}
	l.now, l.times.Renew = c.now, 50*time.Millisecond
	l.times.Lose = 10 * time.Second // of the moved clock
	lease, err := l.Hold(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := lease.Held(); err != nil {
		t.Fatal(err)
	}
	c.pass(11 * time.Second) // the machine slept
	if err := lease.Held(); !errors.Is(err, ErrLost) {
		t.Errorf("held: %v", err)
	}
	if err := lease.Prove(t.Context()); !errors.Is(err, ErrLost) {
		t.Errorf("prove: %v", err)
	}
	waits(t, lease.Lost(), "the loss")
}

func TestARenewedLeaseLivesAndOneThatIsNotEnds(t *testing.T) {
	url := natstest.Start(t, natstest.Options{}).URL()
	times := LeaseTimes{Live: 2 * time.Second, Renew: 100 * time.Millisecond, Lose: time.Hour}
	renewed, still := leasesOn(t, url, times), leasesOn(t, url, LeaseTimes{Live: 2 * time.Second, Renew: time.Hour, Lose: time.Hour})
	kept, err := renewed.Hold(t.Context(), "renewed")
	if err != nil {
		t.Fatal(err)
	}
	left, err := still.Hold(t.Context(), "still")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for { // until the server has ended the other one, which is as old
		_, err := still.Who(ctx, "still")
		if errors.Is(err, ErrNone) {
			break
		}
		if err != nil || !pause(ctx, 20*time.Millisecond) {
			t.Fatal(err)
		}
	}
	if _, err := renewed.Who(ctx, "renewed"); err != nil {
		t.Errorf("a renewed lease has ended: %v", err)
	}
	if err := kept.Prove(ctx); err != nil {
		t.Error(err)
	}
	if err := left.Prove(ctx); !errors.Is(err, ErrLost) {
		t.Errorf("a renewal after the end: %v", err)
	}
	waits(t, left.Lost(), "the loss")
}

func TestALeaseOfADeadProcessIsFree(t *testing.T) {
	if place() == "" {
		t.Skip("whether a process lives is not known here")
	}
	l := leasesOn(t, natstest.Start(t, natstest.Options{}).URL(), slow)
	lease, err := l.Hold(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	dead := Holder{Host: "here", PID: gone.ProcessState.Pid(), Place: place()}
	for _, alive := range []Holder{{PID: 1, Place: place()}, {PID: dead.PID, Place: "elsewhere"}, {PID: dead.PID}} {
		if alive.dead(place()) {
			t.Errorf("%+v is said to be dead", alive)
		}
	}
	if !dead.dead(place()) {
		t.Fatal("a process that has ended is said to live")
	}
	_ = lease.Release(t.Context())
}

func TestARenewalWhoseAnswerIsCutKeepsTheLease(t *testing.T) {
	server := natstest.Start(t, natstest.Options{})
	proxy := natstest.NewProxy(t, server.Servers[0].Address())
	l := leasesOn(t, proxy.URL(), slow)
	lease, err := l.Hold(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	cut := proxy.CutAfter("$KV." + leaseBucket)
	_ = lease.Prove(t.Context()) // its answer does not come
	waits(t, cut, "the cut")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for err = lease.Prove(ctx); err != nil && !errors.Is(err, ErrLost) && pause(ctx, 50*time.Millisecond); {
		err = lease.Prove(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
}
