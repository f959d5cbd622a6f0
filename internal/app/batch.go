package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/batch"
	"adze/internal/gate"
	"adze/internal/place"
	"adze/internal/store"
	"adze/session"
)

// batches is what adze batch asks of the program.
type batches struct{ *app }

// Batch makes a batch with what it needs of this program.
func (a batches) Batch() (*batch.Batch, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	b := &batch.Batch{
		Mirrors: filepath.Join(place.Of(a.Getenv).State, "mirrors"), Program: self, Env: os.Environ(), Keys: a.keys.Taken(),
		Gate: gateFlags, Sessions: a,
	}
	if seen, _ := a.watch.of(a.Getenv); seen != nil { // its children tell what cannot be sent
		b.Observer = seen
	}
	return b, nil
}

// Listen answers for health and figures while a batch runs.
func (a batches) Listen(address string) (stop func(), err error) {
	_, stop, err = a.watch.listen(address, nil)
	return stop, err
}

// batchOwns are flags of a run that a batch decides itself, or that need a person.
func batchOwns() []string {
	return []string{"print", "output-format", "input-format", "continue", "resume", "fork", "session-id", "worktree", "accept-plan", "cwd", "record", "replay",
		"no-session", "plain", "inline", "transcript", "demo", "help", "version"}
}

// RunFlags says what is wrong with flags that a task's adze gets.
func (a batches) RunFlags(flags []string) error {
	o, c := &options{}, &cobra.Command{Use: "adze"}
	addFlags(c, o)
	const hint = "adze --help lists the flags of a run"
	if err := c.ParseFlags(flags); err != nil {
		return misuse(hint, "%v", err)
	}
	if words := c.Flags().Args(); len(words) > 0 {
		return misuse(hint, "%q is no flag", words[0])
	}
	for _, name := range batchOwns() {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			return misuse("leave it out", "--%s is not for a task of a batch", name)
		}
	}
	o.print = true
	return o.check()
}

// gateFlags takes from flags of a run those that adze tools run knows, too.
func gateFlags(flags []string) (out []string) {
	o, c := &options{}, &cobra.Command{Use: "adze"}
	addFlags(c, o)
	if c.ParseFlags(flags) != nil {
		return nil // checked before
	}
	known := &cobra.Command{}
	(&gate.Flags{}).Add(known)
	for _, flag := range []struct {
		name   string
		values []string
	}{{"permission-mode", []string{o.Mode}}, {"sandbox", []string{o.Sandbox}}, {"allow", o.Allow}, {"ask", o.Asks}, {"deny", o.Deny}} {
		if !c.Flags().Changed(flag.name) || known.Flags().Lookup(flag.name) == nil {
			continue
		}
		for _, v := range flag.values {
			out = append(out, "--"+flag.name+"="+v)
		}
	}
	return out
}

// Last is the newest session that was begun in a folder since then, and how its last turn ended.
func (a batches) Last(ctx context.Context, dir string, since time.Time) (id session.ID, last *session.Result, err error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	err = a.Store(ctx, func(s *store.Store) error {
		heads, _, err := s.Page(ctx, store.Filter{Folder: dir, Since: since})
		if err != nil {
			return err
		}
		at := slices.IndexFunc(heads, func(h session.Head) bool {
			info := h.Info()
			return info.Cwd == dir && info.Agent == "" && !h.Created.Before(since)
		})
		if at < 0 {
			return nil
		}
		id = heads[at].ID
		entries, err := s.Load(ctx, id)
		last = howEnded(entries)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	return id, last, err
}

// howEnded is how the last turn of a log ended, with the cost of all; nil: it has not.
func howEnded(entries []session.Entry) *session.Result {
	var last *session.Result
	sum := 0.0
	for _, entry := range entries {
		switch entry.Type {
		case session.EndEntry:
			r := &session.Result{}
			if json.Unmarshal(entry.Data, r) != nil {
				continue
			}
			if last = r; r.Cost != nil {
				sum += *r.Cost
				last.Cost = &sum
			}
		case session.MessageEntry, session.OutcomeEntry:
			last = nil
		}
	}
	return last
}
