package conversation

import (
	"context"
	"fmt"
	"sync"
	"time"

	"adze/internal/live"
	"adze/internal/sessiondb"
	"adze/session"
)

// toReview tags a session whose turn changed files, so that overviews show it until the user has
// reviewed it.
func toReview(stored session.Store, id session.ID, e session.Event) error {
	end, is := e.(session.TurnEnd)
	logs, ok := stored.(*sessiondb.Store)
	if !is || !ok || len(end.Result.Changed) == 0 {
		return nil
	}
	return logs.Owner().Label(context.Background(), id, sessiondb.Label{Kind: sessiondb.TagLabel, Value: live.ReviewTag, By: sessiondb.ByProgram})
}

// entitle asks the configured model for a new session's title after the first turn, in the
// background. Without a title the session is listed by its first prompt.
func (w *Conversation) entitle(ctx context.Context, asked string, r session.Result) {
	a, o := w.Settings.Process, &w.Settings.Request
	name := w.Settings.Config.TitleModel
	if w.person.Ask == nil || w.entitled || name == "" || r.Cause != session.CauseDone || !o.Saves() || w.resumed {
		return
	}
	w.entitled = true
	m, err := a.Models(w.Settings.Config).Named(name)
	if err != nil {
		w.observe(session.Notice{Text: fmt.Sprintf("title_model: %v", err)})
		return
	}
	w.naming.begin(func(ctx context.Context) {
		mask := a.Ring.Mask()
		title, used, err := m.Title(ctx, mask.Text(asked), mask.Text(r.Text))
		w.Session.Spend(m.Provider.Name(), m.Name, used)
		if err != nil {
			return
		}
		title = mask.Text(title)
		err = a.Change(ctx, func(logs *sessiondb.Store) error { // an error leaves the session without a title
			return logs.Owner().Label(ctx, w.Session.ID(), sessiondb.Label{Kind: sessiondb.TitleLabel, Value: title, By: sessiondb.ByModel})
		})
		if err == nil && w.person.Named != nil {
			w.person.Named(title)
		}
	})
	w.closers = append(w.closers, w.naming.end)
	if w.person.Clients.Headless { // its process ends after its last turn
		w.naming.await(ctx)
	}
}

// namingTime limits the wait for a background session's title.
const namingTime = 20 * time.Second

// titleRequest is a running request for a title. The zero value is none.
type titleRequest struct {
	cancel context.CancelFunc
	runs   sync.WaitGroup
}

func (n *titleRequest) begin(ask func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	n.runs.Go(func() { ask(ctx) })
}

// await waits for the title, at most namingTime.
func (n *titleRequest) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, namingTime)
	defer cancel()
	defer context.AfterFunc(ctx, n.cancel)()
	n.runs.Wait()
}

// end cancels a running request.
func (n *titleRequest) end() {
	n.cancel()
	n.runs.Wait()
}
