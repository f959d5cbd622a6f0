package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"adze/internal/fleet/batch"
	"adze/internal/text/jsontext"
)

// Bounds of a task, in bytes as JSON.
const (
	inlineTask = 64 << 10 // a longer one is a blob: lists of runs read all records
	maxTask    = 8 << 20
	shortRun   = 8 << 10 // of a record that its ticket has a copy of
)

// together is how many tasks are submitted at the same time.
const together = 16

// Names of a task's labels that say where it waits.
const (
	LabelKey    = "queue"
	PriorityKey = "priority"
)

// Submission is a batch that is put on a server. One that was cut off is submitted again with the
// id that Order got the first time: what is there already stays as it is.
type Submission struct {
	Order
	Tasks    []batch.Task
	Label    string // of tasks that name none
	Priority int
	Told     func(done int)

	chain chain
	// RedactJSON masks secrets in what all can see. Optional.
	RedactJSON func([]byte) []byte
}

// Mistake is a task that no server is asked to keep.
type Mistake struct {
	Line int
	What string
}

// Error names the line.
func (m *Mistake) Error() string { return fmt.Sprintf("line %d: %s", m.Line, m.What) }

// Prepare fills in what is usual, gives the batch an id where it has none, and finds mistakes
// before anything is sent.
func (s *Submission) Prepare(now time.Time) error {
	if s.ID == "" {
		s.ID = newBatch()
	}
	if s.Attempts < 1 {
		s.Attempts = UsualAttempts
	}
	if s.Label == "" {
		s.Label = UsualLabel
	}
	if s.Priority == 0 {
		s.Priority = UsualPriority
	}
	s.Order.Tasks, s.Created = len(s.Tasks), now.UTC().Truncate(time.Second)
	ids := map[string]int{}
	for _, t := range s.Tasks {
		if _, err := s.run(t); err != nil {
			return &Mistake{t.Line, err.Error()}
		}
		id := runID(s.ID, t)
		if at, twice := ids[id]; twice {
			return &Mistake{t.Line, fmt.Sprintf("its id cannot be told from that of line %d; give one of them another \"id\"", at)}
		}
		ids[id] = t.Line
	}
	var err error
	s.chain, err = s.chains()
	return err
}

// run is the record of a task before anything is done with it.
func (s *Submission) run(t batch.Task) (Run, error) {
	r := Run{ID: runID(s.ID, t), Batch: s.ID, Label: s.Label, Priority: s.Priority, Line: t.Line, Task: t.ID, Source: t.Source(), State: Waiting, Round: 1, Created: s.Created, Changed: s.Created}
	r.Next = s.chain.next[r.ID]
	if l := t.Labels[LabelKey]; l != "" {
		r.Label = l
	}
	if p := t.Labels[PriorityKey]; p != "" {
		if len(p) != 2 || p[0] != 'p' || p[1] < '1' || p[1] > '3' {
			return r, fmt.Errorf("the label %q is p1, p2 or p3, and not %q", PriorityKey, p)
		}
		r.Priority = int(p[1] - '0')
	}
	if !SoundLabel(r.Label) {
		return r, fmt.Errorf("the label %q is of small letters, digits and -, at most 32, and not %q", LabelKey, r.Label)
	}
	raw, err := jsontext.Marshal(t)
	if len(raw) > maxTask {
		return r, fmt.Errorf("the task has %d MB, and %d are the most; put what is long into a file of the repository", len(raw)>>20, maxTask>>20)
	}
	return r, err
}

// SoundLabel says whether a word can be a label of tasks.
func SoundLabel(label string) bool {
	return label != "" && len(label) <= 32 && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Submit puts a prepared batch on the server. After an error the same submission can be sent again.
func (c Cluster) Submit(ctx context.Context, s *Submission) error {
	err := patiently(ctx, func() error {
		_, err := write(ctx, c.Runs, ordersBelow+s.ID, s.Order, 0)
		if errors.Is(err, ErrStale) {
			_, err = written[Order](ctx, c.Runs, ordersBelow+s.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(together)
	done := make(chan struct{}, len(s.Tasks))
	for _, t := range s.Tasks {
		g.Go(func() error {
			defer func() { done <- struct{}{} }()
			if err := patiently(ctx, func() error { return c.submit(ctx, s, t) }); err != nil {
				return fmt.Errorf("line %d: %w", t.Line, err)
			}
			return nil
		})
		if s.Told != nil {
			s.Told(len(done))
		}
	}
	return g.Wait()
}

// submit writes what is asked for, then the ticket. Where the ask is there already, only a ticket
// that is missing is sent.
func (c Cluster) submit(ctx context.Context, s *Submission, t batch.Task) error {
	r, err := s.run(t)
	if err != nil {
		return err
	}
	if r.Work, err = c.keepTask(ctx, s, r.ID, t); err != nil {
		return err
	}
	_, err = write(ctx, c.Runs, asksBelow+r.ID, r, 0)
	if errors.Is(err, ErrStale) {
		if _, err = written[Run](ctx, c.Runs, asksBelow+r.ID); err == nil {
			if r, err = c.Run(ctx, r.ID); err == nil && r.State != Waiting {
				return nil
			}
		}
	}
	if err != nil {
		return err
	}
	return c.sendFirst(ctx, r, s.chain.before[r.ID])
}

// send has a run wait in the queue, with a copy of what is asked for where it is short.
func (c Cluster) send(ctx context.Context, r Run, replace bool) error {
	t := ticketOf(r)
	if raw, err := jsontext.Marshal(r); r.Round == 1 && err == nil && len(raw) <= shortRun {
		t.Copy = &Copy{r}
	}
	return c.queue(ctx, t, replace)
}

func ticketOf(r Run) Ticket {
	return Ticket{Run: r.ID, Round: r.Round, Label: r.Label, Priority: r.Priority, Next: r.Next}
}

// queue submits a ticket, unless it is there.
func (c Cluster) queue(ctx context.Context, t Ticket, replace bool) error {
	err := c.Queue.Submit(ctx, t, replace)
	if errors.Is(err, ErrQueue) {
		return nil
	}
	return err
}

// Patch writes the patch of a run; one without a patch writes nothing.
func (c Cluster) Patch(ctx context.Context, r Run, to io.Writer) error {
	if r.Patch == "" {
		return nil
	}
	var all bytes.Buffer
	most := patchTakes
	err := patiently(ctx, func() error { // what a lost leader was sending never comes, and says nothing
		all.Reset()
		try, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		most *= 2
		return c.Blobs.Fetch(try, r.Patch, &all)
	})
	if err != nil {
		return err
	}
	_, err = all.WriteTo(to)
	return err
}

// sorted puts runs in the order of their batches and lines.
func sorted(runs []Run) []Run {
	slices.SortFunc(runs, func(a, b Run) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		if c := strings.Compare(a.Batch, b.Batch); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
	return runs
}
