package fleet

import (
	"context"
	"io"
	"time"
)

// Ticket is what waits in the queue: a run, and which round of it is meant.
type Ticket struct {
	Run      string `json:"run"`
	Round    int    `json:"round"`
	Label    string `json:"label"`
	Priority int    `json:"priority"`
	Next     string `json:"next,omitempty"` // the run whose ticket is sent when this one is taken
	Copy     *Copy  `json:"copy,omitempty"` // if nil, the record is to be read
	Unknown  error  `json:"-"`              // what this version does not know of it
	Chained  bool   `json:"-"`              // a worker sent it, and it has no copy: what is asked for is read
}

// Copy is what is asked for, so that the first worker of a run need not read it. The run may have
// been begun since: only that nobody has written its record shows that it was not.
type Copy struct {
	Run Run `json:"run"`
}

// Queue hands tickets to workers. Contract:
//   - Submit has the ticket survive before it returns; while a ticket of that run waits or is taken
//     it is ErrQueue, except that with replace the new one takes its place; ErrFull: there is no
//     room;
//   - Take returns a ticket of one of the labels (none: any), lower priorities first but for now
//     and then, or ErrNone at once; no two workers have a ticket at the same time as long as the
//     one that has it beats in time;
//   - Await returns a ticket as Take does, and waits for one until ctx ends, which is ErrNone: one
//     that is submitted, whose delay is over or that a limit held back comes at once;
//   - a ticket whose worker neither beats nor answers is taken again, with Deliveries one higher;
//   - Remove takes a ticket away that waits; one that is not there is no error;
//   - Sizes tells what waits and what is taken, by label and priority; Limit bounds what of a label
//     is taken at a time.
type Queue interface {
	Submit(ctx context.Context, t Ticket, replace bool) error
	Remove(ctx context.Context, t Ticket) error
	Take(ctx context.Context, labels []string) (Taken, error)
	Await(ctx context.Context, labels []string) (Taken, error)
	Sizes(ctx context.Context) ([]Size, error)
	Limit(ctx context.Context, label string, most int) error
}

// Taken is a ticket in the hands of a worker. Contract:
//   - Beat says that it is still worked on;
//   - Done takes it away for good, Retry has it taken again after a while, Dead takes it away and
//     keeps it, with the reason, where dead letters are kept;
//   - an answer that comes late is no error: who has lost the ticket finds that out elsewhere.
type Taken interface {
	Ticket() Ticket
	Deliveries() int // from 1
	Beat(ctx context.Context) error
	Done(ctx context.Context) error
	Retry(ctx context.Context, after time.Duration) error
	Dead(ctx context.Context, reason string) error
}

// Size is how much of a label and priority there is.
type Size struct {
	Label    string `json:"label"`
	Priority int    `json:"priority"`
	Waiting  int    `json:"waiting"`
	Taken    int    `json:"taken"`
	Limit    int    `json:"limit,omitempty"` // of what is taken; if 0, none
}

// Record is a value of a book.
type Record struct {
	Key      string
	Value    []byte
	Revision uint64
	Caught   bool // by Watch: what was there at the beginning is told; no value
}

// Book keeps small values (up to 768 KiB) by key. Contract:
//   - Get of what is not there is ErrNone;
//   - Put makes a change that was made from that revision (0: there is none yet) and returns the
//     new one; when the value is at another revision it is ErrStale and nothing changes; what was
//     put survives;
//   - Delete removes a value, and nothing of it stays; one that is not there is no error;
//   - List tells all records whose key begins with a prefix that ends with a dot, or all of them
//     for an empty one, in any order;
//   - Watch tells the same, then each change, until ctx ends or the connection does for good; then
//     the channel is closed.
type Book interface {
	Get(ctx context.Context, key string) (Record, error)
	Put(ctx context.Context, key string, value []byte, revision uint64) (uint64, error)
	Delete(ctx context.Context, key string) error
	List(ctx context.Context, prefix string) ([]Record, error)
	Watch(ctx context.Context, prefix string) (<-chan Record, error)
}

// Leases say who works on what. Contract:
//   - Hold of a key that somebody else has is ErrHeld;
//   - a lease ends by itself 15 s after its last renewal, or when its server was told to end it;
//     Lost is closed after two thirds of that by the holder's own clock, so that there is time to
//     end what runs;
//   - Prove renews it now, and fails when it is lost, or with ErrAway when nobody could be asked;
//     Release gives it back.
type Leases interface {
	Hold(ctx context.Context, key string) (Lease, error)
}

// Lease is a key that this process holds.
type Lease interface {
	Lost() <-chan struct{}
	Prove(ctx context.Context) error
	Release(ctx context.Context) error
}

// Blobs keeps what is large under the SHA-256 of it, in hex. Contract:
//   - Keep of what is there already changes nothing but its age;
//   - Sweep removes what is old, by the time when it was kept last, and what nobody names, and
//     returns how many it removed; named is asked once, and only when something is old.
type Blobs interface {
	Keep(ctx context.Context, from io.ReadSeeker) (name string, err error)
	Fetch(ctx context.Context, name string, to io.Writer) error
	Sweep(ctx context.Context, old func(name string, kept time.Time) bool, named func() (map[string]bool, error)) (int, error)
}

// Cluster is all that a server does for a fleet.
type Cluster struct {
	Beat    time.Duration // how often a worker says that it still has a ticket; if 0, every 10 s
	Queue   Queue
	Runs    Book // asks and orders, which submitters write, runs and purses, which workers do
	Bodies  Book // tasks whose asks are masked, by run: submitters write them and workers read them
	Cancels Book // what is not to go on
	Pauses  Book // who is to wait for a provider
	Present Book // the workers that are there; a record goes by itself when it is not put for PresenceFor
	Leases  Leases
	Blobs   Blobs // patches, which workers keep
	Inputs  Blobs // long tasks, which submitters keep
}
