package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/sessions"
	"adze/internal/cmd/signals"
	"adze/internal/config/paths"
	"adze/internal/live"
	"adze/internal/run/flags"
	"adze/internal/run/gctuning"
	"adze/internal/run/hostio"
	"adze/internal/run/process"
	"adze/internal/sessiondb"
	"adze/internal/stream"
	"adze/internal/text/plural"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
	"adze/session"
	"adze/tool"
	"adze/tui/draw"
	"adze/tui/overview"
)

// sessionsCommand returns adze sessions: the overview in a terminal, else a list. The commands for
// stored and running sessions are its subcommands.
func sessionsCommand(a *app) *cobra.Command {
	c := sessions.List(&a.Env, a, a.doing)
	c.Use, c.Aliases, c.Args, c.Short = "sessions", []string{"session"}, cobra.ArbitraryArgs, "Show all sessions on one screen: who needs you, what works, what is done"
	c.Long = `Shows the sessions of all folders in a terminal: those that need you, those that work, those with something to review, and those
that are done. From there a question is answered, a session begun, stopped, renamed, tagged or opened. In a pipe, with --json or with
another flag it lists sessions, as adze sessions list does.`
	c.Example = "  adze sessions\n  adze sessions --json | jq -r 'select(.state==\"needs you\").id'"
	list := c.RunE
	var from string
	c.Flags().StringVar(&from, "from", "", "the session that the overview is shown beside; opening it goes back there")
	_ = c.Flags().MarkHidden("from") // the flag exists
	cmd.WithSubcommands(c, append(sessions.Commands(&a.Env, a, a.doing), cmd.HideOldNames(cmd.Verify(&a.Env, a))...)...)
	cmd.WithSubcommands(c, attachCommand(a), stopCommand(a))
	c.RunE = func(c *cobra.Command, words []string) error {
		if len(words) > 0 {
			return cmd.UnknownCommand(c, words[0])
		}
		if c.Flags().NFlag() > 0 && from == "" || !term.IsTerminal(a.In.Fd()) || !term.IsTerminal(a.Out.Fd()) {
			return list(c, words)
		}
		if err := a.ByUser("the overview"); err != nil {
			return err
		}
		handed := hostio.Inherited(from != "")
		a.PendingKeys.Give(handed.Read())
		defer func() { handed.Write(a.PendingKeys.Take()) }()
		return a.overview(c.Context(), from)
	}
	return c
}

// overview shows all sessions in a new process on this terminal, while the session continues in
// this one. It returns when the user comes back.
func (s *interactiveRun) overview(ctx context.Context) func() error {
	if _, stored := s.w.Stored.(*sessiondb.Store); !stored || s.o.NoSession || s.o.Demo {
		return nil // the overview would not show it
	}
	return func() error {
		err := hostio.RunOnTerminal(ctx, s.app.In, s.app.Out, s.app.Err, &s.app.PendingKeys, append(os.Environ(), s.app.Ring.Removed()...), "sessions", "--from", s.w.Head.Session)
		if ctx.Err() != nil {
			return nil // the interface ends with the reason
		}
		return err
	}
}

// overview shows the screen, opens selected sessions, and comes back. from is the session that
// started it, which is returned to instead of opened.
func (a *app) overview(ctx context.Context, from string) error {
	at, note := from, ""
	for {
		open, folder, err := a.overviewOnce(ctx, at, note)
		if err != nil || open.ID == "" || open.ID == from {
			return err
		}
		o := &flags.Request{Run: flags.New()}
		o.Resume, o.Cwd, o.Back, o.Review = open.ID, folder, true, open.Review
		if open.Review {
			err = a.letGo(ctx, session.ID(open.ID))
		}
		if err == nil {
			err = (&terminal{Process: a.Process}).run(o, "")
		}
		if at, note = open.ID, ""; err != nil {
			note = told(err).Error()
		}
	}
}

