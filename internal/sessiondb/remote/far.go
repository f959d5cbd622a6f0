// Package remote is the place of stored sessions when that is a server: who names it, how a run
// writes there, and how commands that look at sessions read it.
//
// The one rule: a command works on a copy, in a database that is gone afterwards, whose entries
// were checked against their chain.
//
// Start reading at Place.URL. Known limits: a command that names no session copies all of them;
// names and tags are of the sessions of this machine alone.
package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"adze/internal/fleet/natsclient"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/natsstore"
	"adze/internal/text/usage"
	"adze/session"
)

// Place says where sessions are.
type Place struct {
	Words   []string // of the command line: they may name sessions
	address string   // of --store

	mu  sync.Mutex // guards what follows
	end context.CancelCauseFunc
}

// Flag is --store of a command that reads or writes sessions.
func (p *Place) Flag(c *cobra.Command) {
	c.Flags().StringVar(&p.address, "store", "", "keep sessions in NATS JetStream at this `URL`, nats://HOST:PORT; also ADZE_STORE")
}

// Readers gives --store to the commands that only look at sessions.
func (p *Place) Readers(root *cobra.Command) {
	for _, group := range root.Commands() {
		if group.Name() != "sessions" && group.Name() != "audit" {
			continue
		}
		for _, c := range group.Commands() {
			if slices.Contains([]string{"list", "show", "export", "search", "why", "verify", "stats", "delete"}, c.Name()) {
				p.Flag(c)
			}
		}
	}
}

// URL is where the sessions are; if empty, on this machine.
func (p *Place) URL(getenv func(string) string) (string, error) {
	url := cmp.Or(p.address, getenv("ADZE_STORE"))
	if url != "" && !natsclient.IsURL(url) {
		return "", usage.Mistake("--store nats://HOST:PORT", "--store wants the address of NATS servers")
	}
	return url, nil
}

// Open connects. The store closes the connection.
func (p *Place) Open(ctx context.Context, url string, getenv func(string) string, o natsstore.Options) (*natsstore.Store, error) {
	c, err := natsclient.Dial(ctx, natsclient.FromEnvironment(natsclient.Options{URL: url}, func(name string) string {
		if name == "ADZE_NATS" { // that is the queue's
			return ""
		}
		return getenv(name)
	}))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	s, err := natsstore.Open(ctx, c, true, o)
	if err != nil {
		c.Close()
	}
	return s, err
}

// Named is the flag that finds the sessions again, with a space before it; empty where none was
// given.
func (p *Place) Named() string {
	if p.address == "" {
		return ""
	}
	return " --store " + p.address
}

// Ending has a lost lease end the run.
func (p *Place) Ending(cancel context.CancelCauseFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end = cancel
}

// Lost ends the run, with the processes of its calls: another worker may go on with the session in
// some seconds.
func (p *Place) Lost(id session.ID, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		p.end(&session.ComposeError{Cause: session.CauseStore, Message: fmt.Sprintf("session %s: %v", id, err), Hint: "another worker may go on with it; look before you do"})
	}
}

// Local refuses what only the store of this machine can do.
func (p *Place) Local(getenv func(string) string) error {
	url, err := p.URL(getenv)
	if err == nil && url != "" {
		err = usage.Mistake("use the store of this machine: without --store and ADZE_STORE", "sessions on a server are written by their runs alone")
	}
	return err
}

// Mirrored hands over a copy of what a command may ask for: the sessions that the command line
// names, with their subagents; all where it names none. What does not fit its chain is not copied,
// but an error where one session is meant, and else told to bad.
func (p *Place) Mirrored(ctx context.Context, url string, getenv func(string) string, bad func(error), use func(*sessiondb.Store) error) error {
	logs, err := p.Open(ctx, url, getenv, natsstore.Options{})
	if err != nil {
		return err
	}
	defer logs.Close()
	heads, err := logs.List(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", sessiondb.ErrOpen, err)
	}
	dir, err := os.MkdirTemp("", "adze-store-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	copied, err := sessiondb.Open(ctx, filepath.Join(dir, "sessions.db"), sessiondb.Options{})
	if err != nil {
		return err
	}
	asked := p.named(heads)
	for _, h := range slices.Backward(asked) {
		log, err := logs.Load(ctx, h.ID)
		if errors.Is(err, sessiondb.ErrDamaged) && len(asked) > 1 {
			bad(fmt.Errorf("session %s is left out: %w", h.ID, err))
			continue
		}
		if err == nil {
			err = copied.Append(ctx, h.ID, log...)
		}
		if err != nil {
			return errors.Join(err, copied.Close())
		}
	}
	return errors.Join(use(copied), copied.Close())
}

// named are the sessions that the command line may mean.
func (p *Place) named(heads []session.Head) (out []session.Head) {
	for _, h := range heads {
		info := h.Info()
		if slices.ContainsFunc(p.Words, func(w string) bool {
			return len(w) > 3 && (strings.HasPrefix(string(h.ID), w) || info.Agent != "" && strings.HasPrefix(string(info.Parent), w))
		}) {
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		return heads
	}
	return out
}

// Page chooses from a list as the store of this machine does.
func (p *Place) Page(ctx context.Context, url string, getenv func(string) string, f sessiondb.Filter) ([]session.Head, int, error) {
	if len(f.Tags) > 0 {
		return nil, 0, usage.Mistake("leave the tag out", "sessions on a server have no tags")
	}
	logs, err := p.Open(ctx, url, getenv, natsstore.Options{})
	if err != nil {
		return nil, 0, err
	}
	defer logs.Close()
	heads, err := logs.List(ctx)
	if err != nil {
		return nil, 0, err
	}
	heads = slices.DeleteFunc(heads, func(h session.Head) bool {
		info := h.Info()
		if len(h.Start) == 0 {
			return !strings.HasPrefix(string(h.ID), f.Prefix) // a damaged one: where it worked is not known
		}
		return f.Folder != "" && info.Cwd != f.Folder || !f.All && info.Agent != "" || h.Updated.Before(f.Since) || !strings.HasPrefix(string(h.ID), f.Prefix)
	})
	total := len(heads)
	heads = heads[min(f.Skip, total):]
	if f.Limit > 0 {
		heads = heads[:min(f.Limit, len(heads))]
	}
	return heads, total, nil
}

// Doubts says what a user should know of the servers that keep a session.
func Doubts(ctx context.Context, logs session.Store) (out []string) {
	s, ok := logs.(*natsstore.Store)
	if !ok {
		return nil
	}
	if w := s.Warning(); w != "" {
		out = append(out, w)
	}
	if d := s.Durability(ctx); !d.Proven {
		out = append(out, d.String())
	}
	return out
}
