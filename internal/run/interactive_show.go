package run

import (
	"cmp"
	"context"
	"errors"

	"adze/internal/run/settings"
	"adze/tui"
)

// errLeft says that the user left before the conversation was there.
var errLeft = errors.New("the user left")

// interfaceRun is an interface that runs in a goroutine of its own.
type interfaceRun struct {
	hide context.CancelFunc
	done chan struct{} // closed when it has ended
	err  error         // of its end
	// cancel ends what is made while it is shown.
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

// bound is a context that ends when the interface does. The function it returns parts the two, and
// reports that neither has ended.
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

// release lets go of that context, after all that was made with it has ended.
func (s *interfaceRun) release() {
	if s != nil && s.cancel != nil {
		s.cancel()
	}
}

// end takes the interface off the terminal.
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
	if !s.o.Demo { // it has a folder of its own
		info.Cwd, _ = settings.RealFolderOf(s.app.Process, &s.o.Run) // the start tells errors
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

// watch shows the interface until ctx ends or the user leaves.
func (s *interactiveRun) watch(ctx context.Context) error {
	if s.screen == nil {
		return s.ui.Run(ctx)
	}
	defer context.AfterFunc(ctx, s.screen.hide)()
	<-s.screen.done
	return s.screen.err
}
