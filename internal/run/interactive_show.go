package run

import (
	"cmp"
	"context"
	"errors"

	"adze/internal/run/settings"
	"adze/tui"
)

// errLeft means that the user left before the conversation was built.
var errLeft = errors.New("the user left")

// interfaceRun is an interface in its own goroutine.
type interfaceRun struct {
	hide context.CancelFunc
	done chan struct{} // closed at its end
	err  error         // its result
	// cancel cancels the build.
	cancel context.CancelFunc
}

// show runs an interface until ctx ends or the user leaves.
func show(ctx context.Context, ui *tui.UI) *interfaceRun {
	ctx, hide := context.WithCancel(ctx)
	s := &interfaceRun{hide: hide, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		defer hide()
		s.err = ui.Run(ctx)
	}()
	return s
}

// bound returns a context that ends with the interface, and a function that separates them and
// reports whether neither has ended.
func (s *interfaceRun) bound(ctx context.Context) (context.Context, func() bool) {
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

// release cancels that context, once everything created with it has ended.
func (s *interfaceRun) release() {
	if s != nil && s.cancel != nil {
		s.cancel()
	}
}

// end removes the interface from the terminal.
func (s *interfaceRun) end() {
	s.hide()
	<-s.done
	s.release()
}

// begin draws the first frame from the flags and the user's configuration.
func (s *interactiveRun) begin(ctx context.Context, stage *settings.Settings) {
	if s.app.linesOnly(&s.o.Run) {
		return
	}
	cfg := stage.Config
	info := tui.Info{Version: Version, Mode: "starting", Home: s.app.Getenv("HOME")}
	if !s.o.Demo { // the demo has its own folder
		info.Cwd, _ = settings.RealFolderOf(s.app.Process, &s.o.Run) // the start reports errors
	}
	s.ui = tui.New(tui.Options{
		Starting: true, Info: info,
		Theme: cmp.Or(s.look.theme, cfg.Interface.Theme), Inline: cfg.Interface.Inline,
		Vim: cfg.Interface.Keys == "vim", Keys: cfg.BoundKeys(),
		In: s.app.In, Ahead: &s.app.Ahead, Out: s.app.Out, Env: s.app.Getenv,
	})
	s.app.front.Store(s.ui)
	s.screen = show(ctx, s.ui)
}

// watch waits until ctx ends or the user leaves.
func (s *interactiveRun) watch(ctx context.Context) error {
	if s.screen == nil {
		return s.ui.Run(ctx)
	}
	defer context.AfterFunc(ctx, s.screen.hide)()
	<-s.screen.done
	return s.screen.err
}
