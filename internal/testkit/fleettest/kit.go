package fleettest

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"adze/internal/fleet"
)

// patience bounds what the kit waits for on a machine that has much to do.
const patience = 2 * time.Minute

// Run holds an adapter to the contracts of the ports. Each test gets a server of its own, or names
// of its own on one: make is given to each.
func Run(t *testing.T, make func(t *testing.T) fleet.Cluster) {
	for name, test := range map[string]func(*testing.T, fleet.Cluster){
		"a ticket is taken once and gone when done": takenOnce, "a ticket that waits is not submitted twice": submittedOnce,
		"retry and dead": retriedAndDead, "the first priority comes first": priorities, "labels and limits": limits,
		"a record is changed from its newest revision": changed, "a race for a record has one winner": race, "a watch misses nothing": watched,
		"a lease has one holder": leases, "blobs are what was kept": kept, "what is removed is gone": removed,
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) { test(t, make(t)) })
	}
}

func ticketOf(run string) fleet.Ticket {
	return fleet.Ticket{Run: "bbbbbb." + run, Round: 1, Label: "default", Priority: 2}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// take takes a ticket, until there is one.
func take(t *testing.T, c fleet.Cluster, labels ...string) fleet.Taken {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		taken, err := c.Queue.Take(t.Context(), labels)
		if err == nil {
			return taken
		}
		if !errors.Is(err, fleet.ErrNone) {
			t.Fatal(err)
		}
	}
	t.Fatal("no ticket came")
	return nil
}

func wantNone(t *testing.T, c fleet.Cluster, labels ...string) {
	t.Helper()
	if taken, err := c.Queue.Take(t.Context(), labels); !errors.Is(err, fleet.ErrNone) {
		t.Fatalf("%v, %v; want none", taken, err)
	}
}

func takenOnce(t *testing.T, c fleet.Cluster) {
	wantNone(t, c)
	must(t, c.Queue.Submit(t.Context(), ticketOf("a"), false))
	taken := take(t, c)
	if taken.Ticket() != ticketOf("a") || taken.Deliveries() != 1 {
		t.Fatalf("%+v, delivered %d times", taken.Ticket(), taken.Deliveries())
	}
	wantNone(t, c)
	must(t, taken.Beat(t.Context()))
	must(t, taken.Done(t.Context()))
	must(t, taken.Done(t.Context())) // late: no error
	wantNone(t, c)
	err := fleet.ErrQueue
	for end := time.Now().Add(patience); errors.Is(err, fleet.ErrQueue) && time.Now().Before(end); { // it is gone everywhere in a moment
		err = c.Queue.Submit(t.Context(), ticketOf("a"), false)
	}
	must(t, err)
	must(t, take(t, c).Done(t.Context()))
}

func submittedOnce(t *testing.T, c fleet.Cluster) {
	must(t, c.Queue.Submit(t.Context(), ticketOf("a"), false))
	if err := c.Queue.Submit(t.Context(), ticketOf("a"), false); !errors.Is(err, fleet.ErrQueue) {
		t.Fatal(err)
	}
	taken := take(t, c)
	if err := c.Queue.Submit(t.Context(), ticketOf("a"), false); !errors.Is(err, fleet.ErrQueue) {
		t.Fatalf("while it is taken: %v", err)
	}
	second := ticketOf("a")
	second.Round = 2
	must(t, c.Queue.Submit(t.Context(), second, true))
	must(t, taken.Done(t.Context())) // of the first round: the second stays
	if again := take(t, c); again.Ticket().Round != 2 {
		t.Fatalf("%+v", again.Ticket())
	}
}

func retriedAndDead(t *testing.T, c fleet.Cluster) {
	must(t, c.Queue.Submit(t.Context(), ticketOf("a"), false))
	must(t, take(t, c).Retry(t.Context(), 0))
	second := take(t, c)
	if second.Deliveries() != 2 {
		t.Fatalf("delivered %d times", second.Deliveries())
	}
	must(t, second.Retry(t.Context(), time.Hour))
	wantNone(t, c)
	must(t, c.Queue.Submit(t.Context(), ticketOf("b"), false))
	must(t, take(t, c).Dead(t.Context(), "it was tried too often"))
	wantNone(t, c)
	for end := time.Now().Add(patience); ; { // an answer is on its way for a moment
		sizes, err := c.Queue.Sizes(t.Context())
		must(t, err)
		n := 0
		for _, s := range sizes {
			n += s.Waiting + s.Taken
		}
		if n == 1 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%+v; one waits for its hour", sizes)
		}
	}
}

