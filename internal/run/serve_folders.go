package run

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/cmd/sessions"
	"adze/internal/project/worktree"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/sessiondb"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
)

// Folders returns the folders named by the user.
func (h *serveBackend) Folders() []string { return h.dirs }

// trees returns the top folders of all worktrees of the named folders' repositories.
func (h *serveBackend) trees() (tops []string) {
	for _, dir := range h.dirs {
		tops = append(tops, worktree.Linked(dir)...)
	}
	return tops
}

// Served returns a function that reports whether a folder's sessions are shown.
func (h *serveBackend) Served() func(folder string) bool {
	if h.wish.all {
		return func(string) bool { return true }
	}
	trees := h.trees()
	return func(folder string) bool {
		return slices.Contains(h.dirs, folder) || slices.ContainsFunc(trees, func(top string) bool {
			return folder == top || strings.HasPrefix(folder, top+string(filepath.Separator))
		})
	}
}

// filter selects the shown sessions.
func (h *serveBackend) filter() sessiondb.Filter {
	if h.wish.all {
		return sessiondb.Filter{}
	}
	return sessiondb.Filter{Folders: h.dirs, Within: h.trees()}
}

func (h *serveBackend) Sessions(ctx context.Context, most int) ([]session.Head, error) {
	f := h.filter()
	f.Limit = most
	heads, _, err := h.stored.Page(ctx, f)
	return heads, err
}

func (h *serveBackend) Session(ctx context.Context, id session.ID) (session.Head, error) {
	f := h.filter()
	f.Prefix = string(id)
	heads, _, err := h.stored.Page(ctx, f)
	if err != nil {
		return session.Head{}, err
	}
	for _, head := range heads {
		if head.ID == id && id != "" {
			return head, nil
		}
	}
	return session.Head{}, session.ErrNotFound
}

// Background starts a process for a new session in a folder or an existing one, with the server's
// command line flags.
func (h *serveBackend) Background(ctx context.Context, folder string, id session.ID, prompt string) (session.ID, error) {
	if err := h.app.ByUser("a session in the background"); err != nil {
		return "", err
	}
	o := &flags.Request{Run: flags.New()}
	o.Cwd, o.Resume = folder, string(id)
	drop := []string{"--cwd="}
	if id != "" {
		drop = append(drop, "--agent=") // the session has its own
	}
	args := slices.DeleteFunc(slices.Clone(h.wish.given), func(w string) bool {
		return slices.ContainsFunc(drop, func(flag string) bool { return strings.HasPrefix(w, flag) })
	})
	args = append(args, "--cwd="+folder)
	if id != "" {
		args = append(args, "--resume="+string(id))
	}
	l, err := h.detach(ctx, o, args, prompt)
	if words := strings.TrimSpace(l.log); err != nil && words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return l.id, err
}

// Peek returns a short preview of a session.
func (h *serveBackend) Peek(ctx context.Context, id session.ID) (api.SessionPeek, error) {
	return hostio.Peek(ctx, h.stored, string(id))
}

// Tag adds a user's tag to a session, or removes it.
func (h *serveBackend) Tag(ctx context.Context, id session.ID, word string) error {
	l, err := sessions.TagOf(strings.TrimSpace(word))
	if err != nil {
		return usage.Mistake("", "write one word, such as keep, or -keep to take it away")
	}
	l.By, l.Value = sessiondb.ByPerson, h.app.Ring.Mask().Text(l.Value)
	return h.stored.Owner().Label(ctx, id, l)
}
