package natsclient

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"adze/internal/testkit/effort"
	"adze/internal/testkit/natstest"
)

// TestServersWithoutALeaderAreWaitedFor longer than a server is looked for: they answer, and choose
// one. The error says what was asked.
func TestServersWithoutALeaderAreWaitedFor(t *testing.T) {
	effort.Needs(t, effort.Short, "it starts a cluster")
	c := natstest.StartCluster(t, natstest.Options{})
	alone := leaderless(t, c)
	o := Options{URL: alone.URL(), Wait: 2 * time.Second, Leader: 300 * time.Millisecond}
	if _, err := Dial(t.Context(), o); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "JetStream did not say") || !strings.Contains(err.Error(), "connected to "+alone.Address()) {
		t.Errorf("got %v", err)
	}
	o.Leader = 2 * time.Minute
	dialled := make(chan error, 1)
	go func() {
		conn, err := Dial(t.Context(), o)
		if err == nil {
			conn.Close()
		}
		dialled <- err
	}()
	select {
	case err := <-dialled:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(o.Wait + time.Second):
	}
	for _, s := range c.Servers {
		s.Cont()
	}
	if err := <-dialled; err != nil {
		t.Error(err)
	}
}

// leaderless stops two of three servers, and gives the one that is left, which does not lead them.
func leaderless(t *testing.T, c *natstest.Cluster) *natstest.Server {
	t.Helper()
	t.Cleanup(func() {
		for _, s := range c.Servers {
			s.Cont()
		}
	})
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		for _, left := range c.Servers {
			for _, s := range c.Servers {
				if s != left {
					s.Stop()
				}
			}
			if conn, err := Dial(t.Context(), Options{URL: left.URL(), Wait: time.Minute, Leader: 500 * time.Millisecond}); err != nil {
				return left
			} else {
				conn.Close()
			}
			for _, s := range c.Servers {
				s.Cont()
			}
		}
	}
	t.Fatal("each server leads")
	return nil
}

// TestPatienceEndsWithItsContext: what was called off is no server that does not answer.
func TestPatienceEndsWithItsContext(t *testing.T) {
	conn, err := Dial(t.Context(), Options{URL: natstest.Start(t, natstest.Options{}).URL(), Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(t.Context())
	tries := 0
	err = conn.patiently(ctx, func(context.Context) error {
		if tries++; tries == 3 {
			cancel()
		}
		return context.DeadlineExceeded
	})
	if !errors.Is(err, context.Canceled) || tries != 3 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

// TestAPeerThatIsAwayIsWaitedFor: a cluster that does not see a server for a moment is asked again,
// and one that has too few is not.
func TestAPeerThatIsAwayIsWaitedFor(t *testing.T) {
	conn, err := Dial(t.Context(), Options{URL: natstest.Start(t, natstest.Options{}).URL(), Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct {
		why   string
		tries int
		want  error
	}{{"no suitable peers for placement, peer offline", 3, nil}, {"no suitable peers for placement", 1, ErrMade}} {
		tries := 0
		err := conn.patiently(t.Context(), func(context.Context) error {
			if tries++; tries == 3 {
				return nil
			}
			return &jetstream.APIError{Code: 400, ErrorCode: codeNoPeers, Description: c.why}
		})
		if !errors.Is(err, c.want) || tries != c.tries {
			t.Errorf("%s: %d tries, %v", c.why, tries, err)
		}
	}
}
