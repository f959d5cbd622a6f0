package mcp

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"adze/tool"
)

// load returns what the user approved; it is read from the disk once. If nil, the server was never
// seen. The lock is held.
func (v *server) load() *Catalogue {
	if !v.loaded {
		v.loaded = true
		if dir := v.pool.opts.State; dir != "" {
			v.approved = loadCatalogue(v.conf.file(dir))
		}
	}
	return v.approved
}

// listed is what lists of tools have of the server; if nil, it was never seen, or is hidden. The
// lock is held.
func (v *server) listed() *Catalogue {
	if v.hidden {
		return nil
	}
	return v.load()
}

// update takes what a server that has just started, or changed its list, says. What it says first
// is agreed to with the server itself; what is otherwise later waits for the user, but for what is
// gone.
func (v *server) update(now *Catalogue) {
	v.current, v.change = now, Change{}
	old := v.load()
	if old != nil {
		if c := changes(v.conf.Name, old, now); c.Any() && !v.conf.SkipPinning {
			v.change = c
			return
		}
	}
	v.approve()
}

// approve makes what is said now the approved catalogue; the lock is held.
func (v *server) approve() {
	same := v.approved != nil && slices.EqualFunc(v.approved.Tools, v.current.Tools, func(a, b Tool) bool { return a.Pin == b.Pin })
	v.approved, v.change = v.current, Change{}
	if !same {
		v.pool.generation.Add(1)
	}
	if dir := v.pool.opts.State; dir != "" {
		keep(v.conf.file(dir), v.approved)
	}
}

// locked does something with a server, where there is one, and holds its lock.
func (p *Pool) locked(name string, do func(v *server)) {
	if v := p.servers[name]; v != nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		do(v)
	}
}

// Hide leaves servers out of all lists of tools, until they are shown.
func (p *Pool) Hide(names ...string) {
	for _, name := range names {
		p.locked(name, func(v *server) { v.hidden = true })
	}
}

// Show ends that.
func (p *Pool) Show(name string) {
	p.locked(name, func(v *server) { v.hidden = false })
	p.generation.Add(1)
}

// Shares is what a server said that it has beside tools, when it was there last; nothing is
// started.
func (p *Pool) Shares(name string) (prompts, resources bool) {
	p.locked(name, func(v *server) {
		if c := v.listed(); c != nil {
			prompts, resources = c.Prompts, c.Resources
		}
	})
	return prompts, resources
}

// Generation changes whenever Tools would answer otherwise.
func (p *Pool) Generation() int64 { return p.generation.Load() }

// Unseen are the servers whose tools nobody knows yet.
func (p *Pool) Unseen() (out []string) {
	for _, name := range p.order {
		p.locked(name, func(v *server) {
			if !v.hidden && v.load() == nil && v.conf.Err == nil && v.state.State != Failed && v.state.State != Held {
				out = append(out, name)
			}
		})
	}
	return out
}

// Catalogue is what the user agreed to of a server; if nil, it was never seen.
func (p *Pool) Catalogue(name string) (c *Catalogue) {
	p.locked(name, func(v *server) { c = v.load() })
	return c
}

// Pending is what a server that runs says otherwise than the user agreed to.
func (p *Pool) Pending(name string) (c Change) {
	p.locked(name, func(v *server) { c = v.change })
	return c
}

// Accept agrees to a change as it was shown. It fails when the server says something else again by
// now.
func (p *Pool) Accept(c Change) error {
	err := ErrUnknown
	p.locked(c.Server, func(v *server) {
		if err = nil; c.Said != v.change.Said {
			err = fmt.Errorf("%s says something else again; look at it once more", c.Server)
		} else if v.current != nil {
			v.approve()
		}
	})
	if err == nil {
		p.changed(c.Server)
	}
	return err
}

// checkApproved looks, right before a call, whether a tool is what the user agreed to, and asks
// them where it is not.
func (v *server) checkApproved(ctx context.Context, shown Tool) error {
	v.mu.Lock()
	now, there := v.current.tool(shown.Name)
	approved, _ := v.approved.tool(shown.Name)
	change := v.change
	v.mu.Unlock()
	name := v.conf.Name
	switch {
	case !there:
		return tool.Fail(tool.CodeNotFound, "the server %s has no tool %s any more; go on without it", name, Line(shown.Name, 100))
	case now.Pin == shown.Pin:
		return nil
	case now.Pin != approved.Pin && !v.conf.SkipPinning:
		if err := v.consent(ctx, change); err != nil {
			return err
		}
	}
	if string(now.Parameters) == string(shown.Parameters) {
		return nil // the arguments were made for what it takes
	}
	return tool.Fail(tool.CodeStale, "the tool %s of the server %s takes other arguments now, which the person has agreed to: %s; call it again with those", Line(shown.Name, 100), name, now.Parameters)
}

// consent has the user look at a change.
func (v *server) consent(ctx context.Context, c Change) error {
	ask := v.pool.opts.Consent
	if ask == nil {
		return fmt.Errorf("%w: the server %s describes its tools otherwise than the person agreed to (%s), and nobody is here to ask; they look at it with: adze mcp accept %s",
			tool.ErrDenied, v.conf.Name, shortList(append(slices.Clone(c.Changed), c.Added...)), v.conf.Name)
	}
	if err := ask(ctx, c); err != nil {
		return err
	}
	return v.pool.Accept(c)
}

// shortList names a few of many.
func shortList(names []string) string {
	const most = 5
	var out []string
	for i, n := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		out = append(out, Line(n, 64))
	}
	return strings.Join(out, ", ")
}

// Forget drops what is known of a server, on the disk too.
func (p *Pool) Forget(name string) {
	p.locked(name, func(v *server) {
		v.loaded, v.approved, v.current, v.change = true, nil, nil, Change{}
		if dir := p.opts.State; dir != "" {
			for _, file := range []string{v.conf.file(dir), v.conf.logFile(dir), v.conf.lastFile(dir)} {
				_ = os.Remove(file) // it may never have been there
			}
			p.dropFolder(name)
		}
		p.generation.Add(1)
	})
}
