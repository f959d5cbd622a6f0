// Package fleettest holds what a fleet needs of a server to its contracts: a kit of tests that runs
// over every adapter, and an adapter in memory for tests of what uses one.
//
// The one rule: the kit knows the contracts in package fleet and nothing of a server.
//
// Start reading at Run (kit.go). Known limits: the memory forgets all with its process.
package fleettest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"adze/internal/fleet"
)

// Memory is a server in memory.
type Memory struct {
	mu       sync.Mutex
	tickets  map[string]*ticket
	order    []string
	limits   map[string]int
	dead     map[string]string // reasons, by run
	leases   map[string]*lease
	blobs    map[string]blob
	inputs   map[string]blob
	changed  chan struct{} // closed at each change of a ticket or limit
	refusing error
	swallow  int
	// Hurry has delays before a ticket is taken again be a millisecond.
	Hurry bool
}

// NewMemory makes an empty server.
func NewMemory() *Memory {
	return &Memory{changed: make(chan struct{}), tickets: map[string]*ticket{}, limits: map[string]int{}, dead: map[string]string{}, leases: map[string]*lease{}, blobs: map[string]blob{}, inputs: map[string]blob{}}
}

// Cluster is the server as a fleet sees it.
func (m *Memory) Cluster() fleet.Cluster {
	return fleet.Cluster{Queue: m, Runs: newBook(m), Bodies: newBook(m), Cancels: newBook(m), Pauses: newBook(m), Present: newBook(m), Leases: m, Blobs: blobs{m, m.blobs}, Inputs: blobs{m, m.inputs}}
}

// Refuse has the server answer everything with an error, until it is nil.
func (m *Memory) Refuse(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusing = err
}

// Swallow has the next n changes of records be made and answered with an error, as when the answer
// is lost.
func (m *Memory) Swallow(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.swallow = n
}

// Dead tells the reasons of dead letters by run.
func (m *Memory) Dead() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.dead)
}

// Lose takes a ticket and its lease from the worker that has them, as when it does not answer any
// more.
func (m *Memory) Lose(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tickets[run]; t != nil {
		t.holder = nil
		m.tell()
	}
	if l := m.leases[run]; l != nil {
		close(l.lost)
		delete(m.leases, run)
	}
}

// LoseUnseen does the same, and the worker does not notice.
func (m *Memory) LoseUnseen(run string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.tickets[run]; t != nil {
		t.holder = nil
		m.tell()
	}
	delete(m.leases, run)
}

type ticket struct {
	fleet.Ticket
	holder     *taken
	deliveries int
	not        time.Time // before
}

func (m *Memory) begin() (func(), error) {
	m.mu.Lock()
	if m.refusing != nil {
		defer m.mu.Unlock()
		return nil, m.refusing
	}
	return m.mu.Unlock, nil
}

// Submit keeps a ticket.
func (m *Memory) Submit(_ context.Context, t fleet.Ticket, replace bool) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	if m.tickets[t.Run] != nil && !replace {
		return fleet.ErrQueue
	}
	m.remove(t.Run)
	m.tickets[t.Run] = &ticket{Ticket: t}
	m.tell()
	m.order = append(m.order, t.Run)
	return nil
}

func (m *Memory) remove(run string) {
	delete(m.tickets, run)
	m.order = slices.DeleteFunc(m.order, func(r string) bool { return r == run })
}

// tell wakes who waits for a ticket. The caller holds m.mu.
func (m *Memory) tell() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Await hands a ticket out as soon as there is one.
func (m *Memory) Await(ctx context.Context, labels []string) (fleet.Taken, error) {
	for {
		m.mu.Lock()
		changed, next := m.changed, time.Hour
		for _, t := range m.tickets {
			if wait := time.Until(t.not); t.holder == nil && wait > 0 {
				next = min(next, wait)
			}
		}
		m.mu.Unlock()
		t, err := m.Take(ctx, labels)
		if !errors.Is(err, fleet.ErrNone) || ctx.Err() != nil {
			return t, err
		}
		late := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-late.C:
		}
		late.Stop()
	}
}

// Remove takes a ticket away.
func (m *Memory) Remove(_ context.Context, t fleet.Ticket) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	m.remove(t.Run)
	return nil
}

// Take hands a ticket out.
func (m *Memory) Take(_ context.Context, labels []string) (fleet.Taken, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	var best *ticket
	for _, run := range m.order {
		t := m.tickets[run]
		free := t.holder == nil && !time.Now().Before(t.not) && (len(labels) == 0 || slices.Contains(labels, t.Label))
		if most := m.limits[t.Label]; free && most > 0 && m.held(t.Label) >= most {
			free = false
		}
		if free && (best == nil || t.Priority < best.Priority) {
			best = t
		}
	}
	if best == nil {
		return nil, fleet.ErrNone
	}
	best.deliveries++
	best.holder = &taken{m: m, t: best, nth: best.deliveries}
	return best.holder, nil
}

func (m *Memory) held(label string) (n int) {
	for _, t := range m.tickets {
		if t.holder != nil && t.Label == label {
			n++
		}
	}
	return n
}

// Sizes tells what there is.
func (m *Memory) Sizes(context.Context) ([]fleet.Size, error) {
	end, err := m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	sums := map[fleet.Ticket]*fleet.Size{}
	for _, t := range m.tickets {
		key := fleet.Ticket{Label: t.Label, Priority: t.Priority}
		if sums[key] == nil {
			sums[key] = &fleet.Size{Label: t.Label, Priority: t.Priority, Limit: m.limits[t.Label]}
		}
		if t.holder != nil {
			sums[key].Taken++
		} else {
			sums[key].Waiting++
		}
	}
	var out []fleet.Size
	for _, s := range sums {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b fleet.Size) int { return cmp.Or(strings.Compare(a.Label, b.Label), a.Priority-b.Priority) })
	return out, nil
}

// Limit bounds a label.
func (m *Memory) Limit(_ context.Context, label string, most int) error {
	end, err := m.begin()
	if err != nil {
		return err
	}
	defer end()
	m.limits[label] = most
	m.tell()
	return nil
}

type taken struct {
	m   *Memory
	t   *ticket
	nth int
}

func (t *taken) Ticket() fleet.Ticket { return t.t.Ticket }

func (t *taken) Deliveries() int { return t.nth }

func (t *taken) Beat(context.Context) error { return nil }

func (t *taken) Done(context.Context) error {
	return t.answer(func() { t.m.remove(t.t.Run) })
}

func (t *taken) Retry(_ context.Context, after time.Duration) error {
	return t.answer(func() {
		if t.t.holder == t {
			if t.m.Hurry {
				after = min(after, time.Millisecond)
			}
			t.t.holder, t.t.not = nil, time.Now().Add(after)
			at := slices.Index(t.m.order, t.t.Run)
			t.m.order = append(slices.Delete(t.m.order, at, at+1), t.t.Run)
		}
	})
}

func (t *taken) Dead(_ context.Context, reason string) error {
	return t.answer(func() {
		t.m.dead[t.t.Run] = reason
		t.m.remove(t.t.Run)
	})
}

// answer does what a late answer does on a real server, too: it counts.
func (t *taken) answer(how func()) error {
	end, err := t.m.begin()
	if err != nil {
		return err
	}
	defer end()
	if t.m.tickets[t.t.Run] == t.t {
		how()
		t.m.tell()
	}
	return nil
}