// told formats an error and its hint in one line.
func told(err error) error {
	if err == nil {
		return nil
	}
	r := process.Failure(err)
	if r.Hint == "" {
		return errors.New(r.Message)
	}
	return fmt.Errorf("%s; %s", r.Message, strings.ReplaceAll(r.Hint, "\n", "; "))
}

// beginBeside starts a background session in this folder.
func (a *app) beginBeside(ctx context.Context, prompt string) (said string, err error) {
	l, err := a.detachSilently(ctx, &flags.Request{Run: flags.New()}, nil, prompt)
	if err != nil {
		return "", err
	}
	said = "began " + string(l.id)
	if l.worktree != "" {
		said += " in the work tree " + l.worktree
	}
	return said, nil
}

// overviewOnce shows the screen once and returns the session selected by the user.
func (a *app) overviewOnce(ctx context.Context, at, note string) (open overview.Opened, folder string, err error) {
	here, err := a.CurrentFolder()
	if err != nil {
		return open, "", err
	}
	cfg, _, err := a.Config()
	if err != nil {
		return open, "", err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rest := time.AfterFunc(restTime, gctuning.ReleaseMemory)
	defer rest.Stop()
	defer signals.Watch(cancel, func(c session.Cause) { os.Exit(stream.ExitCode(c)) }, nil)()
	err = a.Change(ctx, func(s *sessiondb.Store) error {
		p := &overviewPort{Store: s, folder: live.Folder(a.Getenv, paths.FromEnv(a.Getenv).State), mask: a.Ring.Mask, begin: a.beginBeside}
		open, err = overview.Run(ctx, overview.Options{Port: p.port(), Folder: here,
			Theme: draw.Choose(cfg.Interface.Theme, a.Getenv, draw.GroundOf(a.Getenv)), SelectedID: at, Note: note, In: a.In, PendingKeys: &a.PendingKeys, Out: a.Out, Env: a.Getenv})
		if open.ID != "" {
			head, found := p.head(ctx, session.ID(open.ID))
			if folder = head.Info().Cwd; !found || folder == "" {
				folder = here
			}
		}
		return err
	})
	if cause := context.Cause(ctx); cause != nil {
		a.Exit = stream.ExitCode(session.Sort(cause).Cause)
		return overview.Opened{}, "", nil
	}
	return open, folder, err
}

// doing returns each session's state and activity.
func (a *app) doing(ctx context.Context, heads []session.Head) []sessions.Activity {
	lives := livesIn(ctx, live.Folder(a.Getenv, paths.FromEnv(a.Getenv).State))
	out := make([]sessions.Activity, len(heads))
	for i, h := range heads {
		hello, isLive := lives[h.ID]
		r := rowOf(h, hello, isLive)
		out[i] = sessions.Activity{State: r.State.String(), What: r.Doing, Live: isLive}
	}
	return out
}

func livesIn(ctx context.Context, folder string) map[session.ID]live.Hello {
	out := map[session.ID]live.Hello{}
	all, err := live.List(ctx, folder)
	if err != nil {
		return out // none reachable; stored ones are listed anyway
	}
	for _, h := range all {
		out[h.Session] = h
	}
	return out
}

// overviewPort implements the screen's functions.
type overviewPort struct {
	*sessiondb.Store
	folder string // of the sockets
	mask   func() *redact.Masker
	begin  func(ctx context.Context, prompt string) (said string, err error)

	lives atomic.Pointer[live.Sessions]
}

// living returns the running sessions as last reported.
func (p *overviewPort) living() map[session.ID]live.Hello {
	out := map[session.ID]live.Hello{}
	if lives := p.lives.Load(); lives != nil {
		for _, r := range lives.All() {
			h := r.Hello
			h.Status = r.Status()
			out[h.Session] = h
		}
	}
	return out
}

func (p *overviewPort) port() overview.Port {
	return overview.Port{
		Rows: p.rows, Watch: p.watch, Peek: p.peek, Answer: p.answer, Begin: p.begin,
		Stop: func(ctx context.Context, id string) error { return p.send(ctx, id, map[string]string{"type": "abort"}) },
		Rename: func(ctx context.Context, id, name string) error {
			return p.label(ctx, id, sessiondb.Label{Kind: sessiondb.TitleLabel, Value: name})
		},
		Tag: func(ctx context.Context, id, tag string) error {
			l, err := sessions.TagOf(tag)
			if err != nil {
				return err
			}
			return p.label(ctx, id, l)
		},
		Pin:      func(ctx context.Context, id string, pinned bool) error { return p.tag(ctx, id, live.PinnedTag, pinned) },
		Reviewed: func(ctx context.Context, id string) error { return p.tag(ctx, id, live.ReviewTag, false) },
	}
}

func (p *overviewPort) tag(ctx context.Context, id, tag string, on bool) error {
	kind := sessiondb.UntagLabel
	if on {
		kind = sessiondb.TagLabel
	}
	return p.label(ctx, id, sessiondb.Label{Kind: kind, Value: tag})
}

func (p *overviewPort) label(ctx context.Context, id string, l sessiondb.Label) error {
	l.Author, l.Value = sessiondb.ByPerson, p.mask().Text(l.Value)
	return p.Owner().Label(ctx, session.ID(id), l)
}

// rows returns the running sessions, then the last used ones.
func (p *overviewPort) rows(ctx context.Context, most int) ([]overview.Row, bool, error) {
	lives := p.living()
	heads, total, err := p.Page(ctx, sessiondb.Filter{Limit: most})
	if err != nil {
		return nil, false, err
	}
	more := total > len(heads)
	for _, id := range slices.Sorted(maps.Keys(lives)) {
		if !slices.ContainsFunc(heads, func(h session.Head) bool { return h.ID == id }) {
			h, found := p.head(ctx, id)
			if !found { // not stored yet
				h = session.Head{ID: id, Updated: lives[id].OwnedSince}
			}
			heads = append(heads, h)
		}
	}
	var out []overview.Row
	for _, h := range heads {
		hello, lives := lives[h.ID]
		r := rowOf(h, hello, lives)
		r.Title, r.Doing = p.mask().Text(r.Title), p.mask().Text(r.Doing)
		out = append(out, r)
	}
	return out, more, nil
}

func (p *overviewPort) head(ctx context.Context, id session.ID) (session.Head, bool) {
	heads, _, err := p.Page(ctx, sessiondb.Filter{All: true, Prefix: string(id), Limit: 1})
	if err != nil || len(heads) == 0 || heads[0].ID != id {
		return session.Head{}, false
	}
	return heads[0], true
}

// rowOf converts a session to a row of the screen.
func rowOf(h session.Head, hello live.Hello, lives bool) overview.Row {
	info := h.Info()
	var now *live.Status
	if lives {
		now = &hello.Status
	}
	p := live.ListingOf(h, now)
	r := overview.Row{ID: string(h.ID), Title: h.Title(), Folder: info.Cwd, Model: info.Model, State: overview.State(slices.Index(live.Groups(), p.Group)),
		Doing: p.Activity, Updated: h.Updated, Tags: p.Tags, Pinned: p.Pinned, Live: lives}
	if !lives {
		return r
	}
	r.Cost, r.Title, r.Folder = hello.Cost, cmp.Or(hello.Title, r.Title), cmp.Or(hello.Cwd, r.Folder)
	if hello.Model != "" {
		r.Model = hello.Provider + "/" + hello.Model
	}
	return r
}

// watch calls changed when a session starts, ends or changes its activity.
func (p *overviewPort) watch(ctx context.Context, changed func()) {
	var ends sync.WaitGroup
	defer ends.Wait()
	lives := &live.Sessions{Ctx: ctx, Ends: &ends, Folder: p.folder, Kind: "overview", Changed: changed}
	p.lives.Store(lives)
	lives.Watch()
}

// someFiles limits the changed files in a preview.
const someFiles = 5

// peek returns a session's last words and waiting question.
func (p *overviewPort) peek(ctx context.Context, id string) (overview.Peek, error) {
	var out overview.Peek
	said, err := hostio.Peek(ctx, p.Store, id)
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		return out, err
	}
	out.Said = p.mask().Text(cmp.Or(said.Answered, said.Asked))
	if n := len(said.Changed); n > 0 {
		out.Change = p.mask().Text("changed " + plural.Of(n, "file") + ": " + strings.Join(said.Changed[:min(n, someFiles)], ", "))
	}
	q, err := p.question(ctx, session.ID(id))
	if err != nil {
		return out, err
	}
	out.Question = q
	return out, nil
}

