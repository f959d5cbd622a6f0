package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"adze/internal/cmd/signals"
	"adze/internal/config"
	"adze/internal/policy"
	"adze/internal/project/worktree"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/gctuning"
	"adze/internal/run/hostio"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/stream"
	"adze/internal/stream/ask"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/tui"
	"adze/tui/plain"
)

// terminal runs the interface in the user's terminal.
type terminal struct {
	*process.Process
	lines  <-chan plain.Line      // input of a line-based interface
	ui     atomic.Pointer[tui.UI] // current interface
	attach bool                   // start with another process's session
}

// run runs sessions in a terminal until the user quits.
func (t *terminal) run(o *flags.Request, words string) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var ended session.Cause
	stop := signals.Watch(func(err error) { ended = session.Sort(err).Cause; cancel(err) },
		func(c session.Cause) { t.giveBack(); os.Exit(stream.ExitCode(c)) },
		func() bool { ui := t.ui.Load(); return ui != nil && ui.Interrupt() })
	defer stop()
	err := t.sittings(ctx, o, words)
	if lost := (*session.ComposeError)(nil); errors.As(context.Cause(ctx), &lost) {
		ended = lost.Cause
		stream.Complain(stream.Masked{Writer: t.Err, Masker: t.Ring.Mask()}, lost.Message, lost.Hint)
	}
	t.Exit = stream.ExitCode(ended)
	if ended == "" {
		t.Exit = 0
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// sittings runs one session after the other, as the user switches sessions and models. If one
// cannot be opened, it returns to the previous one.
func (t *terminal) sittings(ctx context.Context, o *flags.Request, words string) error {
	var back *flags.Request
	var look appearance
	notice, keep := "", false
	first := chooser{terminal: t, given: o.Run}
	if t.attach {
		if taken, err := readAlong(ctx, t, o, ""); !taken {
			return err
		}
	}
	for {
		s := &interactiveRun{app: t, o: o, look: &look}
		err := s.open(ctx, words)
		o = s.o
		if errors.Is(err, errLeft) {
			return nil
		}
		if errors.Is(err, session.ErrLocked) {
			if taken, err := readAlong(ctx, t, o, look.theme); !taken {
				return err
			}
			continue
		}
		if err != nil && back != nil {
			r := process.Failure(err)
			notice, o, back, keep = "error: "+r.Message+"\nhint: "+r.Hint, back, nil, false
			look.at = api.Place{}
			continue
		}
		if err != nil {
			again, err := first.again(ctx, err)
			if err != nil {
				return err
			}
			o, keep = &flags.Request{Run: *again}, !again.Demo
			if o.Demo {
				words = "" // the demo has its own
			}
			continue
		}
		if keep {
			keep, notice = false, keepModel(s.w)
		}
		if notice != "" {
			s.w.Notices, notice = append(s.w.Notices, notice), ""
		}
		next, err := s.run(ctx)
		notice = s.w.TellEnded()
		if s.wanted {
			stay := follow(*o, api.Next{Session: s.w.Head.Session}, s.w)
			if taken, err := readAlong(ctx, t, &stay, look.theme); !taken {
				return err
			}
			o, back, words, look.at = &stay, nil, "", api.Place{}
			continue
		}
		if err == nil && next.Background != "" {
			t.farewell(o, s.w)
			stay := follow(*o, api.Next{Session: s.w.Head.Session}, s.w)
			return (&app{t.Process}).launch(ctx, &stay, sessionFlags(&stay), next.Background)
		}
		if err != nil || next == (api.Next{}) {
			t.farewell(o, s.w)
			t.tidyUp(o, s.w)
			return err
		}
		stay := follow(*o, api.Next{Session: s.w.Head.Session}, s.w)
		gone := follow(stay, next, s.w)
		back, o, words, keep, look.at = &stay, &gone, "", next.Keep, next.Place
	}
}

// follow returns the request for the next session. An empty session is not stored, so it starts
// anew.
func follow(o flags.Request, next api.Next, w *conversation.Conversation) flags.Request {
	o.ResumeLast, o.Choose, o.Review, o.Fork, o.Attach = false, false, false, next.Fork, nil
	o.Mode = string(w.Gate.Mode())
	o.Model = cmp.Or(next.Model, w.Head.Provider+"/"+w.Head.Model)
	o.Resume, o.Effort = next.Session, w.Session.Effort()
	if next.Screen != "" {
		o.Inline, o.FromInline = next.Screen == api.Inline, next.Screen == api.Whole
	}
	if next.New || next.Session == w.Head.Session && len(w.Session.History()) == 0 {
		o.Resume, o.Fork = "", false
	}
	if o.Resume != w.Head.Session && o.Resume != "" {
		o.Effort = "" // the session has its own
	}
	if o.Resume == w.Head.Session || o.Resume == "" {
		o.Cwd = w.Head.Cwd
	} else if dir, ok := w.FolderOf(o.Resume); ok {
		o.Cwd = dir
	}
	if o.Cwd != w.Head.Cwd && o.Mode == w.ChosenMode {
		o.Mode = "" // it was chosen for the other folder
	}
	return o
}

// appearance is the interface's state kept across sessions.
type appearance struct {
	at    api.Place // place in the session to show
	theme string    // chosen theme, or ""
	shown string    // session already shown in the terminal
}

// interactiveRun is one session in the interface. The interface is created last, because it shows
// the connected parts, which reach it through small callbacks.
type interactiveRun struct {
	app     *terminal
	o       *flags.Request
	look    *appearance // shared with later sessions
	w       *conversation.Conversation
	ui      *tui.UI
	screen  *interfaceRun // set while the interface is shown
	words   string
	first   []tool.Attachment                       // for the first prompt
	wanted  bool                                    // it ended because another process requested its session
	settled chan struct{}                           // closed when the session's mode is set
	abort   atomic.Pointer[context.CancelCauseFunc] // aborts the running turn
	wanting chan string                             // receives the process that requests the session
	waits   atomic.Pointer[[2][]string]             // queued messages, and those not read yet
	rest    *time.Timer                             // fires restTime after the last turn
}

// restTime is the idle time before memory is released: longer than a user's usual pause between an
// answer and the next message.
const restTime = 3 * time.Second

// open draws the first frame and builds the conversation meanwhile. After an error the frame is
// removed.
func (s *interactiveRun) open(ctx context.Context, words string) error {
	if err := proc.CheckLimits(); err != nil {
		return err
	}
	stage, err := settings.Begin(s.app.Process, *s.o)
	if err != nil {
		return err
	}
	if s.begin(ctx, stage); s.screen == nil {
		return s.build(ctx, stage, words)
	}
	end := s.app.Notes.Redirect(func(text string) {
		s.ui.Observe(session.Notice{Text: strings.TrimRight(strings.TrimPrefix(text, "! "), "\n")})
	})
	building, alone := s.screen.bound(ctx)
	err = s.build(building, stage, words)
	left := !alone()
	notes := end()
	if err == nil && !left {
		return nil
	}
	s.screen.end()
	s.ui.HandOn()
	_, _ = s.app.Err.Write(notes) // the interface that showed them is gone
	switch {
	case err == nil:
		s.w.Close()
		return cmp.Or(ctx.Err(), s.screen.err, errLeft)
	case ctx.Err() != nil: // a signal canceled the build, whatever its error
		return ctx.Err()
	case left:
		return cmp.Or(s.screen.err, errLeft)
	}
	return err
}

// build creates the conversation.
func (s *interactiveRun) build(ctx context.Context, stage *settings.Settings, words string) error {
	err := stage.Enter()
	if err != nil {
		return err
	}
	s.o = &stage.Request
	s.w, err = conversation.Build(ctx, stage, func(e session.Event) { s.ui.Observe(hostio.VeiledEvent(e)) }, s.person())
	if err != nil {
		return err
	}
	s.w.Begins(ctx, s.o)
	if s.first, err = hostio.Attachments(s.o.Attach); err == nil {
		err = s.w.MayAttach(s.o.Attach)
	}
	if err == nil {
		err = s.w.AcceptPlan(ctx, s.o)
	}
	if err != nil {
		s.w.Close()
		return err
	}
	s.words = cmp.Or(words, s.w.Prompt, s.o.Prompt())
	return nil
}

func (s *interactiveRun) run(ctx context.Context) (api.Next, error) {
	if s.app.linesOnly(&s.o.Run) && s.app.lines == nil {
		s.app.lines = plain.ReadLines(s.app.In)
	}
	ports := s.w.Ports()
	o := tui.Options{
		Send: s.send, Ports: ports,
		Waits: func(queued, steered []string) { s.waits.Store(&[2][]string{queued, steered}); s.w.Refresh() },
		Blocks: func(name string, metadata json.RawMessage) []tool.Block {
			return hostio.VeiledBlocks(s.w.Set.Load().Blocks(name, metadata))
		},
		History: conversation.Replayed(s.w), InitialPlace: s.look.at,
		Info:   s.info(),
		Theme:  cmp.Or(s.look.theme, s.w.Settings.Config.Interface.Theme),
		Inline: s.w.Settings.Config.Interface.Inline, Mouse: s.w.Settings.Config.Interface.Mouse, AlreadyShown: s.look.shown == s.w.Head.Session,
		Vim: s.w.Settings.Config.Interface.Keys == "vim", Keys: s.w.Settings.Config.BoundKeys(),
		In: s.app.In, PendingKeys: &s.app.PendingKeys, Lines: s.app.lines, Out: s.app.Out, Env: s.app.Getenv, Copy: hostio.Copier(s.app.Getenv, s.w.Settings.Root.Dir()),
	}
	s.settled = make(chan struct{})
	heeding, stop := s.heed(ctx)
	o.Ports.Overview = s.overview(heeding)
	if s.screen != nil {
		s.ui.Begin(o) // queued messages are sent from here on
	} else {
		s.ui = tui.New(o)
		s.app.ui.Store(s.ui)
	}
	s.offers(&ports)
	s.rest = time.AfterFunc(restTime, gctuning.ReleaseMemory)
	defer s.rest.Stop()
	s.w.Buffered.Watch(s.ui.Observe)
	go func() { defer close(s.settled); s.settle(heeding) }()
	var err error
	if s.app.linesOnly(&s.o.Run) {
		err = s.ui.RunPlain(heeding)
	} else if err = s.watch(heeding); s.o.Transcript && !s.w.Settings.Config.Interface.Inline {
		fmt.Fprint(s.app.Out, s.ui.Transcript())
	}
	s.look.theme, s.look.shown = s.ui.Theme(), s.w.Head.Session
	if stop(&err); s.wanted {
		s.ui.HandOn()
	}
	s.w.Close()
	s.screen.release()
	return s.ui.Next(), err
}

// linesOnly reports whether the interface is line-based.
func (t *terminal) linesOnly(o *flags.Run) bool { return o.Plain || t.Getenv("TERM") == "dumb" }

func (s *interactiveRun) send(ctx context.Context, p api.Prompt) session.Result {
	select {
	case <-s.settled:
	case <-ctx.Done():
		return session.Sort(ctx.Err())
	}
	s.rest.Stop()
	defer s.rest.Reset(restTime)
	if k, task, ok := s.w.Addressed(p.Text); ok && len(p.Attach)+len(s.first)+len(p.Attachments) == 0 {
		return s.w.Give(ctx, k, task+p.Texts)
	}
	in, err := s.w.Compose(p)
	if err != nil {
		return process.Failure(err)
	}
	in.Attachments = slices.Concat(s.first, in.Attachments)
	s.first = nil
	ctx, end := s.abortable(ctx)
	defer end()
	return s.w.Answer(ctx, in)
}

// person returns the callbacks to the interface, which a line-based one creates after the
// conversation.
func (s *interactiveRun) person() conversation.UserCallbacks {
	return conversation.UserCallbacks{
		Ask:         func(ctx context.Context, q ask.Permission) (ask.Answer, error) { return s.ui.Ask(ctx, q) },
		AskQuestion: func(ctx context.Context, q ask.Question) (string, error) { return s.ui.Inquire(ctx, q) },
		Rewrite:     func(ctx context.Context, text string) (string, error) { return s.ui.Write(ctx, text) },
		OnChange:    func() { s.ui.Refresh() },
		SetMode: func(mode string) error {
			err := s.w.SetMode(mode)
			if err == nil {
				s.ui.InMode(mode)
			}
			return err
		},
		Clients: s.clients(),
	}
}

func (s *interactiveRun) info() tui.Info {
	w := s.w
	return tui.Info{
		Version: Version, Model: w.Head.Provider + "/" + w.Head.Model, Mode: w.Head.PermissionMode, Effort: w.Effort(),
		Session: w.Head.Session, Cwd: w.Head.Cwd, Folder: settings.Short(w.Settings.Home, w.Head.Cwd), Sandbox: w.Head.Sandbox.Level, Notices: w.Notices, Prompt: s.words,
		Instructions: s.told(), Config: settings.Short(w.Settings.Home, w.Settings.File), Worktree: worktree.Names(w.Settings.Places.State)(w.Head.Cwd) != "", Choose: s.o.Choose, Back: s.o.Back, Review: s.o.Review, Commands: w.Named, Agents: w.Addressees(),
	}
}

// told returns the names of the instruction files. Read errors were reported when the session was
// built.
func (s *interactiveRun) told() []string {
	var names []string
	for _, f := range s.w.Room.Files() {
		names = append(names, f.DisplayPath)
	}
	return names
}

// farewell prints how to resume the session.
func (t *terminal) farewell(o *flags.Request, w *conversation.Conversation) {
	if ended := w.TellEnded(); ended != "" {
		fmt.Fprintf(t.Err, "! %s\n", safeterm.Name(ended))
	}
	if r := w.Buffered.Judge(session.Result{}); r.Message != "" {
		stream.Complain(stream.Masked{Writer: t.Err, Masker: t.Ring.Mask()}, r.Message, r.Hint)
	}
	if o.NoSession || o.Demo || len(w.Session.History()) == 0 {
		return
	}
	fmt.Fprintf(t.Err, "adze --resume %s goes on from here\n", safeterm.Name(string(w.Session.ID())))
}

// tidyTime limits the removal of old sessions on exit; the next exit continues.
const tidyTime = 2 * time.Second

// tidyUp removes old sessions as configured when the user leaves, while no turn runs. Failures are
// retried the next time.
func (t *terminal) tidyUp(o *flags.Request, w *conversation.Conversation) {
	keep := w.Settings.Config.Sessions.Keep
	if o.NoSession || o.Demo || keep == (config.Retention{}) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidyTime)
	defer cancel()
	_ = t.Change(ctx, func(s *sessiondb.Store) error {
		_, err := t.Tidy(ctx, s)
		return err
	})
}

