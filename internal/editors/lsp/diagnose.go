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

// settle is the silence after which diagnostics without a version count, and the wait for other
// files' diagnostics after the changed one's.
const settle = 60 * time.Millisecond

// doubt replaces settle if there are no problems: servers send diagnostics in pieces, and the first
// is often empty.
const doubt = 500 * time.Millisecond

// followTime limits a check that nobody waits for: a cold server reads the project first.
// othersTime limits requests about other files after the changed one.
const (
	followTime = 2 * time.Minute
	othersTime = 10 * time.Second
)

// Findings holds a server's new problems after a change.
type Findings struct {
	Server string
	Path   string // the changed file, absolute
	// New holds the problems that the change added, errors first; Omitted counts the omitted ones.
	New     []Problem
	Omitted int
	// Project reports whether the whole project was checked, Open whether the server's other open
	// files were.
	Project, Open bool
	// Late holds findings of earlier changes, unknown at their time.
	Late []Findings
	// Unknown is why there are no findings yet; if "", New is complete.
	Unknown string
	// Note names, once, the project code that the server does not run.
	Note string
}

// Clean reports whether the check found no new problems.
func (f Findings) Clean() bool { return f.Unknown == "" && len(f.New) == 0 }

// check follows one change. It continues when nobody waits for it.
type check struct {
	server              *server
	path, before, after string
	uri                 string
	stop                context.CancelFunc
	done                chan struct{} // closed at the end

	// Guarded by server.mu.
	earlier  *check         // same file's check that this one replaced
	baseline map[string]int // problems before the change; nil if not known yet
	found    *Findings      // nil if unknown
	err      error
	replaced bool // by a later check of the same file, which reports its findings
}

func (c *check) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// Changed sends a file's new text to its server and returns the problems that the change added. It
// returns within the time in Options; later findings come with the next change or Late. ok is false
// if there is nothing to report.
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
		fresh := v.lastReason != st.Reason
		v.lastReason = st.Reason
		return Findings{Server: v.lang.Name, Path: path, Unknown: st.Reason}, fresh
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

// begin queues a check.
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

// caughtUp waits until the running checks end or ctx does: the server may have an older text until
// then.
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

// inherit copies the replaced check's state from before the change.
func (v *server) inherit(c *check) {
	v.mu.Lock()
	defer v.mu.Unlock()
	earlier := c.earlier
	c.earlier = nil
	if earlier == nil {
		return
	}
	if earlier.baseline == nil {
		c.before = earlier.before
		return
	}
	c.baseline = earlier.baseline
}

// take returns a check's current findings, or false if there are none to report. Missing ones
// follow unless a later check reports them.
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
		f.New, f.Omitted = told(f.New, c.uri)
	case c.replaced:
		f.Unknown = "it was changed again before the server had answered"
	case v.broken != "", v.state.State == child.Failed: // its last failure is more useful than its restart
		f.Unknown = cmp.Or(v.broken, v.state.Reason)
		if v.lastReason != "" {
			return f, false
		}
		v.lastReason = f.Unknown
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

func reason(err error, waited time.Duration) string {
	switch {
	case errors.Is(err, child.ErrNotReady):
		return "it is still starting"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fmt.Sprintf("no answer within %s", waited.Round(10*time.Millisecond))
	}
	return err.Error()
}

// examine sends a change and waits for diagnostics in its file and the server's open files.
func (v *server) examine(ctx context.Context, c *check) (*Findings, error) {
	v.mu.Lock()
	_, open := v.docs[c.uri]
	v.mu.Unlock()
	if !open && c.before != "" {
		err := v.settled(ctx, c.path, c.before, nil)
		v.mu.Lock()
		if d := v.docs[c.uri]; d != nil {
			d.mtime = time.Time{} // the file has changed again
		}
		v.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	was := v.counts()
	v.mu.Lock()
	if c.baseline == nil {
		c.baseline = was
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
	f.New = v.fresh(c.baseline)
	return f, nil
}

// others requests diagnostics of the server's other open files again. It reports whether there are
// any and the server answered for all. A server without such requests sends them whenever it likes.
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

// settled sends a text, calls more, and waits for the diagnostics.
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

// diagnoseFiles is gopls's command to diagnose the whole project. It responds after publishing the
// diagnostics.
const diagnoseFiles = "gopls.diagnose_files"

// checksAll reports whether the server can check the whole project.
func (v *server) checksAll() bool {
	return slices.Contains(v.caps.Capabilities.ExecuteCommandProvider.Commands, diagnoseFiles)
}

// pulls reports whether diagnostics are requested instead of published.
func (v *server) pulls() bool {
	p := v.caps.Capabilities.DiagnosticProvider
	return len(p) > 0 && string(p) != "null" && string(p) != "false" || v.asksTS()
}

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

// answered waits for diagnostics for a file's version, and briefly for other files'.
func (v *server) answered(ctx context.Context, uri string, version int) error {
	for {
		v.mu.Lock()
		r, said := v.results[uri]
		changed, ended, why := v.state.Changed(), v.state.State != child.Ready, v.state.Reason
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
				return nil // the awaited diagnostics arrived
			}
			return ctx.Err()
		}
	}
}

// counts returns the known problems by their mark.
func (v *server) counts() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := map[string]int{}
	for _, r := range v.results {
		for _, p := range r.items {
			out[p.mark()]++
		}
	}
	return out
}

// fresh returns the problems not in was; a problem on a moved line is not new. The caller holds the
// lock.
func (v *server) fresh(was map[string]int) (out []Problem) {
	left := map[string]int{}
	maps.Copy(left, was)
	for _, r := range v.results {
		for _, p := range r.items {
			if left[p.mark()]--; left[p.mark()] < 0 {
				out = append(out, p)
			}
		}
	}
	return out
}
