package list

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"adze/tui/async"
)

// lookupTime bounds how long a lookup may take: the user waits for it.
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
		if p.Open && serial == p.Serial { // else another list is open by now
			p.Fill(items, err)
		}
		return nil
	})
}

// lookup is a question of an open list: about its marked row, or about the text of its filter.
type lookup[T any] struct {
	of     string // the row or the filter
	look   func(ctx context.Context, of string) (T, error)
	serial int                // counts what it was for
	cancel context.CancelFunc // of the running look; if nil, none runs
	got    T
	note   string // why there is nothing
	failed bool   // the note is an error
}

// drop ends a running look.
func (l *lookup[T]) drop() {
	if l == nil {
		return
	}
	if l.serial++; l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// turn forgets what was found, for something else. The returned message looks, when its time has
// come and that is still wanted; if nil, there is nothing to look up. After is called with the
// answer.
func (l *lookup[T]) turn(of, wait string, after func()) async.Then {
	l.drop()
	var none T
	l.of, l.got, l.note, l.failed = of, none, "", false
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
