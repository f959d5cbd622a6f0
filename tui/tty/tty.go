// Package tty runs an interface in a terminal: it takes over the terminal, passes keys and sizes to
// the interface, and always restores the terminal, even after a panic.
//
// Start reading at Run.
package tty

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"adze/tui/input"
	"adze/tui/screen"
)

// PendingKeys holds unhandled keys and pastes.
type PendingKeys = input.PendingKeys

// Options configures the terminal for an interface.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Inline keeps the output in the terminal's own scrollback.
	Inline bool
	// PendingKeys holds unhandled keys from a previous interface. This one leaves its own unhandled
	// keys there; if nil, they are lost.
	PendingKeys *input.PendingKeys
	// Env looks up an environment variable.
	Env func(string) string
}

// Terminal connects an interface with its terminal, which can be lent to others.
type Terminal struct {
	*screen.Screen
	ctx  context.Context // ends with the interface
	keys input.Reader
	// pendingKeys holds each key and paste until the interface gets it. The interface gets none while
	// the terminal is held.
	pendingKeys *input.PendingKeys
	holds       atomic.Bool
	send        func(tea.Msg)
	// ended is set at the end of the input.
	ended atomic.Bool
}

// Interface is a program in a terminal. Its frame is shown after each message.
type Interface interface {
	Init() tea.Cmd
	Update(msg tea.Msg) (next Interface, cmd tea.Cmd)
	Frame() screen.Frame
}

// loop adapts an interface to Bubble Tea without its renderer.
type loop struct {
	now  Interface
	show func(screen.Frame)
}

func (l *loop) Init() tea.Cmd { return l.now.Init() }

func (l *loop) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := l.now.Update(msg)
	l.now = next
	l.show(next.Frame())
	return l, cmd
}

func (l *loop) View() tea.View { return tea.View{} }

// Program is an interface with its callbacks.
type Program struct {
	Model Interface
	// Begin is called before the first input and output.
	Begin func(t *Terminal)
	// Background runs in the background and sends messages to the interface. Optional.
	Background func(ctx context.Context, send func(tea.Msg))
	// Last is called after the interface has ended, before the terminal is restored. Optional.
	Last func(t *Terminal)
	// End is called after the terminal is restored. Optional.
	End func()
}

// Run shows an interface until it quits, ctx ends or the terminal is gone.
func Run(ctx context.Context, o Options, p Program) (err error) {
	s, err := screen.Open(o.In, o.Out, screen.WayFor(o.Inline, o.Env))
	if err != nil {
		return fmt.Errorf("take over the terminal: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &Terminal{Screen: s, ctx: ctx, pendingKeys: o.PendingKeys}
	if t.pendingKeys == nil {
		t.pendingKeys = &input.PendingKeys{}
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the interface failed: %v\n%s", r, debug.Stack())
		}
		cancel()
		t.keys.Stop()
		s.Close()
		if p.End != nil {
			p.End()
		}
	}()
	program := tea.NewProgram(&loop{p.Model, s.Show},
		tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutRenderer(),
		tea.WithEnvironment([]string{"TERM=dumb"}), // otherwise it runs tmux to detect colors that it never draws
		tea.WithoutCatchPanics(), tea.WithoutSignalHandler(),
		tea.WithFilter(t.filter),
		tea.WithFPS(1)) // for a renderer that draws nothing, until quiet stops it
	t.keys.Wheel = !o.Inline
	t.send = program.Send
	t.listen(o.In, input.Wait(o.Env), t.take, cancel)
	p.Begin(t)
	s.Show(p.Model.Frame())
	s.Go(t.again)
	t.keys.Start()
	s.Go(func() { quiet(ctx, program) })
	if p.Background != nil {
		s.Go(func() { p.Background(ctx, program.Send) })
	}
	s.Go(func() { s.Watch(ctx, func(w, h int) { program.Send(tea.WindowSizeMsg{Width: w, Height: h}) }) })
	s.Go(func() { t.continued(ctx, func() { program.Send(tea.ResumeMsg{}) }) })
	s.Go(func() { t.watch(ctx, cancel) })
	_, err = program.Run()
	if p.Last != nil {
		p.Last(t)
	}
	return t.verdict(ctx, err)
}

// SizeOf returns the terminal's size, or 80 by 24 if it is unknown.
func SizeOf(s *screen.Screen) (w, h int) {
	if w, h, ok := s.Size(); ok {
		return w, h
	}
	return 80, 24
}

// typed announces a key or a paste in PendingKeys. The event stays there until the interface gets
// it, so that none is lost if the interface ends first.
type typed struct{}

// take handles an event from the reader.
func (t *Terminal) take(e uv.Event) {
	if !input.Keeps(e) {
		t.send(e)
		return
	}
	t.pendingKeys.Add(e)
	t.send(typed{})
}

// again announces all waiting events.
func (t *Terminal) again() {
	for range t.pendingKeys.Len() {
		t.send(typed{})
	}
}

// filter replaces a typed message by the oldest waiting key or paste.
func (t *Terminal) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, is := msg.(typed); !is {
		return msg
	}
	if t.holds.Load() {
		return nil
	}
	switch e := t.pendingKeys.Next().(type) {
	case uv.KeyPressEvent:
		// Most terminals send one code for both keys.
		if key, same := map[string]rune{"ctrl+i": tea.KeyTab, "ctrl+m": tea.KeyEnter, "ctrl+[": tea.KeyEscape}[e.String()]; same {
			return tea.KeyPressMsg{Code: key}
		}
		return tea.KeyPressMsg(e)
	case uv.PasteEvent:
		return tea.PasteMsg(e)
	}
	return nil
}

// Hold stops passing keys and pastes to the interface: its last key ends it or leads to Lend. The
// terminal's next owner gets them. It must be called in Update.
func (t *Terminal) Hold() { t.holds.Store(true) }

// Lend restores the terminal, calls use, and takes over again. The interface then gets the keys in
// Ahead.
func (t *Terminal) Lend(use func()) error {
	defer func() {
		t.holds.Store(false)
		t.Screen.Go(t.again)
	}()
	t.keys.Stop()
	t.Screen.Suspend()
	use()
	if t.ctx.Err() != nil { // the interface has ended meanwhile
		return t.ctx.Err()
	}
	err := t.Resume()
	t.keys.Start()
	return err
}

// Background stops the process until the shell continues it.
func (t *Terminal) Background() {
	_ = t.Lend(stopProcess) // without raw mode keys are echoed; go on
}

// quiet stops the ticker of Bubble Tea's renderer, which draws nothing here and would wake the
// process forever. Releasing the terminal does this, and nothing else without input and output.
func quiet(ctx context.Context, p *tea.Program) {
	p.Send(nil) // received once the event loop runs
	if ctx.Err() == nil {
		_ = p.ReleaseTerminal()
	}
}

// listen sets up the reader for in.
func (t *Terminal) listen(in io.Reader, wait time.Duration, emit func(uv.Event), gone func()) {
	k := &t.keys
	k.Go = t.Screen.Go
	k.In, k.Emit, k.Escape = in, emit, wait
	k.Ended = func(error) {
		t.ended.Store(true)
		gone()
	}
}

// watch ends the interface when the terminal is gone.
func (t *Terminal) watch(ctx context.Context, cancel context.CancelFunc) {
	select {
	case <-ctx.Done():
	case <-t.Lost():
		cancel()
	}
}

// verdict returns Run's error, nil if the user quit.
func (t *Terminal) verdict(ctx context.Context, err error) error {
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
