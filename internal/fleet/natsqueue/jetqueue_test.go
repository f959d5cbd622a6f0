package natsqueue_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"adze/internal/fleet"
	"adze/internal/fleet/natsclient"
	"adze/internal/fleet/natsqueue"
	"adze/internal/testkit/effort"
	"adze/internal/testkit/fleettest"
	"adze/internal/testkit/natstest"
)

func dial(t *testing.T, servers *natstest.Cluster) *natsclient.Conn {
	t.Helper()
	conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: servers.URL(), Wait: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

// open gives a cluster on servers whose streams of earlier tests are gone.
func open(t *testing.T, servers *natstest.Cluster) fleet.Cluster {
	t.Helper()
	conn := dial(t, servers)
	if err := servers.Clear(t.Context(), conn.JetStream()); err != nil {
		t.Fatal(err)
	}
	c, err := natsqueue.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOneServerKeepsTheContracts and the next one run the kit.
func TestOneServerKeepsTheContracts(t *testing.T) {
	servers := natstest.Start(t, natstest.Options{})
	fleettest.Run(t, func(t *testing.T) fleet.Cluster { return open(t, servers) })
}

func TestThreeServersKeepTheContracts(t *testing.T) {
	effort.Needs(t, effort.Short, "it kills whole programs")
	servers := natstest.StartCluster(t, natstest.Options{})
	fleettest.Run(t, func(t *testing.T) fleet.Cluster { return open(t, servers) })
}

// TestTicketsWaitByTheLease: a worker that beats by it keeps them.
func TestTicketsWaitByTheLease(t *testing.T) {
	servers := natstest.Start(t, natstest.Options{Lazy: true})
	conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: servers.URL(), Wait: 2 * time.Minute, Lease: 6 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c, err := natsqueue.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Queue.Submit(t.Context(), fleet.Ticket{Run: "b.one", Round: 1, Label: "default", Priority: 2}, false); err != nil {
		t.Fatal(err)
	}
	made, err := conn.JetStream().Consumer(t.Context(), "ADZE_TASK", "default-p2")
	if err != nil {
		t.Fatal(err)
	}
	if wait := made.CachedInfo().Config.AckWait; wait != 6*time.Second || c.Beat != 2*time.Second {
		t.Errorf("a ticket waits for %v, a worker beats each %v", wait, c.Beat)
	}
}

// TestATaskCostsFewRequests: two to submit it and two to look whether its turn has come, two to
// find it below an empty line, its lease, its claim and its end, and two to give the lease and the
// ticket back.
func TestATaskCostsFewRequests(t *testing.T) {
	conn := dial(t, natstest.Start(t, natstest.Options{Lazy: true}))
	throughFleet(t, conn, 1, 1) // makes the consumers
	before := conn.NATS().Stats().OutMsgs
	throughFleet(t, conn, 50, 1)
	if each := float64(conn.NATS().Stats().OutMsgs-before) / 50; each < 7 || each > 14 { // 12.6, four of which are reads of what is asked for and of the runs beside it in its chain, and some where a slow machine asks again
		t.Errorf("%.1f requests a task", each)
	}
}

// TestAFullServerIsClear: what does not fit is ErrFull, and what was there stays.
func TestAFullServerIsClear(t *testing.T) {
	servers := natstest.Start(t, natstest.Options{MaxFile: "1MB"})
	c := open(t, servers)
	value := []byte(strings.Repeat("x", 100<<10))
	for n := 0; ; n++ {
		if _, err := c.Runs.Put(t.Context(), fmt.Sprint("run.x.", n), value, 0); err != nil {
			if n < 2 || n > 12 || !strings.Contains(err.Error(), fleet.ErrFull.Error()) {
				t.Fatalf("after %d: %v", n, err)
			}
			break
		}
	}
	if list, err := c.Runs.List(t.Context(), "run."); err != nil || len(list) < 2 {
		t.Fatal(len(list), err)
	}
}

// TestASlowServerGivesItsTickets: an answer that takes longer than a line may be silent is waited
// for all the same.
func TestASlowServerGivesItsTickets(t *testing.T) {
	effort.Needs(t, effort.Short, "each request waits for its way")
	servers := natstest.Start(t, natstest.Options{})
	proxy := natstest.NewProxy(t, strings.TrimPrefix(servers.URL(), "nats://"))
	conn, err := natsclient.Dial(t.Context(), natsclient.Options{URL: proxy.URL(), Wait: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	c, err := natsqueue.Open(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	ticket := fleet.Ticket{Run: "bbbbbb.a", Round: 1, Label: "default", Priority: 1}
	if err := c.Queue.Submit(t.Context(), ticket, false); err != nil {
		t.Fatal(err)
	}
	proxy.Slow(700 * time.Millisecond)
	taken, err := c.Queue.Take(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := taken.Done(t.Context()); err != nil || taken.Ticket() != ticket {
		t.Errorf("%+v, %v", taken.Ticket(), err)
	}
}
