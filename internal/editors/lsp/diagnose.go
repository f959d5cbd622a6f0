package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"adze/internal/sandbox/child"
)

// settle is how long a server that names no versions has to be silent before its last word counts,
// and how long one that has answered for a file is heard about the others.
const settle = 60 * time.Millisecond

// doubt is the same where it has found nothing: servers say what they find in pieces, and the first
// is often empty.
const doubt = 500 * time.Millisecond

// followTime bounds how long a check goes on that nobody waits for any more: a cold server reads
// the project first. othersTime bounds how long the server is asked about other files after it has
// answered for the one that was changed.
const (
	followTime = 2 * time.Minute
	othersTime = 10 * time.Second
)

// Findings are what a server says after a change.
type Findings struct {
	Server string
	Path   string // of the file that was changed, absolute
	// New are the problems that were not there before the change, errors first; More counts those
	// that are left out.
	New  []Problem
	More int
	// Project says that all of the project was looked at, and Open that other files were which the
	// server has open.
	Project, Open bool
	// Late are findings of earlier changes, of which this was not known then.
	Late []Findings
	// Unknown says why nothing is known of this change yet; if empty, New is all there is.
	Unknown string
	// Note says, once, what of the project the server does not run.
	Note string
}

// Clean reports that nothing is wrong since the change, as far as it was looked at.
func (f Findings) Clean() bool { return f.Unknown == "" && len(f.New) == 0 }

// check is one change that a server is asked about. It goes on when nobody waits for it any more.
type check struct {
	server              *server
	path, before, after string
	uri                 string
	stop                context.CancelFunc
	done                chan struct{} // closed when it is over

	// These are guarded by server.mu.
	earlier  *check         // of the same file, that this one took the place of
	was      map[string]int // what was wrong before the change; if nil, not known yet
	found    *Findings      // if nil, nothing is known
	err      error
	replaced bool // by a later check of the same file, which tells its findings
}

func (c *check) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Changed tells the file's server what stands in it now, and what is wrong that was not before. It
// returns within the time that Options give; what comes later is told with the next change, or by
// Late. ok is false when there is nothing to tell.
func (s *Servers) Changed(ctx context.Context, path, before, after string) (f Findings, ok bool) {
	if len(after) > maxText || len(before) > maxText {
		return f, false
	}
	v := s.server(path)
	if v == nil {
		return f, false
	}
	limit := s.opts.Cold
	switch st := v.show(); st.State {
	case child.Held:
		v.mu.Lock()
		defer v.mu.Unlock()
		fresh := v.said != st.Why
		v.said = st.Why
		return Findings{Server: v.lang.Name, Path: path, Unknown: st.Why}, fresh
	case child.Ready:
		limit = s.opts.Warm
	}
	began := time.Now()
	c := v.begin(path, before, after)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	case <-ctx.Done():
	}
	if f, ok = v.take(c, time.Since(began)); ok {
		f.Late = s.Late()
	}
	return f, ok
}

