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

// The server opens sessions in one folder, the first that the user named. It shows those of other
// folders, too: each runs in a process of its own, and a prompt to one that nobody has begins such
// a process in the background. This file alone decides who may know of a session.

// directory is the sessions that there are, as each sender of a request may know of them.
type directory struct {
	house      House
	neighbours *neighbours
	stir       func()
}

// sessions are the newest first: those that are stored, and those of other processes in which
// nothing was said yet.
func (d directory) sessions(ctx context.Context) ([]session.Head, error) {
	all, err := d.house.Sessions(ctx, most)
	if err != nil {
		return nil, err
	}
	stored := map[session.ID]bool{}
	for _, h := range all {
		stored[h.ID] = true
	}
	heads := slices.DeleteFunc(d.neighbours.heads(), func(h session.Head) bool { return stored[h.ID] })
	heads = append(heads, all...)
	sees := d.house.Served()
	return slices.DeleteFunc(heads, func(h session.Head) bool { return !sees(h.Info().Cwd) }), nil
}

// session is one of them; one that is not shown is session.ErrNotFound.
func (d directory) session(ctx context.Context, id session.ID) (session.Head, error) {
	h, err := d.house.Session(ctx, id)
	if b := d.neighbours.find(id); errors.Is(err, session.ErrNotFound) && b != nil {
		h, err = b.head(), nil
	}
	if err == nil && !d.house.Served()(h.Info().Cwd) {
		return session.Head{}, session.ErrNotFound
	}
	return h, err
}

// ask answers what a page asks about a session of another folder that no process has.
func (d directory) ask(ctx context.Context, h session.Head, q control.Request) (any, error) {
	switch q.Do {
	case control.Files:
		return filesOf(ctx, d.house, h, q.Text)
	case control.Menu:
		return control.Choices{Commands: []api.Named{}, Modes: []api.Mode{}, Efforts: []api.Mode{}, Past: []string{}}, nil
	}
	return nil, errAway
}

// found searches the sessions that are shown.
func (d directory) found(ctx context.Context, text string) ([]api.Found, string, error) {
	all, note, err := d.house.Search(ctx, text)
	sees := d.house.Served()
	return slices.DeleteFunc(all, func(f api.Found) bool { return !sees(f.Cwd) }), note, err
}

// away reports a session of a folder in which the server opens none.
func (d directory) away(h session.Head) bool {
	cwd := h.Info().Cwd
	return cwd != "" && cwd != d.house.Folders()[0]
}

var errAway = &refusal{http.StatusConflict, "this session is of another folder: send a message first, and it goes on there in the background"}

// beyond does an action in a session of another folder that no process has.
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

// begins begins a session in one of the folders.
func (d directory) begins(ctx context.Context, a action) (any, error) {
	switch {
	case !slices.Contains(d.house.Folders(), a.Folder):
		return nil, &refusal{http.StatusNotFound, "no such folder here: adze serve names those in which a session can be begun"}
	case len(a.Files) > 0:
		return nil, errFilesAway
	}
	return d.background(ctx, a.Folder, "", a.Text)
}

// background has a process begin a session, or go on with one, and waits until it is known here.
func (d directory) background(ctx context.Context, folder string, id session.ID, text string) (any, error) {
	if text == "" {
		return nil, &refusal{http.StatusBadRequest, "the message says nothing"}
	}
	// The session outlives the request.
	id, err := d.house.Background(context.WithoutCancel(ctx), folder, id, text)
	if err != nil {
		return nil, asRefusal(err)
	}
	d.neighbours.meet(id)
	d.stir()
	return done{ID: id, Text: "sent"}, nil
}

// heads are the sessions of other processes, as those tell of them.
func (n *neighbours) heads() (out []session.Head) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, b := range n.all {
		out = append(out, b.head())
	}
	slices.SortFunc(out, func(a, b session.Head) int { return b.Updated.Compare(a.Updated) })
	return out
}

// meet knows the session of another process from now on, if it lives.
func (n *neighbours) meet(id session.ID) {
	if id == "" || n.sockets == "" || n.find(id) != nil {
		return
	}
	n.adding.Lock()
	defer n.adding.Unlock()
	if n.find(id) == nil {
		n.add(id)
	}
}

// head is the session as its owner tells of it.
func (b *neighbour) head() session.Head {
	h := session.Head{ID: b.hello.Session, Name: b.hello.Title, Created: b.hello.Since, Updated: b.hello.Since}
	if raw, err := json.Marshal(session.Start{Cwd: b.hello.Cwd, Model: b.hello.Provider + "/" + b.hello.Model}); err == nil {
		h.Start = raw
	}
	return h
}
