package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/signals"
	"adze/internal/config/paths"
	"adze/internal/live"
	"adze/internal/project/discovery"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/internal/stream"
	"adze/internal/text/usage"
	"adze/session"
)

// background starts the program again without a terminal, and returns when the new process has its
// session or has failed. It is not supervised: it lives as long as it holds the session's lock.
func (a *app) background(o *flags.Request, words string) error {
	if err := a.ByUser("a session in the background"); err != nil {
		return err
	}
	if strings.TrimSpace(words+o.Prompt()) == "" {
		return usage.Mistake(`adze --background "what to do"`, "a session in the background needs a prompt")
	}
	args := slices.DeleteFunc(slices.Clone(a.Words), func(w string) bool { return w == "--background" || w == "--background=true" })
	return a.launch(context.Background(), o, args, "")
}

// backgroundSession is a started background session.
type backgroundSession struct {
	id       session.ID
	pid      int
	worktree string // work tree beside another session in the checkout; "" if not needed
	log      string // its output if it failed
	ended    bool   // it finished early, or failed after its prompt was stored
}

// launch starts a background session and reports the result.
func (a *app) launch(ctx context.Context, o *flags.Request, args []string, prompt string) error {
	l, err := a.detach(ctx, o, args, prompt)
	if l.worktree != "" {
		fmt.Fprintf(a.Err, "another session works in this checkout; this one works in the work tree %s\n", l.worktree)
	}
	if err != nil {
		fmt.Fprint(a.Err, l.log)
		return err
	}
	fmt.Fprintln(a.Out, l.id)
	if l.ended {
		fmt.Fprintf(a.Err, "%sit has ended already: adze sessions logs %s shows it, adze --resume %[2]s goes on from here\n", l.log, l.id)
		return nil
	}
	fmt.Fprintf(a.Err, "it works in the background (process %d): adze sessions attach %s shows it, adze sessions stop %[2]s ends it\n", l.pid, l.id)
	return nil
}

// sessionFlags returns the flags that continue the interface's session in another process.
func sessionFlags(o *flags.Request) []string {
	args := []string{"--permission-mode=" + o.Mode, "--cwd=" + o.Cwd}
	if o.Resume != "" {
		return append(args, "--resume="+o.Resume)
	}
	return append(args, "--model="+o.Model)
}

// detach starts the process with args; prompt, if not empty, is added.
func (a *app) detach(ctx context.Context, o *flags.Request, args []string, prompt string) (l backgroundSession, err error) {
	if prompt != "" {
		args = append(args, "--", prompt)
	}
	dir, err := settings.RealFolderOf(a.Process, &o.Run)
	if err != nil {
		return l, err
	}
	at := paths.FromEnv(a.Getenv)
	folder := live.Folder(a.Getenv, at.State)
	next, stop, err := live.Await(folder)
	if err != nil {
		return l, err
	}
	defer stop()
	given := []string{"--detached"}
	id, known := session.ID(o.NewID), int64(0) // number of stored entries
	switch {
	case o.Resume != "" || o.ResumeLast:
		head, err := a.resumed(ctx, o)
		if err != nil {
			return l, err
		}
		id, known = head.ID, int64(head.Entries)
	case id == "":
		id = session.NewID(time.Now())
		given = append(given, "--session-id="+string(id))
	}
	if o.Worktree == "" && a.shared(ctx, folder, dir) {
		l.worktree = "background-" + string(id)
		given = append(given, "--worktree="+l.worktree)
	}
	self, err := os.Executable()
	if err != nil {
		return l, err
	}
	log := filepath.Join(at.State, "background", string(id)+".log")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return l, err
	}
	pid, ended, err := proc.Detach(slices.Concat([]string{self}, given, args), append(os.Environ(), a.Ring.Removed()...), dir, log)
	if err != nil {
		return l, err
	}
	l.id, l.pid = id, pid
	err = begun(ctx, ownedSession{folder, id, pid, known}, next, ended)
	if err == nil {
		return l, nil
	}
	l.ended = errors.Is(err, errDone)
	if text, unread := os.ReadFile(log); unread == nil && !l.ended { // without the log, only the error is shown
		l.log = string(text)
	}
	if l.ended || a.prompted(ctx, id, known) {
		l.ended = true
		return l, nil
	}
	return l, fmt.Errorf("the session did not begin: %w", err)
}