// question returns the session's waiting question, or nil.
func (p *overviewPort) question(ctx context.Context, id session.ID) (*overview.Question, error) {
	c, err := p.dial(ctx, id)
	if errors.Is(err, live.ErrNobody) || errors.Is(err, live.ErrUnavailable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if c.Hello.Questions == 0 {
		return nil, nil
	}
	for {
		l, err := c.Next()
		if err != nil {
			return nil, err
		}
		switch l.Type {
		case "question":
			var q live.Question
			if err := json.Unmarshal(l.Raw, &q); err != nil {
				return nil, fmt.Errorf("read the question of the session: %w", err)
			}
			return questionOf(q), nil
		case "state": // waiting questions precede it
			return nil, nil
		}
	}
}

// dial connects to a session's owner, for events from now on.
func (p *overviewPort) dial(ctx context.Context, id session.ID) (*live.Client, error) {
	return live.Dial(ctx, p.folder, id, live.Subscription{Kind: "overview", After: p.living()[id].Position})
}

// questionOf converts a question for the screen.
func questionOf(q live.Question) *overview.Question {
	out := &overview.Question{ID: q.Question}
	if q.Kind != "permission" {
		out.Lines = strings.Split(strings.TrimSpace(cmp.Or(q.Text, q.Title)), "\n")
		out.Choices = q.Choices
		return out
	}
	out.Lines = append(out.Lines, cmp.Or(q.Title, q.Name))
	for _, n := range q.Needs {
		line := string(n.Permission) + " " + n.Target
		if n.Really != "" {
			line += " (" + n.Really + ")"
		}
		out.Lines = append(out.Lines, line)
	}
	if q.Text != "" {
		out.Lines = append(out.Lines, q.Text)
	}
	for _, b := range q.Preview {
		out.Lines = append(out.Lines, linesOf(b)...)
	}
	return out
}

// linesOf returns a block as plain lines.
func linesOf(b tool.Block) (out []string) {
	if t := strings.TrimRight(b.Text, "\n"); t != "" {
		out = strings.Split(t, "\n")
	}
	for _, i := range b.Items {
		out = append(out, i.Text)
	}
	return out
}

func (p *overviewPort) answer(ctx context.Context, id, question string, a overview.Answer) error {
	line := map[string]any{"type": "answer", "question": question}
	switch {
	case a.Allow && a.Text == "":
		line["choice"] = "once"
	case a.Allow:
		line["text"] = a.Text
	default:
		line["choice"], line["reason"] = "no", a.Text
	}
	return p.send(ctx, id, line)
}

// send sends a line to a session's owner and waits for its effect.
func (p *overviewPort) send(ctx context.Context, id string, line any) error {
	_, err := live.SendLine(ctx, p.folder, session.ID(id), "overview", line)
	var why *live.Failure
	switch {
	case errors.Is(err, live.ErrNobody):
		return usage.Mistake("open it", "no process has this session any more")
	case errors.As(err, &why):
		return errors.New(why.Message)
	}
	return err
}
