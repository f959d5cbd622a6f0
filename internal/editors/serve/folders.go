package serve

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"adze/internal/live/control"
	"adze/session"
	"adze/session/api"
)

// The server opens sessions in one folder, the first that the user named. It also shows those of
// other folders. These run in processes of their own; a prompt to a session without a process
// starts one in the background. This file alone decides which sessions a request may access.

// directory holds the sessions that requests may access.
type directory struct {
	backend        Backend
	remoteSessions *remoteSessions
	stir           func()
}

// sessions returns stored sessions and those of other processes that are not stored yet, newest
// first.
func (d directory) sessions(ctx context.Context) ([]session.Head, error) {
	all, err := d.backend.Sessions(ctx, most)
	if err != nil {
		return nil, err
	}
	stored := map[session.ID]bool{}
	for _, h := range all {
		stored[h.ID] = true
	}
	heads := slices.DeleteFunc(d.remoteSessions.heads(), func(h session.Head) bool { return stored[h.ID] })
	heads = append(heads, all...)
	sees := d.backend.Served()
	return slices.DeleteFunc(heads, func(h session.Head) bool { return !sees(h.Info().Cwd) }), nil
}

// session returns one of them, or session.ErrNotFound for one that is not shown.
func (d directory) session(ctx context.Context, id session.ID) (session.Head, error) {
	h, err := d.backend.Session(ctx, id)
	if b, is := d.remoteSessions.find(id); errors.Is(err, session.ErrNotFound) && is {
		h, err = b.head(), nil
	}
	if err == nil && !d.backend.Served()(h.Info().Cwd) {
		return session.Head{}, session.ErrNotFound
	}
	return h, err
}

// ask responds about a session of another folder without a process.
func (d directory) ask(q control.Request) (any, error) {
	switch q.Action {
	case control.Files:
		return []string{}, nil
	case control.Menu:
		return control.Choices{Commands: []api.Named{}, Modes: []api.Mode{}, Efforts: []api.Mode{}, History: []string{}}, nil
	}
	return nil, errAway
}

// found searches the shown sessions.
func (d directory) found(ctx context.Context, text string) ([]api.SearchResult, string, error) {
	all, note, err := d.backend.Search(ctx, text)
	sees := d.backend.Served()
	return slices.DeleteFunc(all, func(f api.SearchResult) bool { return !sees(f.Cwd) }), note, err
}

// away reports whether a session's folder is not the server's.
func (d directory) away(h session.Head) bool {
	cwd := h.Info().Cwd
	return cwd != "" && cwd != d.backend.Folders()[0]
}

var errAway = &refusal{http.StatusConflict, "this session is of another folder: send a message first, and it goes on there in the background"}

// beyond runs an action on a session of another folder without a process.
func (d directory) beyond(ctx context.Context, h session.Head, name string, a action) (any, error) {
	switch {
	case name != "say":
		return nil, errAway
	case len(a.Files) > 0:
		return nil, errFilesAway
	}
	return d.background(ctx, h.Info().Cwd, h.ID, a.Text)
}

var errFilesAway = &refusal{http.StatusConflict, "files are not sent to a session of another folder; name their paths instead"}

// begins starts a session in one of the folders.
func (d directory) begins(ctx context.Context, a action) (any, error) {
	switch {
	case !slices.Contains(d.backend.Folders(), a.Folder):
		return nil, &refusal{http.StatusNotFound, "no such folder here: adze serve names those in which a session can be begun"}
	case len(a.Files) > 0:
		return nil, errFilesAway
	}
	return d.background(ctx, a.Folder, "", a.Text)
}

// background starts a process for a new or existing session, and waits until the session is known
// here.
func (d directory) background(ctx context.Context, folder string, id session.ID, text string) (any, error) {
	if text == "" {
		return nil, &refusal{http.StatusBadRequest, "the message says nothing"}
	}
	// The session outlives the request.
	id, err := d.backend.Background(context.WithoutCancel(ctx), folder, id, text)
	if err != nil {
		return nil, asRefusal(err)
	}
	d.remoteSessions.Meet(id)
	d.stir()
	return done{ID: id, Text: "sent"}, nil
}

// heads returns other processes' sessions as described by them.
func (n *remoteSessions) heads() (out []session.Head) {
	for _, r := range n.All() {
		out = append(out, remoteSession{r, n}.head())
	}
	return out
}

// head returns the session as described by its owner.
func (b remoteSession) head() session.Head {
	h := session.Head{ID: b.Hello.Session, Name: b.Hello.Title, Created: b.Hello.OwnedSince, Updated: b.Hello.OwnedSince}
	if raw, err := json.Marshal(session.Start{Cwd: b.Hello.Cwd, Model: b.model()}); err == nil {
		h.Start = raw
	}
	return h
}
