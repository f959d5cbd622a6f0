package tui

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"adze/tui/input"
	"adze/tui/screen"
)

// tty is what the interface is shown on and read from. Others may have it for a while.
type tty struct {
	*screen.Screen
	ctx  context.Context // of the interface
	keys input.Reader
	// ended says that the input ended.
	ended atomic.Bool
}

// lend gives the terminal to use and takes it again afterwards.
func (t *tty) lend(use func()) error {
	t.keys.Stop()
	t.Suspend()
	use()
	if t.ctx.Err() != nil { // the interface ended meanwhile
		return t.ctx.Err()
	}
	err := t.Resume()
	t.keys.Start()
	return err
}

// outside has the user write in their own editor; its answer comes as edited.
func (t *tty) outside(edit func(string) (string, error), text string) tea.Cmd {
	return func() tea.Msg {
		var e edited
		err := t.lend(func() { e.text, e.err = edit(text) })
		if e.err == nil {
			e.err = err
		}
		return e
	}
}

// suspend goes to the background until the shell brings the program back.
func (t *tty) suspend() {
	_ = t.lend(stopProcess) // raw mode that cannot be had again shows as an echo; go on
}

// quiet ends the ticker of Bubble Tea's renderer, which draws nothing here and would wake the
// process for ever. Giving the terminal back does that, and nothing else in a program without input
// and output.
func quiet(ctx context.Context, p *tea.Program) {
	p.Send(nil) // is received when the event loop runs
	if ctx.Err() == nil {
		_ = p.ReleaseTerminal()
	}
}

// GiveBack gives the terminal back as it was, from any goroutine and whatever else hangs: for a
// process that ends now.
func (u *UI) GiveBack() {
	if s := u.screen.Load(); s != nil {
		s.Suspend()
	}
}

// listen says what becomes of the terminal's input, and of its end.
func (t *tty) listen(in io.Reader, wait time.Duration, emit func(uv.Event), gone func()) {
	k := &t.keys
	k.Go = t.Screen.Go
	k.In, k.Emit, k.Escape = in, emit, wait
	k.Ended = func(error) {
		t.ended.Store(true)
		gone()
	}
}

// watch ends the interface when the terminal is gone.
func (t *tty) watch(ctx context.Context, cancel context.CancelFunc) {
	select {
	case <-ctx.Done():
	case <-t.Lost():
		cancel()
	}
}

// verdict is what Run returns: nil when the user quit.
func (t *tty) verdict(ctx context.Context, err error) error {
	if lost := t.Err(); lost != nil {
		return fmt.Errorf("write to the terminal: %w", lost)
	}
	if t.ended.Load() {
		return fmt.Errorf("read from the terminal: %w", io.ErrUnexpectedEOF)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
