package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/cmd/signals"
	"adze/internal/editors/acp"
	"adze/internal/files/workspace"
	"adze/internal/files/workspace/buffers"
	"adze/internal/llm/models"
	"adze/internal/policy"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/run/modelpicker"
	"adze/internal/run/process"
	"adze/internal/sessiondb"
	"adze/internal/stream"
	"adze/internal/stream/ask"
	"adze/internal/stream/lineprotocol"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// editorCommand returns the command adze acp.
func editorCommand(a *app) *cobra.Command {
	o := &flags.Run{}
	c := &cobra.Command{Use: "acp", Annotations: cmd.CallableByTools(), Short: "Run inside an editor, by the Agent Client Protocol on stdin and stdout", Args: cmd.RangeArgs(0, 0),
		Long: `Work in an editor that speaks the Agent Client Protocol, such as Zed: it starts adze acp, and talks with it on stdin and
stdout. The flags hold for all sessions that it opens; each works in the folder that the editor names.`,
		Example: "  adze acp\n  adze acp --model PROVIDER/NAME --permission-mode auto",
		RunE:    func(*cobra.Command, []string) error { return serveEditor(a, o) }}
	o.AddServed(c)
	f := c.Flags()
	f.BoolVar(&o.NoSession, "no-session", false, "save nothing")
	f.BoolVar(&o.Bare, "bare", false, "read no instruction files")
	c.AddCommand(&cobra.Command{Use: "login", Annotations: cmd.CallableByTools(), Short: "Choose a model in this terminal, for an editor", Args: cmd.RangeArgs(0, 0), Example: "  adze acp login",
		RunE: func(*cobra.Command, []string) error {
			return a.start(&flags.Request{Run: flags.New()}, "")
		}})
	return c
}

// serveEditor serves an editor until it disconnects.
func serveEditor(a *app, o *flags.Run) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var ended session.Cause
	stop := signals.Watch(func(err error) { ended = session.Sort(err).Cause; cancel(err) }, func(c session.Cause) { os.Exit(stream.ExitCode(c)) }, nil)
	defer stop()
	agent := &acp.Agent{Program: &editor{app: a.Process, given: *o}, Version: Version}
	err := agent.Serve(ctx, a.In, a.Out)
	if ended != "" {
		a.Exit = stream.ExitCode(ended)
		return nil
	}
	return err
}

// editor implements acp's interface to the program.
type editor struct {
	app   *process.Process
	given flags.Run // command-line flags
}

// Log writes to stderr, which editors keep.
func (e *editor) Log(text string) {
	fmt.Fprintf(e.app.Err, "! %s\n", safeterm.Name(e.app.Ring.Mask().Text(text)))
}

func (e *editor) Failure(err error) session.Result { return process.Failure(err) }

// Ready checks that a model is available.
func (e *editor) Ready(ctx context.Context) error {
	cfg, _, err := e.app.Config()
	if err != nil {
		return err
	}
	o := e.given
	o.Merge(&cfg)
	_, err = e.app.Models(cfg).Choose(ctx)
	return err
}

// Sessions lists the stored sessions; a missing store is empty.
func (e *editor) Sessions(ctx context.Context) (out []api.SessionHead, err error) {
	err = e.app.Store(ctx, func(s *sessiondb.Store) (err error) {
		out, err = hostio.Sessions(ctx, s)
		return err
	})
	return out, err
}

func (e *editor) Delete(ctx context.Context, id string) error {
	return e.app.Change(ctx, func(s *sessiondb.Store) error {
		_, err := e.app.Forgets(s).Sessions(ctx, session.ID(id))
		return err
	})
}

