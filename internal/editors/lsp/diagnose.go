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
// the project first. othersTime bounds how long it waits for what the server says of other files
// after it has answered for the one that was changed.
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
	// Also are problems in files that use the changed one, of which it is not known whether they
	// were there before.
	Also  []Problem
	Scope Scope
	// Late are findings of earlier changes, of which this was not known then.
	Late []Findings
	// Unknown says why nothing is known of this change yet; if empty, New is all there is.
	Unknown string
	// Note says, once, what of the project the server does not run.
	Note string
	rest bool // others of the same change were told before
}

// Clean reports that nothing is wrong since the change, as far as it was looked at.
func (f Findings) Clean() bool { return f.Unknown == "" && len(f.New) == 0 && len(f.Also) == 0 }

// Scope is what was looked at for a finding, beside the changed file.
type Scope struct {
	Project bool     // all of the project
	Used    int      // files that use it
	More    bool     // there are others that use it
	Unknown bool     // which files use it is not known
	Silent  []string // files that use it and that the server has not said anything of; absolute
}

// check is one change that a server is asked about. It goes on when nobody waits for it any more.
type check struct {
	path, before, after string
	uri                 string
	stop                context.CancelFunc
	done                chan struct{} // closed when it is over
	earlier             *check        // of the same file, that this one took the place of

	// These are guarded by server.mu.
	was      map[string]int // what was wrong before the change; if nil, not known yet
	found    *Findings      // so far; if nil, nothing is known
	err      error
	over     bool
	follows  bool           // it was told that more follows
	told     map[string]int // the problems that were told so far
	replaced bool           // by a later check of the same file, which tells its findings
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
		why, fresh := v.holding()
		return Findings{Server: v.lang.Name, Path: path, Unknown: why}, fresh
	case child.Failed:
		if v.givenUp() {
			return f, false
		}
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
	c := &check{path: path, before: before, after: after, uri: uriOf(path), stop: stop, done: make(chan struct{})}
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
	v.pool.all.Go(func() {
		defer stop()
		if last != nil {
			<-last.done
		}
		v.inherit(c)
		err := v.await(ctx)
		if err == nil {
			err = v.examine(ctx, c)
		}
		v.finish(c, err)
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
	c.was = maps.Clone(earlier.was)
	for k, n := range earlier.told {
		c.was[k] += n
	}
}

// finish ends a check, and keeps what it found where that was not told yet.
func (v *server) finish(c *check, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c.over, c.err = true, err
	if c.replaced && err != nil {
		c.err = errors.New("it was changed again before the server had answered")
	}
	v.checks = slices.DeleteFunc(v.checks, func(o *check) bool { return o == c })
	if c.follows {
		f, ok := Findings{}, false
		if !c.replaced {
			f, ok = v.outcome(c, err, followTime)
		}
		v.pool.deliver(f, ok)
	}
	close(c.done)
}

// outcome is what a check has come to; if false, nothing that is worth telling. The lock is held.
func (v *server) outcome(c *check, err error, waited time.Duration) (Findings, bool) {
	f := Findings{Server: v.lang.Name, Path: c.path}
	if c.found != nil {
		f = *c.found
		f.New = untold(f.New, c.told)
		f.Also = untold(f.Also, c.told)
		f.New, f.More = told(f.New, c.uri)
		f.Also, _ = told(f.Also, c.uri)
	} else {
		if err == nil {
			err = context.DeadlineExceeded
		}
		var ok bool
		if f.Unknown, ok = v.news(err, waited); !ok {
			return f, false
		}
	}
	f.rest = len(c.told) > 0
	if !v.noted && v.start.note != "" {
		f.Note, v.noted = v.start.note, true
	}
	return f, true
}

// take is what is known of a check now. What is not follows.
func (v *server) take(c *check, waited time.Duration) (Findings, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	err := c.err
	switch {
	case c.over:
	case v.state.State != child.Ready:
		err = child.ErrNotReady
	default:
		err = context.DeadlineExceeded
	}
	f, ok := v.outcome(c, err, waited)
	if !c.over {
		c.follows, c.told = true, map[string]int{}
		for _, p := range slices.Concat(f.New, f.Also) {
			c.told[p.mark()]++
		}
		v.pool.expect()
	}
	return f, ok
}

// untold are problems without those that were told.
func untold(all []Problem, told map[string]int) (out []Problem) {
	left := maps.Clone(told)
	for _, p := range all {
		if left[p.mark()] > 0 {
			left[p.mark()]--
			continue
		}
		out = append(out, p)
	}
	return out
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

// news is what to tell of a change of which nothing is known; if false, nothing that was not told
// before. A program that does not come up is told of once: with what it said, which is of more use
// than that it is started again. The lock is held.
func (v *server) news(err error, waited time.Duration) (string, bool) {
	if v.broken == "" {
		return reason(err, waited), true
	}
	before := v.told
	v.told = true
	return v.broken, !before
}

// examine sends a change and waits for what the server says of it, and of the files that use it.
func (v *server) examine(ctx context.Context, c *check) error {
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
			return err
		}
	}
	var using users
	var unsure map[string]bool
	if !v.checksAll() {
		using = v.imports.users(ctx, v.root, c.path, v.pool.opts.Withheld)
		unsure = v.attend(ctx, using.paths)
	}
	was := v.counts()
	v.mu.Lock()
	if c.was == nil {
		c.was = was
	}
	was = c.was
	began := time.Now()
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
		return err
	}
	scope := Scope{Project: v.checksAll(), Used: len(using.paths), More: using.more, Unknown: !using.known, Silent: using.paths}
	v.learn(c, was, unsure, scope)
	if len(using.paths) > 0 {
		scope.Silent = v.others(ctx, using.paths, began)
		v.learn(c, was, unsure, scope)
	}
	return nil
}

