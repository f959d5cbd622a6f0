package acp

import (
	"context"
	"fmt"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"

	"adze/session"
)

// Clients: other processes of the user in a session that an editor has open. The protocol does not
// have them. The editor gets their prompts as the user's, and a notice if a session moved to
// another process; its next prompt moves the session back.

// Begin queues a prompt behind the running turn and earlier prompts.
func (t *thread) Begin(p Prompt) error {
	if err := t.checkOpen(); err != nil {
		return err
	}
	t.mu.Lock()
	before, done := t.last, make(chan struct{})
	t.last = done
	t.mu.Unlock()
	t.agent.beside.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		u, end, err := t.begin(context.Background(), true)
		if err != nil {
			return // it was closed
		}
		defer end()
		if t.checkOpen() != nil {
			return
		}
		t.post(sdk.SessionUpdate{UserMessageChunk: &sdk.SessionUpdateUserMessageChunk{Content: sdk.TextBlock(p.Text)}})
		if r := t.run(u, p); r.Cause != session.CauseDone {
			t.updates.notice(endOf(r))
		}
	})
	return nil
}

// Stop cancels the running turn, or returns false.
func (t *thread) Stop() bool { return t.cancel(session.ErrInterrupted) }

// Changed sends the new mode to the editor.
func (t *thread) Changed() { t.updates.over() }

// Leave hands the session over.
func (t *thread) Leave(to string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.movedTo != "" {
		return
	}
	t.movedTo = to
	t.agent.beside.Go(func() {
		t.cancel(fmt.Errorf("%w: it goes on in %s", session.ErrTaken, to))
		_, end, err := t.begin(context.Background(), true)
		if err != nil {
			return // it was closed
		}
		defer end()
		t.told = len(t.current().Replay())
		t.current().Close()
		t.updates.notice("this session goes on in " + to + "; your next prompt takes it back")
	})
}

// checkOpen returns an error if the session is closed or elsewhere.
func (t *thread) checkOpen() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return refuse(codeNotFound, "this session was closed")
	case t.movedTo != "":
		return refuse(jsonrpc2.CodeInvalidRequest, "this session goes on in "+t.movedTo+"; a prompt takes it back")
	}
	return nil
}

// back takes the session back if it is elsewhere. The caller holds the turn.
func (t *thread) back(ctx context.Context) error {
	t.mu.Lock()
	away := t.movedTo != ""
	t.mu.Unlock()
	if !away {
		return nil
	}
	err := t.again(ctx, func(w *OpenRequest) error {
		if w.ID == "" {
			return nil // it is not stored
		}
		return t.agent.Program.Take(ctx, w.ID)
	})
	if err != nil {
		return t.agent.refusal(err)
	}
	story := t.current().Replay()
	for _, e := range story[min(t.told, len(story)):] {
		t.updates.replay(e)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.movedTo = ""
	return nil
}