// Open starts a conversation.
func (e *editor) Open(ctx context.Context, w acp.OpenRequest) (acp.Conversation, error) {
	o := flags.Request{Run: e.given.Clone()}
	o.Cwd, o.Resume, o.NewID, o.Fork = w.Cwd, w.ID, w.NewID, w.Fork
	if w.ID != "" {
		o.Model, o.Effort, o.Agent = "", "", ""
	}
	for _, set := range []struct{ to, from *string }{{&o.Model, &w.Model}, {&o.Mode, &w.Mode}, {&o.Effort, &w.Effort}} {
		if *set.from != "" {
			*set.to = *set.from
		}
	}
	c := &editorSession{app: e.app, request: w, hasEntries: w.ID != ""}
	o.Files, o.EditorServers = filesOf(w.Editor), w.Servers
	observe := func(ev session.Event) { w.Observe(hostio.VeiledEvent(ev)) }
	wired, err := conversation.Open(ctx, e.app, o, observe, conversation.UserCallbacks{Ask: w.Ask, AskQuestion: w.Inquire, Named: w.Named, Clients: c.clients()})
	if err != nil {
		return nil, err
	}
	c.wired = wired
	wired.Buffered.Watch(observe)
	c.restoreMode()
	return c, nil
}

// Take makes the process that owns a session release it.
func (e *editor) Take(ctx context.Context, id string) error {
	return e.app.Store(ctx, func(s *sessiondb.Store) error {
		return placeOf(e.app, s, session.ID(id)).TakeOver(ctx, "editor")
	})
}

// clients returns the callbacks for the user's other processes.
func (c *editorSession) clients() conversation.Clients {
	to := c.request.Clients
	return conversation.Clients{
		Prompt: func(p lineprotocol.Prompt) error {
			if len(p.Attach) > 0 {
				return usage.Mistake("name its path in the prompt", "a session of an editor takes no files by their names")
			}
			return to.Begin(acp.Prompt{Text: p.Text, Attachments: p.Files})
		},
		Abort: to.Stop, InMode: func(string) { to.Changed() },
		Release: to.Leave,
	}
}

// editorSession is an editor's conversation.
type editorSession struct {
	app     *process.Process
	request acp.OpenRequest
	wired   *conversation.Conversation

	mu         sync.Mutex
	hasEntries bool   // it has stored entries
	mode       string // permission mode stored with the session
}

func (c *editorSession) ID() string              { return c.wired.Head.Session }
func (c *editorSession) Cwd() string             { return c.wired.Head.Cwd }
func (c *editorSession) HasMessages() bool       { return len(c.wired.Session.History()) > 0 }
func (c *editorSession) Replay() []session.Event { return conversation.Replayed(c.wired) }
func (c *editorSession) Model() string           { return c.wired.Head.Provider + "/" + c.wired.Head.Model }
func (c *editorSession) Mode() string            { return string(c.wired.Gate.Mode()) }
func (c *editorSession) Effort() string          { return c.wired.Effort() }
func (c *editorSession) SetEffort(name string)   { c.wired.Session.SetEffort(name) }
func (c *editorSession) Efforts() []api.Mode     { return hostio.Efforts() }
func (c *editorSession) Commands() []api.Named   { return slices.Concat(builtins(), c.wired.Named()) }
func (c *editorSession) Notices() []string       { return c.wired.Notices }
func (c *editorSession) Close()                  { c.wired.Close() }

// Modes returns the modes that the machine's owner permits.
func (c *editorSession) Modes() []api.Mode {
	return slices.DeleteFunc(hostio.Modes(c.wired.Gate.Mode()), func(m api.Mode) bool { return !c.wired.Gate.MayBe(policy.Mode(m.Name)) })
}

// Title returns the first line of the first user message.
func (c *editorSession) Title() string {
	for _, m := range slices.Concat(c.wired.Session.Earlier(), c.wired.Session.History()) {
		if m.Role == session.User && !m.Note && !m.Summary {
			return session.TitleOf(m.Text())
		}
	}
	return ""
}