func removed(t *testing.T, c fleet.Cluster) {
	must(t, c.Queue.Submit(t.Context(), ticketOf("a"), false))
	must(t, c.Queue.Submit(t.Context(), ticketOf("b"), false))
	must(t, c.Queue.Remove(t.Context(), ticketOf("a")))
	must(t, c.Queue.Remove(t.Context(), ticketOf("none")))
	if taken := take(t, c); taken.Ticket().Run != ticketOf("b").Run {
		t.Fatalf("%+v", taken.Ticket())
	}
	for _, key := range []string{"run.x.y", "run.x.z"} {
		_, err := c.Runs.Put(t.Context(), key, []byte("1"), 0)
		must(t, err)
	}
	must(t, c.Runs.Delete(t.Context(), "run.x.y"))
	must(t, c.Runs.Delete(t.Context(), "run.x.none"))
	if _, err := c.Runs.Get(t.Context(), "run.x.y"); !errors.Is(err, fleet.ErrNone) {
		t.Fatal(err)
	}
	if list, err := c.Runs.List(t.Context(), "run.x."); err != nil || len(list) != 1 || list[0].Key != "run.x.z" {
		t.Fatalf("%+v, %v", list, err)
	}
	_, err := c.Runs.Put(t.Context(), "run.x.y", []byte("2"), 0)
	must(t, err)
	for _, blobs := range []fleet.Blobs{c.Blobs, c.Inputs} {
		one, err := blobs.Keep(t.Context(), strings.NewReader("one"))
		must(t, err)
		two, err := blobs.Keep(t.Context(), strings.NewReader("two"))
		must(t, err)
		begin, none := time.Now().Add(-time.Hour), func() (map[string]bool, error) { return nil, errors.New("nobody had to ask") }
		n, err := blobs.Sweep(t.Context(), func(_ string, kept time.Time) bool { return kept.Before(begin) }, none)
		if err != nil || n != 0 {
			t.Fatal(n, err)
		}
		n, err = blobs.Sweep(t.Context(), func(string, time.Time) bool { return true }, func() (map[string]bool, error) { return map[string]bool{two: true}, nil })
		if err != nil || n != 1 {
			t.Fatal(n, err)
		}
		if err := blobs.Fetch(t.Context(), one, io.Discard); err == nil {
			t.Fatal("a blob that was removed is there")
		}
		must(t, blobs.Fetch(t.Context(), two, io.Discard))
	}
}

func priorities(t *testing.T, c fleet.Cluster) {
	for i, p := range []int{3, 2, 1, 3, 2, 1} {
		ticket := ticketOf(fmt.Sprint("t", i))
		ticket.Priority = p
		must(t, c.Queue.Submit(t.Context(), ticket, false))
	}
	count := map[int]int{}
	var order []int
	for range 6 {
		taken := take(t, c)
		order = append(order, taken.Ticket().Priority)
		count[taken.Ticket().Priority]++
		must(t, taken.Done(t.Context()))
	}
	// Now and then one is taken from below, so that nothing starves: the order as a whole is what
	// counts.
	if count[1] != 2 || count[2] != 2 || count[3] != 2 || order[0]+order[1]+order[2] > order[3]+order[4]+order[5] {
		t.Fatal(order)
	}
}

func limits(t *testing.T, c fleet.Cluster) {
	for _, label := range []string{"core", "web"} {
		for i := range 3 {
			ticket := ticketOf(fmt.Sprint(label, i))
			ticket.Label = label
			must(t, c.Queue.Submit(t.Context(), ticket, false))
		}
	}
	must(t, c.Queue.Limit(t.Context(), "core", 1))
	first := take(t, c, "core")
	if first.Ticket().Label != "core" {
		t.Fatalf("%+v", first.Ticket())
	}
	wantNone(t, c, "core")
	wantNone(t, c, "other")
	for range 3 {
		if of := take(t, c).Ticket().Label; of != "web" { // of any label, but core is full
			t.Fatal(of)
		}
	}
	must(t, first.Done(t.Context()))
	take(t, c, "core")
	sizes, err := c.Queue.Sizes(t.Context())
	must(t, err)
	for _, s := range sizes {
		if s.Label == "core" && (s.Waiting+s.Taken > 0) && (s.Waiting != 1 || s.Taken != 1 || s.Limit != 1) {
			t.Fatalf("%+v", sizes)
		}
	}
}
