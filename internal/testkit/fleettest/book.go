package fleettest

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/fleet"
)

type book struct {
	m        *Memory
	revision uint64
	values   map[string]fleet.Record
	watchers map[*watcher]bool
}

type watcher struct {
	prefix string
	more   chan struct{} // something was queued
	queue  []fleet.Record
}

func newBook(m *Memory) *book {
	return &book{m: m, values: map[string]fleet.Record{}, watchers: map[*watcher]bool{}}
}

func (b *book) Get(_ context.Context, key string) (fleet.Record, error) {
	end, err := b.m.begin()
	if err != nil {
		return fleet.Record{}, err
	}
	defer end()
	r, there := b.values[key]
	if !there {
		return r, fleet.ErrNone
	}
	return r, nil
}

func (b *book) Put(_ context.Context, key string, value []byte, revision uint64) (uint64, error) {
	end, err := b.m.begin()
	if err != nil {
		return 0, err
	}
	defer end()
	if b.values[key].Revision != revision {
		return 0, fleet.ErrStale
	}
	b.revision++
	r := fleet.Record{Key: key, Value: append([]byte(nil), value...), Revision: b.revision}
	b.values[key] = r
	for w := range b.watchers {
		if strings.HasPrefix(key, w.prefix) {
			w.add(r)
		}
	}
	if b.m.swallow > 0 {
		b.m.swallow--
		return 0, fmt.Errorf("%w in time", fleet.ErrAway)
	}
	return r.Revision, nil
}

func (b *book) Delete(_ context.Context, key string) error {
	end, err := b.m.begin()
	if err != nil {
		return err
	}
	defer end()
	delete(b.values, key)
	return nil
}

func (w *watcher) add(r fleet.Record) {
	w.queue = append(w.queue, r)
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (b *book) List(_ context.Context, prefix string) ([]fleet.Record, error) {
	end, err := b.m.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	var out []fleet.Record
	for key, r := range b.values {
		if strings.HasPrefix(key, prefix) {
			out = append(out, r)
		}
	}
	return out, nil
}

func (b *book) Watch(ctx context.Context, prefix string) (<-chan fleet.Record, error) {
	end, err := b.m.begin()
	if err != nil {
		return nil, err
	}
	w := &watcher{prefix: prefix, more: make(chan struct{}, 1)}
	for key, r := range b.values {
		if strings.HasPrefix(key, prefix) {
			w.add(r)
		}
	}
	w.add(fleet.Record{Caught: true})
	b.watchers[w] = true
	end()
	out := make(chan fleet.Record)
	go b.pass(ctx, w, out)
	return out, nil
}

func (b *book) pass(ctx context.Context, w *watcher, out chan<- fleet.Record) {
	defer close(out)
	for {
		b.m.mu.Lock()
		next := w.queue
		if w.queue = nil; ctx.Err() != nil {
			delete(b.watchers, w)
		}
		b.m.mu.Unlock()
		for _, r := range next {
			select {
			case out <- r:
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			b.m.mu.Lock()
			delete(b.watchers, w)
			b.m.mu.Unlock()
			return
		}
		select {
		case <-w.more:
		case <-ctx.Done():
		}
	}
}