// Prompt runs one turn.
func (c *editorSession) Prompt(ctx context.Context, p acp.Prompt) session.Result {
	w := c.wired
	if do, arg := builtinOf(p); do != nil {
		return do(c, ctx, arg)
	}
	defer c.keepMode(context.WithoutCancel(ctx))
	w.Servers.Consent(ctx, c.request.Inquire)
	in, err := w.Compose(api.Prompt{Text: p.Text, Attachments: p.Attachments})
	if err != nil {
		return process.Failure(err)
	}
	return w.Buffered.Judge(w.Answer(ctx, in))
}

func (c *editorSession) Models() []api.ModelRow { return c.rows(models.Listing{}) }

// lookTime limits the query for models on local servers.
const lookTime = 10 * time.Second

func (c *editorSession) AllModels(ctx context.Context) []api.ModelRow {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	l, err := c.app.LookAround(ctx)
	if err != nil {
		return nil
	}
	return c.rows(l)
}

func (c *editorSession) rows(l models.Listing) []api.ModelRow {
	cfg := c.wired.Settings.Config
	return modelpicker.RowsFrom(c.app.Models(cfg), []string{c.Model(), cfg.Model}, l)
}

func (c *editorSession) Tool(name string) (tool.Definition, bool) {
	return c.wired.Set.Load().Get(name)
}

func (c *editorSession) Blocks(name string, metadata json.RawMessage) []tool.Block {
	return hostio.VeiledBlocks(c.wired.Set.Load().Blocks(name, metadata))
}

// File access through an editor.

// filesOf returns a file system that uses the editor, or nil if the editor offers none.
func filesOf(e acp.Editor) workspace.FS {
	if e.Read == nil && e.Write == nil {
		return nil
	}
	f := &buffers.FS{Base: workspace.Disk{}}
	refused := func(err error) error {
		if errors.Is(err, acp.ErrNoFile) {
			return fmt.Errorf("%w: %w", buffers.ErrRefused, err)
		}
		return err
	}
	if e.Read != nil {
		f.Read = func(path string) (string, error) { text, err := e.Read(path); return text, refused(err) }
	}
	if e.Write != nil {
		f.Write = func(path, text string) error { return refused(e.Write(path, text)) }
	}
	return f
}

// Commands for an editor's user, equal to those of the interface. They take precedence over a
// project's commands.

// builtin is a command of adze.
type builtin struct {
	api.Named
	do func(c *editorSession, ctx context.Context, arg string) session.Result
}

func builtinCommands() []builtin {
	return []builtin{
		{api.Named{Name: "compact", Args: "what must not be lost", Help: "sum up the conversation to make room"}, (*editorSession).compact},
		{api.Named{Name: "context", Args: " ", Help: "the model's context and what was used"}, (*editorSession).context},
		{api.Named{Name: "undo", Args: " ", Help: "restore files as they were before the last turn that changed any"}, func(c *editorSession, ctx context.Context, _ string) session.Result {
			return c.putBack(ctx, api.Undo{})
		}},
		{api.Named{Name: "redo", Args: " ", Help: "reverse the last undo"}, func(c *editorSession, ctx context.Context, _ string) session.Result {
			return c.putBack(ctx, api.Undo{Redo: true})
		}},
	}
}

// builtins returns the names for the editor's list.
func builtins() (out []api.Named) {
	for _, b := range builtinCommands() {
		out = append(out, b.Named)
	}
	return out
}

// builtinOf returns the command that p names, or nil.
func builtinOf(p acp.Prompt) (do func(*editorSession, context.Context, string) session.Result, arg string) {
	text, is := strings.CutPrefix(strings.TrimSpace(p.Text), "/")
	if !is || len(p.Attachments) > 0 {
		return nil, ""
	}
	name, arg, _ := strings.Cut(text, " ")
	for _, b := range builtinCommands() {
		if b.Name == name {
			return b.do, strings.TrimSpace(arg)
		}
	}
	return nil, ""
}

// showText shows text as an answer. It is not logged.
func (c *editorSession) showText(text string) session.Result {
	id := fmt.Sprintf("command-%d", time.Now().UnixNano())
	c.request.Observe(session.TextDelta{Message: id, Delta: text + "\n"})
	return session.Result{Cause: session.CauseDone}
}

