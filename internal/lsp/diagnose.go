package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// settle is how long a server that names no versions has to be silent before its last word counts,
// and how long one that has answered for a file is heard about the others.
const settle = 60 * time.Millisecond

// doubt is the same where it has found nothing: servers say what they find in pieces, and the first
// is often empty.
const doubt = 500 * time.Millisecond

// Findings are what a server says after a change.
type Findings struct {
	Server string
	// New are the problems that were not there before the change, errors first; More counts those
	// that are left out.
	New  []Problem
	More int
	// Late are such of an earlier change, of which nothing was known then.
	Late []Problem
	// Unknown says why nothing is known of this change yet; empty: New is all there is.
	Unknown string
}

// asked is a change whose answer has not come.
type asked struct {
	version int
	before  map[string]int
}

// Changed tells the file's server what stands in it now, and what is wrong that was not before. It
// returns within the time that Options give; what comes later is told with the next change. ok is
// false when there is no server that may run.
func (s *Servers) Changed(ctx context.Context, path, before, after string) (f Findings, ok bool) {
	if len(after) > maxText || len(before) > maxText {
		return f, false
	}
	v := s.server(path)
	if v == nil {
		return f, false
	}
	f.Server = v.lang.Name
	limit := s.opts.Warm
	switch v.show().State {
	case held: // that is the person's wish, and nothing to be told with each edit
		return f, false
	case failed:
		if v.givenUp() {
			return f, false
		}
		limit = s.opts.Cold
	case ready:
	default:
		limit = s.opts.Cold
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := v.await(ctx)
	if err == nil {
		err = v.change(ctx, path, before, after, &f)
	}
	if err == nil {
		return f, true
	}
	f.Unknown, ok = v.news(err, time.Since(began))
	return f, ok
}

// reason says why nothing is known.
func reason(err error, waited time.Duration) string {
	switch {
	case errors.Is(err, errNotReady):
		return "it is still starting"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Sprintf("no answer within %s", waited.Round(10*time.Millisecond))
	}
	return err.Error()
}

// news is what to tell of a change of which nothing is known; false: nothing that was not told
// before. A program that does not come up is told of once: with what it said, which is of more use
// than that it is started again.
func (v *server) news(err error, waited time.Duration) (string, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.broken == "" {
		return reason(err, waited), true
	}
	before := v.told
	v.told = true
	return v.broken, !before
}

// change sends a change and waits for what the server says of it.
func (v *server) change(ctx context.Context, path, before, after string, f *Findings) error {
	uri := uriOf(path)
	v.mu.Lock()
	_, open := v.docs[uri]
	v.mu.Unlock()
	if !open && before != "" {
		if err := v.settled(ctx, path, before, nil); err != nil {
			return err
		}
	}
	was, version := v.counts(), 0
	kind := fileChanged
	if before == "" {
		kind = fileCreated
	}
	err := v.settled(ctx, path, after, func(conn *jsonrpc2.Conn, now int) error {
		version = now
		if err := v.watched(ctx, conn, []object{{"uri": uri, "type": kind}}); err != nil {
			return err
		}
		return conn.Notify(ctx, "textDocument/didSave", object{"textDocument": object{"uri": uri}})
	})
	v.mu.Lock()
	defer v.mu.Unlock()
	f.Late = v.overdue(uri)
	if err != nil {
		if v.late != nil && version > 0 {
			v.late[uri] = &asked{version, was}
		}
		return err
	}
	f.New = v.fresh(was, func(string) bool { return true })
	f.New, f.More = told(f.New, uri)
	return nil
}

// settled shows the server a text, tells it more, and waits for what it says.
func (v *server) settled(ctx context.Context, path, text string, more func(*jsonrpc2.Conn, int) error) error {
	uri, version := uriOf(path), 0
	var pulled []diagnostic
	err := v.with(ctx, func(conn *jsonrpc2.Conn) (err error) {
		if version, err = v.present(ctx, conn, path, text); err == nil && more != nil {
			err = more(conn, version)
		}
		if err == nil && v.pulls() {
			pulled, err = v.pull(ctx, conn, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	if v.pulls() {
		v.publish(published{uri, &version, pulled})
	}
	return v.answered(ctx, uri, version)
}

// pulls reports whether the server is asked for what it finds.
func (v *server) pulls() bool {
	p := v.caps.Capabilities.DiagnosticProvider
	return len(p) > 0 && string(p) != "null" && string(p) != "false" || v.asksTS()
}

// pull asks for what is wrong in a file.
func (v *server) pull(ctx context.Context, conn *jsonrpc2.Conn, path string) ([]diagnostic, error) {
	if v.asksTS() {
		return pullTS(ctx, conn, path)
	}
	var report struct {
		Items []diagnostic `json:"items"`
	}
	err := conn.Call(ctx, "textDocument/diagnostic", object{"textDocument": object{"uri": uriOf(path)}}, &report)
	return report.Items, err
}

// answered waits until the server has said what it finds in this version of a file, and a moment
// for what it says of others then.
func (v *server) answered(ctx context.Context, uri string, version int) error {
	for {
		v.mu.Lock()
		r, said := v.found[uri]
		changed, ended, why := v.changed, v.state != ready, v.why
		var shown time.Time
		if d := v.docs[uri]; d != nil {
			shown = d.shown
		}
		v.mu.Unlock()
		var quiet <-chan time.Time
		switch {
		case ended:
			return errors.New(cmp.Or(why, "it has ended"))
		case said && r.version != nil && *r.version >= version:
			return v.hear(ctx)
		case said && r.version == nil && !r.at.Before(shown) && len(r.items) > 0:
			quiet = time.After(settle)
		case said && r.version == nil && !r.at.Before(shown):
			quiet = time.After(doubt)
		}
		select {
		case <-changed:
		case <-quiet:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// hear waits until the server has said nothing for a moment, or ctx ends.
func (v *server) hear(ctx context.Context) error {
	for {
		v.mu.Lock()
		changed := v.changed
		v.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(settle):
			return nil
		case <-ctx.Done():
			return nil // what was waited for has come
		}
	}
}

// counts are the problems that are known, by what tells them apart.
func (v *server) counts() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := map[string]int{}
	for _, r := range v.found {
		for _, p := range r.items {
			out[p.mark()]++
		}
	}
	return out
}

// fresh are the problems that were not there before; the lock is held. A line that moved keeps its
// problem.
func (v *server) fresh(was map[string]int, in func(uri string) bool) (out []Problem) {
	left := map[string]int{}
	for k, n := range was {
		left[k] = n
	}
	for uri, r := range v.found {
		if !in(uri) {
			continue
		}
		for _, p := range r.items {
			if left[p.mark()]--; left[p.mark()] < 0 {
				out = append(out, p)
			}
		}
	}
	return out
}

// overdue are the problems of earlier changes that are known by now; the lock is held.
func (v *server) overdue(but string) (out []Problem) {
	for uri, a := range v.late {
		if uri == but {
			delete(v.late, uri)
			continue
		}
		if r, said := v.found[uri]; said && (r.version == nil || *r.version >= a.version) {
			delete(v.late, uri)
			out = append(out, v.fresh(a.before, func(u string) bool { return u == uri })...)
		}
	}
	out, _ = told(out, "")
	return out
}
