package list

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/async"
)

// lookupTime limits a lookup, because the user waits for it.
const lookupTime = 10 * time.Second

const looking = "looking…"

// Lookup fills the open list in the background.
func (p *List) Lookup(look func(ctx context.Context) ([]Choice, error)) tea.Cmd {
	p.Wait = looking
	serial := p.Serial
	return async.Try(func() ([]Choice, error) {
		ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
		defer cancel()
		return look(ctx)
	}, func(items []Choice, err error) tea.Cmd {
		if p.Open && serial == p.Serial { // another list may be open by now
			p.Fill(items, err)
		}
		return nil
	})
}

// lookup is a background request for the selected row or for the filter's text.
type lookup[T any] struct {
	key    string // the row's id or the filter
	look   func(ctx context.Context, of string) (T, error)
	serial int                // increases with each request
	cancel context.CancelFunc // cancels the running request; nil if none runs
	got    T
	note   string // why got is empty
	failed bool   // the note is an error
}

// drop cancels a running request.
func (l *lookup[T]) drop() {
	if l == nil {
		return
	}
	if l.serial++; l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// turn starts a new request and forgets the old result. It returns a message that runs the request,
// unless another one replaces it before; nil if of is empty. after is called with the result
// stored.
func (l *lookup[T]) turn(of, wait string, after func()) async.Continuation {
	l.drop()
	var none T
	l.key, l.got, l.note, l.failed = of, none, "", false
	if of == "" {
		return nil
	}
	serial := l.serial
	return func() tea.Cmd {
		if l.serial != serial {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), lookupTime)
		l.cancel, l.note = cancel, wait
		return async.Try(func() (T, error) { return l.look(ctx, of) }, func(got T, err error) tea.Cmd {
			if l.serial != serial {
				return nil
			}
			l.drop()
			l.got, l.note, l.failed = got, "", err != nil
			if err != nil {
				l.note = "error: " + err.Error()
			}
			after()
			return nil
		})
	}
}