func (c *editorSession) compact(ctx context.Context, wish string) session.Result {
	if len(c.wired.Session.History()) == 0 {
		return c.showText("There is nothing to sum up yet.")
	}
	return c.wired.Buffered.Judge(c.wired.Session.Compact(ctx, wish))
}

func (c *editorSession) context(context.Context, string) session.Result {
	l := c.wired.Session.Ledger()
	var out strings.Builder
	fmt.Fprintf(&out, "%s: about %d tokens", l.Model, l.Estimate)
	if l.Window > 0 {
		fmt.Fprintf(&out, " of %d", l.Window)
	}
	sums := map[session.Group]int{}
	var order []session.Group
	for _, s := range l.Sources {
		if sums[s.Group] == 0 {
			order = append(order, s.Group)
		}
		sums[s.Group] += s.Tokens
	}
	for _, g := range order {
		fmt.Fprintf(&out, "\n- %s: %d", g, sums[g])
	}
	if l.Cost != nil {
		fmt.Fprintf(&out, "\n\n$%.4f so far", *l.Cost)
	}
	return c.showText(out.String())
}

// putBack restores files after the user has confirmed the list.
func (c *editorSession) putBack(ctx context.Context, u api.Undo) session.Result {
	w := c.wired
	if w.Keeper == nil {
		return c.showText("This run keeps no states of files, so nothing can be restored.")
	}
	dry := u
	dry.Dry = true
	would, err := w.Undo(ctx, dry)
	if err != nil {
		return process.Failure(err)
	}
	if len(would.Turns) == 0 || len(would.Paths) == 0 {
		return c.showText("There is nothing to restore.")
	}
	answer, err := c.request.Inquire(ctx, ask.Question{
		Text:    "Restore these files?\n\n" + listed(would.Paths) + leftAlone(would.Left),
		Choices: []string{putBack, leaveFiles}, Kinds: []ask.Kind{ask.AllowOnce, ask.Refuse},
	})
	if ctx.Err() != nil {
		return session.Sort(context.Cause(ctx))
	}
	if err != nil || answer != putBack {
		return c.showText("Nothing was changed.")
	}
	done, err := w.Undo(ctx, u)
	if err != nil {
		return process.Failure(err)
	}
	return c.showText("Restored:\n\n" + listed(done.Paths) + leftAlone(done.Left))
}

// Answers to an undo.
const (
	putBack    = "restore them"
	leaveFiles = "change nothing"
)

func listed(lines []string) string { return "- " + strings.Join(lines, "\n- ") }

func leftAlone(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "\n\nLeft alone:\n\n" + listed(lines)
}

// keepMode stores a changed permission mode with the session, for its next owner.
func (c *editorSession) keepMode(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hasEntries = c.hasEntries || c.HasMessages()
	now := c.Mode()
	if !c.hasEntries || now == c.mode {
		return
	}
	if err := c.wired.KeepMode(ctx, now); err != nil {
		c.wired.Menu.Notice(fmt.Sprintf("the permission mode holds, but it could not be kept with the session: %v", err))
		return
	}
	c.mode = now
}

// SetMode sets the mode and stores it with the session.
func (c *editorSession) SetMode(name string) error {
	if err := c.wired.SetMode(name); err != nil {
		return err
	}
	c.mu.Lock()
	begun := c.hasEntries
	c.mu.Unlock()
	if begun {
		c.keepMode(context.Background())
	}
	return nil
}

// restoreMode restores the session's stored mode, unless the client has chosen another or the
// machine's owner forbids it.
func (c *editorSession) restoreMode() {
	c.mode = c.Mode()
	if kept := c.wired.Session.Mode(); kept != "" && c.request.Mode == "" && c.wired.Gate.MayBe(policy.Mode(kept)) {
		if err := c.wired.SetMode(kept); err == nil {
			c.mode = c.Mode()
		}
	}
}