// giveBackTime limits the restoring of the terminal, which may hang, in a process that must exit.
const giveBackTime = 200 * time.Millisecond

// giveBack restores the terminal for the shell.
func (t *terminal) giveBack() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if ui := t.ui.Load(); ui != nil {
			ui.GiveBack()
		}
	}()
	select {
	case <-done:
	case <-time.After(giveBackTime):
	}
}

// settle sets the mode auto for the first session in a folder if the sandbox is full and neither
// flags, the configuration nor the machine's owner choose otherwise. A review keeps its mode. The
// choice is saved for the folder, so that it is announced once.
func (s *interactiveRun) settle(ctx context.Context) {
	w, modes := s.w, s.w.Settings.Owner.Modes
	if s.o.Review || !w.Undecided(s.o) || w.Settings.Project().Mode() != "" || w.Cage.Setting == sandbox.Off ||
		len(modes) > 0 && !slices.Contains(modes, string(policy.Auto)) || !w.Cage.Full() || ctx.Err() != nil {
		return
	}
	if err := w.SetMode(string(policy.Auto)); err != nil {
		s.ui.Observe(session.Notice{Text: err.Error()})
		return
	}
	if err := w.Settings.Project().ChooseMode(ctx, string(policy.Auto)); err != nil {
		s.ui.Observe(session.Notice{Text: fmt.Sprintf("the mode auto holds for this session only, because it could not be saved: %v", err)})
	}
	w.ChosenMode = string(w.Gate.Mode())
	if s.ui.InMode(w.ChosenMode); s.app.linesOnly(&s.o.Run) || w.Settings.Config.Interface.Inline { // otherwise the welcome shows it
		s.ui.Observe(session.Notice{Text: "The sandbox is full here, so it is auto now: edits, and runs commands in it, without asking; shift+tab changes it.", Kind: session.Remark})
	}
}

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
	info := tui.Info{Version: Version, Mode: "starting"}
	if !s.o.Demo { // the demo has its own folder
		info.Cwd, _ = settings.RealFolderOf(s.app.Process, &s.o.Run) // the start reports errors
	}
	info.Folder = settings.Short(s.app.Getenv("HOME"), info.Cwd)
	s.ui = tui.New(tui.Options{
		Starting: true, Info: info,
		Theme: cmp.Or(s.look.theme, cfg.Interface.Theme), Inline: cfg.Interface.Inline,
		Vim: cfg.Interface.Keys == "vim", Keys: cfg.BoundKeys(),
		In: s.app.In, PendingKeys: &s.app.PendingKeys, Out: s.app.Out, Env: s.app.Getenv, Copy: hostio.Copier(s.app.Getenv, info.Cwd),
	})
	s.app.ui.Store(s.ui)
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