// begin queues a check behind those that run.
func (v *server) begin(path, before, after string) *check {
	ctx, stop := context.WithTimeout(v.pool.ctx, followTime)
	c := &check{server: v, path: path, before: before, after: after, uri: uriOf(path), stop: stop, done: make(chan struct{})}
	v.mu.Lock()
	last := v.last
	v.last = c
	for _, earlier := range v.checks {
		if earlier.uri == c.uri && !earlier.replaced {
			earlier.replaced = true
			earlier.stop()
			c.earlier = earlier
		}
	}
	v.checks = append(v.checks, c)
	v.mu.Unlock()
	v.pool.forget(c.earlier)
	v.pool.all.Go(func() {
		defer stop()
		if last != nil {
			<-last.done
		}
		v.inherit(c)
		var f *Findings
		err := v.await(ctx)
		if err == nil {
			f, err = v.examine(ctx, c)
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		c.found, c.err = f, err
		v.checks = slices.DeleteFunc(v.checks, func(o *check) bool { return o == c })
		close(c.done)
	})
	return c
}

// caughtUp waits until the changes that the server is asked about now are over, or ctx ends: until
// then it may have been shown a text that stands there no more.
func (v *server) caughtUp(ctx context.Context) error {
	v.mu.Lock()
	last := v.last
	v.mu.Unlock()
	if last == nil {
		return nil
	}
	select {
	case <-last.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inherit takes over what the check that this one replaced knew of the state before it.
func (v *server) inherit(c *check) {
	v.mu.Lock()
	defer v.mu.Unlock()
	earlier := c.earlier
	c.earlier = nil
	if earlier == nil {
		return
	}
	if earlier.was == nil {
		c.before = earlier.before
		return
	}
	c.was = earlier.was
}

// take is what is known of a check now; if false, nothing that is worth telling. What is not known
// follows, unless a later check tells it.
func (v *server) take(c *check, waited time.Duration) (Findings, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := Findings{Server: v.lang.Name, Path: c.path}
	over := c.ended()
	if !over && !c.replaced {
		v.pool.expect(c)
	}
	switch {
	case over && c.found != nil:
		f = *c.found
		f.New, f.More = told(f.New, c.uri)
	case c.replaced:
		f.Unknown = "it was changed again before the server had answered"
	case v.broken != "", v.state.State == child.Failed: // what it said is of more use than that it is started again
		f.Unknown = cmp.Or(v.broken, v.state.Why)
		if v.said != "" {
			return f, false
		}
		v.said = f.Unknown
	case over:
		f.Unknown = reason(c.err, waited)
	case v.state.State != child.Ready:
		f.Unknown = reason(child.ErrNotReady, waited)
	default:
		f.Unknown = reason(context.DeadlineExceeded, waited)
	}
	if !v.noted && v.start.note != "" {
		f.Note, v.noted = v.start.note, true
	}
	return f, true
}

// reason says why nothing is known.
func reason(err error, waited time.Duration) string {
	switch {
	case errors.Is(err, child.ErrNotReady):
		return "it is still starting"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Sprintf("no answer within %s", waited.Round(10*time.Millisecond))
	}
	return err.Error()
}

// examine sends a change and waits for what the server says of it, and of the files that it has
// open.
func (v *server) examine(ctx context.Context, c *check) (*Findings, error) {
	v.mu.Lock()
	_, open := v.docs[c.uri]
	v.mu.Unlock()
	if !open && c.before != "" {
		err := v.settled(ctx, c.path, c.before, nil)
		v.mu.Lock()
		if d := v.docs[c.uri]; d != nil {
			d.mtime = time.Time{} // the file holds something else by now
		}
		v.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	was := v.counts()
	v.mu.Lock()
	if c.was == nil {
		c.was = was
	}
	v.mu.Unlock()
	kind := fileChanged
	if c.before == "" {
		kind = fileCreated
	}
	err := v.settled(ctx, c.path, c.after, func(conn *jsonrpc2.Conn, _ int) error {
		if err := v.watched(ctx, conn, []object{{"uri": c.uri, "type": kind}}); err != nil {
			return err
		}
		return conn.Notify(ctx, "textDocument/didSave", object{"textDocument": object{"uri": c.uri}})
	})
	if err != nil {
		return nil, err
	}
	f := &Findings{Server: v.lang.Name, Path: c.path, Project: v.checksAll()}
	if !f.Project {
		f.Open = v.others(ctx, c.uri)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	f.New = v.fresh(c.was)
	return f, nil
}

// others asks once more about the files that the server has open beside the changed one. It reports
// whether there are any and the server answered for all of them. A server that cannot be asked says
// what it finds in its own time.
func (v *server) others(ctx context.Context, uri string) (all bool) {
	if !v.pulls() {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	v.mu.Lock()
	open := slices.DeleteFunc(slices.Sorted(maps.Keys(v.docs)), func(o string) bool { return o == uri })
	v.mu.Unlock()
	for _, o := range open {
		var items []diagnostic
		err := v.with(ctx, func(conn *jsonrpc2.Conn) (err error) {
			items, err = v.pull(ctx, conn, pathOf(o))
			return err
		})
		if err != nil {
			return false
		}
		v.publish(published{o, nil, items})
	}
	return len(open) > 0
}

// settled shows the server a text, tells it more, and waits for what it says.
func (v *server) settled(ctx context.Context, path, text string, more func(*jsonrpc2.Conn, int) error) error {
	uri, version := uriOf(path), 0
	var pulled []diagnostic
	err := v.with(ctx, func(conn *jsonrpc2.Conn) (err error) {
		if version, err = v.present(ctx, conn, path, text); err == nil && more != nil {
			err = more(conn, version)
		}
		switch {
		case err != nil:
		case v.checksAll():
			err = conn.Call(ctx, "workspace/executeCommand", object{"command": diagnoseFiles, "arguments": []object{{"Files": []string{uri}}}}, nil)
		case v.pulls():
			pulled, err = v.pull(ctx, conn, path)
		}
		return err
	})
	if err != nil || v.checksAll() {
		return err
	}
	if v.pulls() {
		v.publish(published{uri, &version, pulled})
	}
	return v.answered(ctx, uri, version)
}

// diagnoseFiles is the command with which gopls says what is wrong in the whole project: it
// answers when it has said it.
const diagnoseFiles = "gopls.diagnose_files"

// checksAll reports a server that can be asked about the whole project.
func (v *server) checksAll() bool {
	return slices.Contains(v.caps.Capabilities.ExecuteCommandProvider.Commands, diagnoseFiles)
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
		changed, ended, why := v.state.Changed(), v.state.State != child.Ready, v.state.Why
		var shown time.Time
		if d := v.docs[uri]; d != nil {
			shown = d.shown
		}
		v.mu.Unlock()
		versioned := said && r.version != nil && *r.version >= version
		var quiet <-chan time.Time
		switch {
		case ended:
			return errors.New(cmp.Or(why, "it has ended"))
		case versioned, said && r.version == nil && !r.at.Before(shown) && len(r.items) > 0:
			quiet = time.After(settle)
		case said && r.version == nil && !r.at.Before(shown):
			quiet = time.After(doubt)
		}
		select {
		case <-changed:
		case <-quiet:
			return nil
		case <-ctx.Done():
			if versioned {
				return nil // what was waited for has come
			}
			return ctx.Err()
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
func (v *server) fresh(was map[string]int) (out []Problem) {
	left := map[string]int{}
	maps.Copy(left, was)
	for _, r := range v.found {
		for _, p := range r.items {
			if left[p.mark()]--; left[p.mark()] < 0 {
				out = append(out, p)
			}
		}
	}
	return out
}