// learn notes what is known of a check so far.
func (v *server) learn(c *check, was map[string]int, unsure map[string]bool, scope Scope) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := Findings{Server: v.lang.Name, Path: c.path, Scope: scope}
	f.New = v.fresh(was, func(uri string) bool { return !unsure[uri] })
	for uri := range unsure {
		if !slices.Contains(scope.Silent, pathOf(uri)) {
			f.Also = append(f.Also, v.found[uri].items...)
		}
	}
	c.found = &f
}

// attend has the server look at files that use a changed one, where it does not yet: so that what
// is wrong in them is known before the change. It returns those of which it is not: some servers
// read a changed file from the disk, where the change is made already.
func (v *server) attend(ctx context.Context, paths []string) map[string]bool {
	unsure, versions := map[string]bool{}, map[string]int{}
	for _, path := range paths {
		uri := uriOf(path)
		v.mu.Lock()
		_, said := v.found[uri]
		d := v.docs[uri]
		if d != nil {
			d.used = time.Now()
		}
		v.mu.Unlock()
		if said && (d != nil || v.pulls()) {
			continue
		}
		if v.pulls() {
			_ = v.pullOne(ctx, path) // what is not known before counts as new
			continue
		}
		text, err := readText(path)
		if err != nil {
			continue
		}
		if v.lang.ReadsDisk {
			unsure[uri] = true
		}
		_ = v.with(ctx, func(conn *jsonrpc2.Conn) (err error) { // the same
			versions[uri], err = v.present(ctx, conn, path, text)
			return err
		})
	}
	if len(versions) == 0 || v.lang.ReadsDisk {
		return unsure
	}
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	for uri, version := range versions {
		_ = v.answered(ctx, uri, version) // the same
	}
	return unsure
}

// pullOne asks about a file that the server reads from the disk, or that is open.
func (v *server) pullOne(ctx context.Context, path string) error {
	var items []diagnostic
	err := v.with(ctx, func(conn *jsonrpc2.Conn) (err error) {
		items, err = v.pull(ctx, conn, path)
		return err
	})
	if err == nil {
		v.publish(published{uriOf(path), nil, items})
	}
	return err
}

// others waits for what the server says of files that use a changed one, since a time. It returns
// those that it has not said anything of.
func (v *server) others(ctx context.Context, paths []string, since time.Time) (silent []string) {
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	if v.pulls() {
		for _, path := range paths {
			if v.pullOne(ctx, path) != nil {
				silent = append(silent, path)
			}
		}
		return silent
	}
	for {
		v.mu.Lock()
		changed, ended := v.state.Changed(), v.state.State != child.Ready
		silent = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return v.found[uriOf(path)].at.After(since) })
		v.mu.Unlock()
		if len(silent) == 0 || ended {
			return silent
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return silent
		}
	}
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
		changed := v.state.Changed()
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
	maps.Copy(left, was)
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
