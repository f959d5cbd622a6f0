package conversation

import (
	"context"
	"fmt"
	"time"

	"adze/internal/live"
	"adze/internal/llm/models"
	"adze/internal/sessiondb"
	"adze/session"
)

// toReview returns the run's observer. If the end of a turn that changed files may go unnoticed, it
// first tags the session, so that overviews show it until the user has reviewed it.
func (w *Conversation) toReview() func(session.Event) {
	logs, ok := w.Stored.(*sessiondb.Store)
	if !ok || !w.person.Unseen {
		return w.observe
	}
	return func(e session.Event) {
		if end, is := e.(session.TurnEnd); is && len(end.Result.Changed) > 0 {
			err := logs.Owner().Label(context.Background(), w.id, sessiondb.Label{Kind: sessiondb.TagLabel, Value: live.ReviewTag, Author: sessiondb.ByProgram})
			if err != nil {
				w.notice("the session is not marked for review: " + w.Settings.Ring.Mask().Text(err.Error()))
			}
		}
		w.observe(e)
	}
}

// entitle asks the configured model for a new session's title after the first turn, in the
// background. Without a title the session is listed by its first prompt.
func (w *Conversation) entitle(ctx context.Context, asked string, r session.Result) {
	o := &w.Settings.Request
	name := w.Settings.Config.TitleModel
	if w.person.Ask == nil || w.entitled || name == "" || r.Cause != session.CauseDone || !o.Saves() || w.resumed {
		return
	}
	w.entitled = true
	m, err := w.Settings.Models(w.Settings.Config).Named(name)
	if err != nil {
		w.observe(session.Notice{Text: fmt.Sprintf("title_model: %v", err)})
		return
	}
	asking, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.askTitle(asking, m, asked, r.Text)
	}()
	w.closers = append(w.closers, func() { cancel(); <-done })
	if w.person.Clients.Headless { // its process ends after its last turn
		wait, stop := context.WithTimeout(ctx, namingTime)
		defer stop()
		defer context.AfterFunc(wait, cancel)()
		<-done
	}
}

// namingTime limits the wait for a background session's title.
const namingTime = 20 * time.Second

// askTitle asks a model for the title and stores it. After an error the session has none.
func (w *Conversation) askTitle(ctx context.Context, m models.Model, asked, answered string) {
	a := w.Settings.Process
	mask := a.Ring.Mask()
	title, used, err := m.Title(ctx, mask.Text(asked), mask.Text(answered))
	w.Session.Spend(m.Provider.Name(), m.Name, used)
	if err != nil {
		return
	}
	title = mask.Text(title)
	err = a.Change(ctx, func(logs *sessiondb.Store) error {
		return logs.Owner().Label(ctx, w.Session.ID(), sessiondb.Label{Kind: sessiondb.TitleLabel, Value: title, Author: sessiondb.ByModel})
	})
	if err == nil && w.person.Named != nil {
		w.person.Named(title)
	}
}
