package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/run/process"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
)

// controlState tracks an attached window's control requests to the owner.
type controlState struct {
	calls []chan struct{} // waiting for the end of a call
	since api.Since       // starting point of the shown hunks
}

// errElsewhere returns an error for an operation that needs the owner.
func errElsewhere(what string) error {
	return usage.Mistake("/take goes on with the session here", "%s", what)
}

// control sends a request to the owner and waits for the reply; out, if not nil, receives the
// result.
func (w *attachedView) control(ctx context.Context, r control.Request, out any) error {
	client, err := w.owner(ctx)
	if err != nil {
		return err
	}
	result, err := client.Ask(ctx, live.Control{Type: "control", Request: r})
	var why *live.Failure
	switch {
	case errors.Is(err, live.ErrNobody):
		return errElsewhere("the process that had the session has let go of it")
	case errors.As(err, &why):
		return usage.Mistake(why.Hint, "%s", why.Message)
	case err != nil || out == nil:
		return err
	}
	return json.Unmarshal(result, out)
}

// callEnded reports that the running calls have ended.
func (w *attachedView) callEnded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		close(c)
	}
	w.calls = nil
}

// steers adds the operations that use control requests to the ports.
func (w *attachedView) steers(p *api.Ports) {
	p.Undo = func(ctx context.Context, u api.Undo) (out api.Undone, err error) {
		if u.Since || u.Git || u.Unknown {
			return out, errElsewhere("this window undoes only the last turn that changed files, and not git's own state or what changed while a call ran")
		}
		err = w.control(ctx, control.Request{Do: control.Undo, Redo: u.Redo, Dry: u.Dry}, &out)
		return out, err
	}
	p.Net = w.differences
	p.Revert = func(ctx context.Context, h api.NetHunk) session.Result { return w.hunk(ctx, control.Revert, h) }
	p.Stage = func(ctx context.Context, h api.NetHunk) session.Result { return w.hunk(ctx, control.Stage, h) }
	p.Run = func(ctx context.Context, command string) session.Result {
		return ended(w.control(ctx, control.Request{Do: control.Run, Text: command}, nil))
	}
	set := func(name, value string) error {
		if _, none := w.now(); none != nil {
			return none
		}
		go func() { // the interface must not block
			if err := w.control(context.Background(), control.Request{Do: control.Set, Name: name, Value: value}, nil); err != nil {
				w.tell(told(err).Error())
			}
		}()
		return nil
	}
	p.SetMode = func(name string) error { return set("mode", name) }
	p.SetEffort = func(name string) string {
		if set("effort", name) != nil {
			return ""
		}
		return name
	}
}

func ended(err error) session.Result {
	if errors.Is(err, context.Canceled) {
		return session.Sort(session.ErrInterrupted)
	}
	if err != nil {
		return process.Failure(err)
	}
	return session.Result{Cause: session.CauseDone}
}

// differences returns the net changes since a starting point, from the owner.
func (w *attachedView) differences(ctx context.Context, since api.Since) (out api.Net, err error) {
	var d control.Difference
	since = cmp.Or(since, api.SinceSession)
	if err := w.control(ctx, control.Request{Do: control.Changes, Since: since}, &d); err != nil {
		return out, err
	}
	out.From, out.Files = d.From, d.Files
	for i := range out.Files {
		for _, h := range out.Files[i].Hunks {
			out.Files[i].Diff += h.Text
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since = since
	return out, nil
}

// hunk makes the owner act on a hunk from differences, and waits for the call.
func (w *attachedView) hunk(ctx context.Context, do string, h api.NetHunk) session.Result {
	w.mu.Lock()
	since := w.since
	over := make(chan struct{})
	w.calls = append(w.calls, over)
	w.mu.Unlock()
	if h.Number < 0 || h.Number >= len(h.File.Hunks) {
		return ended(usage.Mistake("look at the changes once more", "the file changed meanwhile"))
	}
	err := w.control(ctx, control.Request{Do: do, Since: since, File: h.File.Path, Hunk: h.Number, Hash: h.File.Hunks[h.Number].Hash}, nil)
	if err == nil {
		select {
		case <-over:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	return ended(err)
}
