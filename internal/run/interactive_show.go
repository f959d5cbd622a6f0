package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/session"
	"adze/tui"
)

// errLeft says that the user left before the conversation was there.
var errLeft = errors.New("the user left")

// showing is an interface that runs in a goroutine of its own.
type showing struct {
	hide context.CancelFunc
	done chan struct{} // closed when it has ended
	err  error         // of its end
	// cancel ends what is made while it is shown.
	cancel context.CancelFunc
}

// show runs an interface until ctx ends or the user leaves.
func show(ctx context.Context, ui *tui.UI) *showing {
	ctx, hide := context.WithCancel(ctx)
	s := &showing{hide: hide, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer hide()
		s.err = ui.Run(ctx)
	}()
	return s
}

// bound is a context that ends when the interface does. The function it returns parts the two, and
// reports that neither has ended.
func (s *showing) bound(ctx context.Context) (context.Context, func() bool) {
	ctx, cancel := context.WithCancel(ctx)
	s.cancel = cancel
	parted, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-s.done:
			cancel()
		case <-parted:
		}
	}()
	return ctx, func() bool {
		close(parted)
		<-watched
		return ctx.Err() == nil
	}
}

// release lets go of that context, after all that was made with it has ended.
func (s *showing) release() {
	if s != nil && s.cancel != nil {
		s.cancel()
	}
}

// end takes the interface off the terminal.
func (s *showing) end() {
	s.hide()
	<-s.done
	s.release()
}

// begin draws the first frame from the flags and the user's configuration. It draws nothing if the
// configuration cannot be read. The start then fails with that error.
func (s *sitting) begin(ctx context.Context) {
	cfg, err := s.app.Ring.Load(s.app.ConfigFile())
	if err != nil || s.app.linesOnly(&s.o.Run) {
		return
	}
	asked := *s.o
	asked.Run = s.o.Run.Clone()
	asked.Merge(&cfg) // flags say how it looks, too
	info := tui.Info{Version: Version, Mode: "starting"}
	if !s.o.Demo { // it has a folder of its own
		info.Cwd, _ = settings.RealFolderOf(s.app.Process, &s.o.Run) // the start tells errors
	}
	s.ui = tui.New(tui.Options{
		Starting: true, Info: info,
		Theme: cmp.Or(s.look.theme, cfg.Interface.Theme), Inline: cfg.Interface.Inline,
		Vim: cfg.Interface.Keys == "vim", Keys: cfg.BoundKeys(),
		In: s.app.In, Out: s.app.Out, Env: s.app.Getenv,
	})
	s.app.front.Store(s.ui)
	s.screen = show(ctx, s.ui)
}

// watch shows the interface until ctx ends or the user leaves.
func (s *sitting) watch(ctx context.Context) error {
	if s.screen == nil {
		return s.ui.Run(ctx)
	}
	defer context.AfterFunc(ctx, s.screen.hide)()
	<-s.screen.done
	return s.screen.err
}

// stderr shows and keeps what a start writes while an interface has the terminal.
type stderr struct {
	process *process.Process
	to      io.Writer
	ui      *tui.UI
	mu      sync.Mutex
	kept    bytes.Buffer
}

// aside has what is written to the stderr of the process be shown by ui, until end.
func aside(p *process.Process, ui *tui.UI) *stderr {
	s := &stderr{process: p, to: p.Err, ui: ui}
	p.Err = s
	return s
}

func (s *stderr) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Write(text)
	s.ui.Observe(session.Notice{Text: strings.TrimRight(strings.TrimPrefix(string(text), "! "), "\n")})
	return len(text), nil
}

func (s *stderr) end() { s.process.Err = s.to }

// write writes the kept text when the terminal is free.
func (s *stderr) write() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.to.Write(s.kept.Bytes())
}
