// Package tty runs an interface in a terminal: it takes the terminal, hands keys and sizes to
// the interface, and gives the terminal back on every way out, a panic included.
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

// Ahead has keys and pastes that no interface obeyed yet.
type Ahead = input.Ahead

// Options is where an interface is shown, and how.
type Options struct {
	In  io.Reader
	Out io.Writer
	// Inline keeps what was shown in the terminal's own scrollback.
	Inline bool
	// Ahead has the keys that an interface before this one read and did not obey. This one leaves
	// there what it does not obey itself. If nil, those keys are lost.
	Ahead *input.Ahead
	// Env looks up an environment variable.
	Env func(string) string
}

// Terminal is what an interface is shown on and read from. Others may have it for a while.
type Terminal struct {
	*screen.Screen
	ctx  context.Context // of the interface
	keys input.Reader
	// ahead has each key and paste until the interface gets it. It gets none while the terminal is
	// held.
	ahead *input.Ahead
	holds atomic.Bool
	send  func(tea.Msg)
	// ended says that the input ended.
	ended atomic.Bool
}

// Interface is what runs in a terminal. Its frame is shown after each message.
type Interface interface {
	Init() tea.Cmd
	Update(msg tea.Msg) (next Interface, cmd tea.Cmd)
	Frame() screen.Frame
}

// loop is an interface as Bubble Tea runs it, which draws nothing itself.
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

// Program is an interface with what goes on around it.
type Program struct {
	Model Interface
	// Begin is called before anything is read and drawn.
	Begin func(t *Terminal)
	// Beside runs while the interface does, and sends it messages. It may be nil.
	Beside func(ctx context.Context, send func(tea.Msg))
	// Last is called when the interface has ended and still has the terminal. It may be nil.
	Last func(t *Terminal)
	// End is called when the terminal is given back. It may be nil.
	End func()
}

// Run shows an interface until it quits, ctx ends or the terminal is gone.
func Run(ctx context.Context, o Options, p Program) (err error) {
	s, err := screen.Open(o.In, o.Out, screen.WayFor(o.Inline, o.Env))
	if err != nil {
		return fmt.Errorf("take over the terminal: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &Terminal{Screen: s, ctx: ctx, ahead: o.Ahead}
	if t.ahead == nil {
		t.ahead = &input.Ahead{}
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
		tea.WithEnvironment([]string{"TERM=dumb"}), // or it would run tmux to learn of colours that it never draws
		tea.WithoutCatchPanics(), tea.WithoutSignalHandler(),
		tea.WithFilter(t.filter),
		tea.WithFPS(1)) // of a renderer that draws nothing, until quiet stops it
	t.keys.Wheel = !o.Inline
	t.send = program.Send
	t.listen(o.In, input.Wait(o.Env), t.take, cancel)
	p.Begin(t)
	s.Show(p.Model.Frame())
	s.Go(t.again)
	t.keys.Start()
	s.Go(func() { quiet(ctx, program) })
	if p.Beside != nil {
		s.Go(func() { p.Beside(ctx, program.Send) })
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

// SizeOf is the terminal's size; without one, what every terminal has.
func SizeOf(s *screen.Screen) (w, h int) {
	if w, h, ok := s.Size(); ok {
		return w, h
	}
	return 80, 24
}

// typed says that Ahead has a key or a paste for the interface. The event itself stays there until
// the interface gets it, so that none is lost when the interface ends first.
type typed struct{}

// take takes an event of the reader.
func (t *Terminal) take(e uv.Event) {
	if !input.Keeps(e) {
		t.send(e)
		return
	}
	t.ahead.Add(e)
	t.send(typed{})
}

// again tells the interface of all that waits.
func (t *Terminal) again() {
	for range t.ahead.Len() {
		t.send(typed{})
	}
}

// filter puts the oldest key or paste that waits in the place of a typed.
func (t *Terminal) filter(_ tea.Model, msg tea.Msg) tea.Msg {
	if _, is := msg.(typed); !is {
		return msg
	}
	if t.holds.Load() {
		return nil
	}
	switch e := t.ahead.Next().(type) {
	case uv.KeyPressEvent:
		// In most terminals these are one key each.
		if key, same := map[string]rune{"ctrl+i": tea.KeyTab, "ctrl+m": tea.KeyEnter, "ctrl+[": tea.KeyEscape}[e.String()]; same {
			return tea.KeyPressMsg{Code: key}
		}
		return tea.KeyPressMsg(e)
	case uv.PasteEvent:
		return tea.PasteMsg(e)
	}
	return nil
}

// Hold has the interface get no more keys and pastes: the key that it got last ends it, or leads to
// Lend. The next owner of the terminal gets them. An Update calls it.
func (t *Terminal) Hold() { t.holds.Store(true) }

// Lend gives the terminal to use and takes it again afterwards. The interface gets the keys that
// are in Ahead then.
func (t *Terminal) Lend(use func()) error {
	defer func() {
		t.holds.Store(false)
		t.Screen.Go(t.again)
	}()
	t.keys.Stop()
	t.Screen.Suspend()
	use()
	if t.ctx.Err() != nil { // the interface ended meanwhile
		return t.ctx.Err()
	}
	err := t.Resume()
	t.keys.Start()
	return err
}

// Background stops the process until the shell brings it back.
func (t *Terminal) Background() {
	_ = t.Lend(stopProcess) // raw mode that cannot be had again shows as an echo; go on
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

// listen says what becomes of the terminal's input, and of its end.
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

// verdict is what Run returns: nil when the user quit.
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