// detachSilently is like detach where nobody reads stderr: its error has the process's output.
func (a *app) detachSilently(ctx context.Context, o *flags.Request, args []string, prompt string) (backgroundSession, error) {
	l, err := a.detach(ctx, o, args, prompt)
	if words := strings.TrimSpace(l.log); err != nil && words != "" {
		err = fmt.Errorf("%w: %s", err, words)
	}
	return l, err
}

// prompted reports whether a session's log has a prompt after the given number of entries.
func (a *app) prompted(ctx context.Context, id session.ID, after int64) (found bool) {
	err := a.Store(ctx, func(s *sessiondb.Store) error {
		entries, err := s.Load(ctx, id)
		for _, e := range entries[min(after, int64(len(entries))):] {
			var m session.Message
			found = found || e.Type == session.MessageEntry && json.Unmarshal(e.Data, &m) == nil && m.Role == session.User
		}
		return err
	})
	return err == nil && found
}

// ownedSession identifies a session and its future owner; known is the number of entries before.
type ownedSession struct {
	folder string
	id     session.ID
	pid    int
	known  int64
}

// begun waits until the process has its session and has stored its prompt, or has ended. It returns
// errDone if the process ended without an error.
func begun(ctx context.Context, o ownedSession, next func(context.Context) error, ended <-chan error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-ended:
			if err == nil {
				err = errDone
			}
			cancel(err)
		case <-ctx.Done():
		}
	}()
	for !o.stored(ctx) {
		if next(ctx) != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// stored waits for the prompt to be logged, a question before it, or the end of a failed turn. It
// returns false if the process does not have the session.
func (o ownedSession) stored(ctx context.Context) bool {
	c, err := live.Dial(ctx, o.folder, o.id, live.Subscription{Kind: "terminal", After: o.known})
	if err != nil {
		return false
	}
	defer c.Close() // nothing was sent
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	for c.Hello.PID == o.pid {
		l, err := c.Next()
		if err != nil {
			return false
		}
		var told struct {
			Message session.Message `json:"message"`
		}
		switch l.Type {
		case "question", "turn":
			return true
		case "message":
			if json.Unmarshal(l.Raw, &told) == nil && told.Message.Role == session.User {
				return true
			}
		}
	}
	return false
}

var errDone = errors.New("it is done")

// resumed returns the session to continue.
func (a *app) resumed(ctx context.Context, o *flags.Request) (head session.Head, err error) {
	err = a.Store(ctx, func(s *sessiondb.Store) (err error) {
		if o.ResumeLast {
			head, err = cmd.Newest(ctx, a, s)
			return err
		}
		heads, err := s.List(ctx)
		if err != nil {
			return err
		}
		id, err := a.Session(heads, o.Resume)
		if i := slices.IndexFunc(heads, func(h session.Head) bool { return h.ID == id }); i >= 0 {
			head = heads[i]
		}
		return err
	})
	return head, err
}

// shared reports whether another session works in dir's git checkout.
func (a *app) shared(ctx context.Context, folder, dir string) bool {
	top, git := discovery.Repository(dir)
	if !git {
		return false
	}
	others, _ := live.List(ctx, folder) // without a list, no other session is known
	return slices.ContainsFunc(others, func(h live.Hello) bool {
		its, _ := discovery.Repository(h.Cwd)
		return its == top
	})
}

// detached runs the background process: a conversation for clients, which ends when it is idle and
// no client is attached. Questions wait for a client.
func detached(a *process.Process, o *flags.Request, words string) int {
	o.Print = true
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	p := &stream.Printer{Out: a.Out, Err: a.Err, Format: stream.Text, Mask: a.Ring.Mask}
	stop := signals.Watch(cancel, func(c session.Cause) {
		os.Exit(p.Finish(session.Result{Cause: c, Message: string(c)}))
	}, nil)
	defer stop()
	in, end := io.Pipe()
	c := newTalker(a, p, cancel)
	var began atomic.Bool // and finished its first turn
	leave := func() {
		if w := c.conversation(); began.Load() && c.talk.Idle() && (w == nil || w.Owner() == nil || w.Owner().Watched() == 0) {
			_ = end.Close() // without further input the conversation ends
		}
	}
	c.talk.Turned = func() { began.Store(true); leave() }
	c.clients.Headless, c.clients.OnDisconnect = true, leave
	return p.Finish(c.converse(ctx, in, o, words))
}

// attachCommand returns the command adze sessions attach.
func attachCommand(a *app) *cobra.Command {
	return &cobra.Command{Use: "attach ID", Short: "Show a session that works, and prompt, answer and stop it from here", Args: cmd.RangeArgs(1, 1),
		Long: `The session stays with the process that has it, in the background or in another terminal: leaving this window with
Ctrl-D or /detach ends nothing there. A question that is answered here is answered there. /take goes on with it here.`,
		Example: "  adze sessions attach 20261121t0245",
		RunE: func(_ *cobra.Command, words []string) error {
			h, err := a.living(words[0])
			if err != nil {
				return err
			}
			o := &flags.Request{Run: flags.New()}
			o.Resume, o.Cwd = string(h.Session), h.Cwd // a takeover continues in the session's folder
			return (&terminal{Process: a.Process, attach: true}).run(o, "")
		}}
}

// living returns the running session whose id begins with prefix.
func (a *app) living(prefix string) (live.Hello, error) {
	all, err := live.List(context.Background(), live.Folder(a.Getenv, paths.FromEnv(a.Getenv).State))
	if err != nil {
		return live.Hello{}, err
	}
	all = slices.DeleteFunc(all, func(h live.Hello) bool { return !strings.HasPrefix(string(h.Session), prefix) })
	switch len(all) {
	case 0:
		return live.Hello{}, usage.Mistake("adze --resume "+prefix+" goes on with one that has ended", "no process has a session %s", prefix)
	case 1:
		return all[0], nil
	}
	var ids []string
	for _, h := range all {
		ids = append(ids, string(h.Session))
	}
	return live.Hello{}, usage.Mistake("write more of it: "+strings.Join(ids, ", "), "%s begins the ids of %d sessions", prefix, len(all))
}

// stopCommand returns the command adze sessions stop.
func stopCommand(a *app) *cobra.Command {
	return &cobra.Command{Use: "stop ID", Short: "End a session in the background", Args: cmd.RangeArgs(1, 1),
		Long: `The running turn is stopped, with all that it started, and the process ends. The session is kept: adze --resume ID goes
on with it.`,
		Example: "  adze sessions stop 20261121t0245",
		RunE: func(c *cobra.Command, words []string) error {
			h, err := a.living(words[0])
			if err != nil {
				return err
			}
			if err := a.end(c.Context(), h.Session); err != nil {
				return err
			}
			fmt.Fprintf(a.Out, "stopped; adze --resume %s goes on from here\n", h.Session)
			return nil
		}}
}

// stopTime is how long adze sessions stop waits for a turn and its processes to end.
const stopTime = time.Minute

// end makes a background session's process exit and waits for it.
func (a *app) end(ctx context.Context, id session.ID) error {
	c, err := live.Dial(ctx, live.Folder(a.Getenv, paths.FromEnv(a.Getenv).State), id, live.Subscription{Kind: "adze sessions stop", StateOnly: true})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	if c.Hello.Window {
		return usage.Mistake(fmt.Sprintf("leave it there, or adze sessions attach %s and /take", id), "process %d shows the session in a window of its own", c.Hello.PID)
	}
	switch err := c.Release(ctx); {
	case ctx.Err() != nil:
		return usage.Mistake(fmt.Sprintf("kill %d ends it; its log is kept", c.Hello.PID), "the process has not ended in %s", stopTime)
	case err != nil:
		return err
	}
	return awaitEnd(ctx, c.Hello.PID)
}

// awaitEnd waits until a process that is not a child has ended. A zombie counts as ended, as in a
// container whose init does not reap.
func awaitEnd(ctx context.Context, pid int) error {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for sessiondb.Running(pid) {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
