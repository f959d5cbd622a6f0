package fleet

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Follow tells the runs of a batch as they are and then each change, until ctx ends or all are
// over. A watch that breaks is begun again.
func (c Cluster) Follow(ctx context.Context, of string, tasks int, saw func(Run) error) error {
	f := following{asks: map[string]Run{}, runs: map[string]Run{}, cancels: map[string]cancel{}, seen: map[string]uint64{}, told: map[string]Run{}, over: map[string]bool{}, tasks: tasks, saw: saw}
	for {
		err := c.follow(ctx, of, &f)
		if !errors.Is(err, errBroken) {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(idleMost):
		}
	}
}

// following is what is known of a batch, and what of it was told.
type following struct {
	asks, runs map[string]Run
	cancels    map[string]cancel
	seen       map[string]uint64 // the revision, by kind and run
	told       map[string]Run
	over       map[string]bool
	tasks      int
	saw        func(Run) error
}

// change is a record that a watch told, and of which kind it is.
type seenRecord struct {
	kind string
	Record
}

// take notes a record and returns whose it is; if empty, it is old.
func (f *following) take(r seenRecord) (id string, err error) {
	id = strings.TrimPrefix(r.Key, r.kind)
	if r.Revision <= f.seen[r.kind+id] {
		return "", nil
	}
	f.seen[r.kind+id] = r.Revision
	switch r.kind {
	case asksBelow:
		f.asks[id], err = parse[Run](r.Record)
	case runsBelow:
		f.runs[id], err = parse[Run](r.Record)
	default:
		f.cancels[id], err = parse[cancel](r.Record)
	}
	return id, err
}

// tell tells of a run that is not as it was told last.
func (f *following) tell(id string) error {
	ask, run := f.asks[id], f.runs[id]
	if ask.ID == "" && run.ID == "" { // a cancel of it came first
		return nil
	}
	of, _, _ := strings.Cut(id, ".")
	now := combined(ask, run, later(f.cancels[id], f.cancels[wholeBatch(of)]))
	if last, told := f.told[id]; told && reflect.DeepEqual(last, now) {
		return nil
	}
	f.told[id] = now
	if now.State.Over() {
		f.over[id] = true
	} else {
		delete(f.over, id)
	}
	return f.saw(now)
}

// tellAll tells of all runs, in the order of their lines.
func (f *following) tellAll() error {
	var all []Run
	for id, ask := range f.asks {
		all = append(all, combined(ask, f.runs[id], f.cancels[id]))
	}
	for id, run := range f.runs {
		if _, there := f.asks[id]; !there {
			all = append(all, run)
		}
	}
	for _, r := range sorted(all) {
		if err := f.tell(r.ID); err != nil {
			return err
		}
	}
	return nil
}

// errBroken is a watch that ended before its time.
var errBroken = errors.New("the connection to the server broke")

func (c Cluster) follow(ctx context.Context, of string, f *following) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	changes := make(chan seenRecord)
	kinds := []string{asksBelow, runsBelow, ""}
	for _, kind := range kinds {
		book := c.Runs
		if kind == "" {
			book = c.Cancels
		}
		var in <-chan Record
		err := patiently(ctx, func() (err error) {
			in, err = book.Watch(ctx, kind+of+".")
			return err
		})
		if err != nil {
			return err
		}
		go func() {
			for r := range in {
				select {
				case changes <- seenRecord{kind, r}:
				case <-ctx.Done():
				}
			}
			select {
			case changes <- seenRecord{kind: broken}:
			case <-ctx.Done():
			}
		}()
	}
	var caught []string
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case r := <-changes:
			id, err := "", error(nil)
			switch {
			case r.kind == broken:
				return errBroken
			case r.Caught && !slices.Contains(caught, r.kind):
				if caught = append(caught, r.kind); len(caught) == len(kinds) {
					err = f.tellAll()
				}
			case !r.Caught:
				id, err = f.take(r)
				switch {
				case id == "" || err != nil || len(caught) < len(kinds):
				case id == wholeBatch(of):
					err = f.tellAll()
				default:
					err = f.tell(id)
				}
			}
			if err != nil || len(caught) == len(kinds) && len(f.over) >= f.tasks {
				return err
			}
		}
	}
}

// broken marks the end of a watch among what watches told.
const broken = "broken"
