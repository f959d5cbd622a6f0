package acp

import (
	"context"
	"sync"
)

// visitors are other processes of the user in a session that an editor has open: Clients. The
// protocol has no word for them. The editor is told their prompts as the user's, and by a notice
// that a session went elsewhere; its next prompt takes it back.
type visitors struct {
	// prompt runs a prompt when no turn runs; it fails when the session was closed.
	prompt  func(Prompt) error
	stop    func() bool
	changed func()
	// leave ends the running turn and closes the session, and take opens it again.
	leave  func(to string)
	take   func(context.Context) error
	beside *sync.WaitGroup // of what goes on behind answers

	mu     sync.Mutex
	queue  []Prompt
	works  bool   // on the queue
	gone   string // where the session goes on; if empty, here
	closed bool
}

// Begin has a prompt wait for the turn that runs.
func (v *visitors) Begin(p Prompt) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed || v.gone != "" {
		return refuse(codeNotFound, "this session is closed here")
	}
	v.queue = append(v.queue, p)
	if !v.works {
		v.works = true
		v.beside.Go(v.work)
	}
	return nil
}

// work takes one prompt of the queue after the other.
func (v *visitors) work() {
	for {
		v.mu.Lock()
		if v.closed || v.gone != "" || len(v.queue) == 0 {
			v.queue, v.works = nil, false
			v.mu.Unlock()
			return
		}
		p := v.queue[0]
		v.queue = v.queue[1:]
		v.mu.Unlock()
		if v.prompt(p) != nil {
			v.close()
		}
	}
}

// Stop ends the running turn; if false, none runs.
func (v *visitors) Stop() bool { return v.stop() }

// Changed tells the editor of another mode.
func (v *visitors) Changed() { v.changed() }

// Leave lets the session go.
func (v *visitors) Leave(to string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.closed && v.gone == "" {
		v.gone = to
		v.beside.Go(func() { v.leave(to) })
	}
}

// here refuses an action on a session that is elsewhere.
func (v *visitors) here() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.gone != "" {
		return refuse(codeInvalidRequest, "this session goes on in "+v.gone+"; a prompt takes it back")
	}
	return nil
}

// back takes the session back if it is elsewhere.
func (v *visitors) back(ctx context.Context) error {
	if v.here() == nil {
		return nil
	}
	err := v.take(ctx)
	if err == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.gone = ""
	}
	return err
}

// close has nothing begin any more.
func (v *visitors) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
}
