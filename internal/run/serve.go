package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"adze/internal/cmd"
	"adze/internal/cmd/sessions"
	"adze/internal/cmd/signals"
	"adze/internal/config/paths"
	"adze/internal/editors/serve"
	"adze/internal/files/git"
	"adze/internal/live"
	"adze/internal/policy"
	"adze/internal/project/worktree"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/hostio"
	"adze/internal/run/process"
	"adze/internal/run/settings"
	"adze/internal/sessiondb"
	"adze/internal/sessiondb/export"
	"adze/internal/sessiondb/fulltext"
	"adze/internal/sessiondb/lookup"
	"adze/internal/stream"
	"adze/internal/stream/lineprotocol"
	"adze/internal/text/usage"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// serveCommand returns adze serve.
func serveCommand(a *app) *cobra.Command {
	w, port := serveWish{}, 0
	c := &cobra.Command{Use: "serve [DIR ...]", Annotations: cmd.CallableByTools(), Short: "Serve adze to a browser or another interface on this machine", Args: cmd.RangeArgs(0, -1),
		Long: `Serve the sessions of these folders to a browser, and to interfaces that read the AI SDK's stream, until Ctrl-C; without DIR,
those of this folder. Sessions in work trees of the same repositories are with them. The server works in the first folder; in the
others sessions begin and go on in the background. It listens on 127.0.0.1 alone. The address that it prints holds a token, which
is new each time; whoever has it can do what you can do here. The address stands in a file that only you can read, too, as long
as the server runs. Another device comes by a tunnel that you trust, such as ssh -L or tailscale serve: adze help remote.`,
		Example: "  adze serve\n  adze serve --port 4096 --permission-mode auto\n  adze serve . ~/src/site        # two folders\n  adze serve --port 4096 --name box.example.ts.net        # behind tailscale serve 4096"}
	f := c.Flags()
	f.IntVar(&port, "port", 0, "listen on this `PORT`; 0: any that is free")
	f.BoolVar(&w.all, "all", false, "show the sessions of all folders")
	f.StringSliceVar(&w.names, "name", nil, "also answer by this `NAME`, which a tunnel that ends TLS has for this machine; repeatable")
	withoutListening(f)
	own := map[string]bool{}
	f.VisitAll(func(f *pflag.Flag) { own[f.Name] = true })
	w.AddServed(c)
	f.BoolVar(&w.Bare, "bare", false, "read no instruction files")
	c.RunE = func(_ *cobra.Command, dirs []string) error {
		w.dirs, w.given = dirs, givenWords(f, own)
		return serveBrowsers(a, w, port)
	}
	return c
}

// serveWish holds the command line's options for served sessions.
type serveWish struct {
	flags.Run
	dirs  []string // the server works in the first; default: this folder
	all   bool     // show the sessions of all folders
	names []string // of tunnels to this server
	given []string // Run's flags as written, for started processes
}

// givenWords returns the given flags, without the command's own.
func givenWords(all *pflag.FlagSet, own map[string]bool) (words []string) {
	all.Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if many, is := f.Value.(pflag.SliceValue); is {
			values = many.GetSlice()
		}
		for _, v := range values {
			if !own[f.Name] {
				words = append(words, "--"+f.Name+"="+v)
			}
		}
	})
	return words
}

// serveBrowsers serves until a signal; then it aborts all turns.
func serveBrowsers(a *app, w serveWish, port int) error {
	names, err := hostNames(w.names)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := signals.Watch(cancel, func(c session.Cause) { os.Exit(stream.ExitCode(c)) }, nil)
	defer stop()
	h, err := newServeBackend(ctx, a, w)
	if err != nil {
		return err
	}
	defer h.Close()
	if port < 0 || port > 65535 {
		return usage.Mistake("0 takes any that is free", "there is no port %d", port)
	}
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return usage.Mistake("take another --port, or 0 for any that is free", "%v", err)
	}
	defer l.Close()
	s := &serve.Server{Backend: h, Names: names, Mask: a.Ring.Mask, Sockets: live.Folder(a.Getenv, h.at.State), Token: rand.Text(), Host: l.Addr().String()}
	address := "http://" + s.Host + "/#" + s.Token
	file, err := keepAddress(h.at.State, l.Addr().(*net.TCPAddr).Port, address)
	if err != nil {
		return fmt.Errorf("keep the address of the server: %w", err)
	}
	defer os.Remove(file)
	s.Start(ctx)
	fmt.Fprintf(a.Out, "%s\n", address)
	fmt.Fprintf(a.Err, "serving the sessions of %s; open that address in a browser, Ctrl-C ends it\n", stream.Line(strings.Join(h.dirs, ", ")))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		fmt.Fprintf(a.Err, "by the tunnel: https://%s/#%s\n", name, s.Token)
	}
	return listen(ctx, a.Process, s, l)
}

// hostNames returns the hosts in requests through tunnels, as browsers write them.
func hostNames(given []string) (map[string]bool, error) {
	names := map[string]bool{}
	for _, n := range given {
		if n == "" || strings.ContainsAny(n, "/@ ") {
			return nil, usage.Mistake("give a name alone, such as box.example.ts.net", "--name %s: this is no host name", n)
		}
		names[strings.TrimSuffix(strings.ToLower(n), ":443")] = true
	}
	return names, nil
}

// sweepEvery is the interval of checks for unused sessions.
const sweepEvery = time.Minute

// listen serves requests until ctx ends, and returns when nothing runs any more.
func listen(ctx context.Context, a *process.Process, s *serve.Server, l net.Listener) error {
	listening := s.HTTP()
	failed := make(chan error, 1)
	go func() { failed <- listening.Serve(l) }()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		select {
		case <-sweep.C:
			s.Sweep()
			continue
		case err := <-failed:
			s.Close()
			return fmt.Errorf("the server ended: %w", err)
		case <-ctx.Done():
		}
		break
	}
	s.Close() // ends the turns and so the streams
	ending, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	if listening.Shutdown(ending) != nil {
		listening.Close()
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	a.Exit = stream.ExitCode(session.Sort(context.Cause(ctx)).Cause)
	return nil
}

// keepAddress writes the address to a file for the user's other programs alone.
func keepAddress(state string, port int, address string) (string, error) {
	dir := filepath.Join(state, paths.Served)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(dir, strconv.Itoa(port))
	_ = os.Remove(path) // a killed server's file may have any content
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(address + "\n")
	return path, errors.Join(err, f.Close())
}

// serveBackend implements serve.Backend for some folders, or all.
type serveBackend struct {
	app    *process.Process
	params serveWish
	detach func(ctx context.Context, o *flags.Request, args []string, prompt string) (backgroundSession, error)
	at     paths.Places
	dirs   []string // absolute, without links; the server works in the first
	stored *sessiondb.Store
	status serve.Status // of a new session
	words  *fulltext.Later
	// shown returns the tools that display calls of sessions not open here. It is created on first
	// use.
	shown func() *tool.Set
}

func newServeBackend(ctx context.Context, a *app, w serveWish) (*serveBackend, error) {
	h := &serveBackend{app: a.Process, params: w, detach: a.detachSilently, at: paths.FromEnv(a.Getenv)}
	o := &h.params.Run
	if err := o.Check(); err != nil {
		return nil, err
	}
	named := w.dirs
	if len(named) == 0 {
		named = []string{o.Cwd}
	}
	for _, dir := range named {
		at := o.Clone()
		at.Cwd = dir
		real, err := settings.RealFolderOf(a.Process, &at)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(h.dirs, real) {
			h.dirs = append(h.dirs, real)
		}
	}
	o.Cwd = h.dirs[0]
	s, err := settings.Read(a.Process, flags.Request{Run: *o})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	h.dirs[0] = s.Root.Dir()
	cfg := s.Config
	m, err := a.Models(cfg).Choose(ctx)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	h.status = serve.Status{Folder: h.dirs[0], Mode: cmp.Or(s.Request.Mode, cfg.PermissionMode, string(policy.AskFirst))}
	if err == nil {
		h.status.Model = m.Full()
	}
	if h.stored, err = a.OpenDisk(ctx); err != nil {
		return nil, err
	}
	h.words = fulltext.NewLater(h.stored.Path())
	h.shown = sync.OnceValue(func() (set *tool.Set) {
		s, err := settings.Read(a.Process, flags.Request{Run: o.Clone()})
		if err != nil {
			return nil // calls are shown by their headings
		}
		defer s.Close()
		_ = conversation.Catalogue(ctx, s, func(error) {}, func(made *tool.Set) error { set = made; return nil }) // as above
		return set
	})
	return h, nil
}

// Close closes the store.
func (h *serveBackend) Close() {
	h.words.Close()
	h.stored.Close()
}

// Status returns a session's settings if it were opened now.
func (h *serveBackend) Status(head session.Head) serve.Status {
	s := h.status
	if info := head.Info(); info.Cwd != "" {
		s.Model, s.Folder = cmp.Or(info.Model, s.Model), info.Cwd
	}
	s.Branch = git.Head(s.Folder)
	return s
}

// Blocks returns the blocks of a call of a session not open here.
func (h *serveBackend) Blocks(name string, metadata json.RawMessage) []tool.Block {
	set := h.shown()
	if set == nil {
		return nil
	}
	return hostio.VeiledBlocks(set.Blocks(name, metadata))
}

// Rename sets a session's title.
func (h *serveBackend) Rename(ctx context.Context, id session.ID, name string) error {
	title := h.app.Ring.Mask().Text(strings.Join(strings.Fields(name), " "))
	return h.stored.Owner().Label(ctx, id, sessiondb.Label{Kind: sessiondb.TitleLabel, Author: sessiondb.ByPerson, Value: title})
}

// Fork copies a session.
func (h *serveBackend) Fork(ctx context.Context, id session.ID) (session.ID, error) {
	return lookup.Fork(ctx, h.stored, id, 0)
}

// Export returns a session as a file.
func (h *serveBackend) Export(ctx context.Context, id session.ID, form string) ([]byte, error) {
	head, err := h.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	log, err := h.stored.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	o := export.Options{Home: h.app.Getenv("HOME"), Session: id, Title: head.Title(), Mask: h.app.Ring.Mask()}
	if set := h.shown(); set != nil {
		o.Tools = set
	}
	d := export.FromLog(log, o)
	switch form {
	case "json":
		return d.JSON()
	case "html":
		return d.HTML(), nil
	}
	return d.Markdown(), nil
}

func (h *serveBackend) Search(ctx context.Context, text string) ([]api.SearchResult, string, error) {
	return hostio.Search(ctx, h.words, text)
}

// Output returns a call's full output, if stored.
func (h *serveBackend) Output(o tool.Outcome) (text string, whole bool) {
	if !strings.HasPrefix(filepath.Clean(o.OutputFile), h.at.Spill+string(filepath.Separator)) {
		return o.Output, !o.Truncated
	}
	raw, err := os.ReadFile(o.OutputFile)
	if err != nil {
		return o.Output, false
	}
	return string(raw), true
}

func (h *serveBackend) Log(ctx context.Context, id session.ID, after int64, each func(int64, session.Entry) error) error {
	return h.stored.ScanEach(ctx, sessiondb.Scan{Session: id, After: after}, func(f sessiondb.ScanResult) error { return each(f.Seq, f.Entry) })
}

func (h *serveBackend) Holder(id session.ID) string { return h.stored.Holder(id) }

// Locks returns the folder of the sessions' locks, creating it so that it can be watched.
func (h *serveBackend) Locks() string {
	_ = os.MkdirAll(h.stored.Locks(), 0o700) // without it, no session is open
	return h.stored.Locks()
}

// Open creates a conversation like a run's.
func (h *serveBackend) Open(ctx context.Context, id session.ID, model string, who serve.User) (serve.Conversation, error) {
	o := flags.Request{Run: h.params.Clone()}
	o.Cwd, o.Resume = h.dirs[0], string(id)
	if id != "" {
		o.Agent = "" // the session has its own
	}
	if model != "" {
		o.Model = model
	}
	c := &servedSession{who: who}
	observe := func(e session.Event) { who.Observe(hostio.VeiledEvent(e)) }
	wanted, let := context.WithCancel(ctx)
	w, err := conversation.Open(ctx, h.app, o, observe, conversation.UserCallbacks{Ask: who.Ask, SetMode: c.setMode, AskQuestion: who.Inquire, Named: func(string) { who.Changed() }, Unseen: true,
		Clients: conversation.Clients{Prompt: prompted(who), Abort: who.Stop, InMode: func(string) { who.Changed() }, Waits: who.Waits, Release: func(string) { let() }}})
	if err != nil {
		let()
		r := process.Failure(err)
		if errors.Is(err, session.ErrLocked) || r.Hint == "" {
			return nil, err
		}
		return nil, fmt.Errorf("%w; hint: %s", err, r.Hint)
	}
	c.w, c.ports = w, w.Ports()
	c.begun.Store(id != "")
	c.ports.SetMode = c.setMode
	c.ports.Modes = slices.DeleteFunc(c.ports.Modes, func(m api.Mode) bool { return !w.Gate.MayBe(policy.Mode(m.Name)) })
	if kept := w.Session.Mode(); kept != "" && h.params.Mode == "" && w.Gate.MayBe(policy.Mode(kept)) {
		_ = w.SetMode(kept) // allowed above
	}
	w.Offer(who.Host)
	w.Buffered.Watch(observe)
	observe(session.Counted{Ledger: w.Session.Ledger()})
	c.wanted, c.stop = wanted, let
	return c, nil
}

// prompted queues prompts from other processes for a session of the server.
func prompted(who serve.User) func(lineprotocol.Prompt) error {
	return func(p lineprotocol.Prompt) error {
		if len(p.Attach) > 0 {
			return usage.Mistake("name its path in the prompt", "a session of adze serve takes no files by their names")
		}
		return who.Begin(serve.Prompt{Text: p.Text, Texts: p.Texts, Attachments: p.Files})
	}
}

// servedSession is a conversation of the server.
type servedSession struct {
	w      *conversation.Conversation
	who    serve.User
	wanted context.Context
	stop   func()
	greet  sync.Once
	ports  api.Ports
	begun  atomic.Bool // an entry is stored
}

func (c *servedSession) Ports() *api.Ports     { return &c.ports }
func (c *servedSession) Commands() []api.Named { return c.w.Named() }

// Status returns the session's settings.
func (c *servedSession) Status() serve.Status {
	return serve.Status{Model: c.w.Head.Provider + "/" + c.w.Head.Model, Folder: c.w.Head.Cwd, Branch: c.ports.Branch(), Mode: string(c.w.Gate.Mode()), Effort: c.w.Effort(), Sandbox: c.ports.Sandbox()}
}

// setMode sets the mode and stores it with the session.
func (c *servedSession) setMode(name string) error {
	err := c.w.SetMode(name)
	if err == nil && c.begun.Load() {
		err = c.w.KeepMode(context.Background(), string(c.w.Gate.Mode()))
	}
	return err
}

func (c *servedSession) Refresh() { c.w.Refresh() }
func (c *servedSession) Rewound() { c.w.ResetClients() }

func (c *servedSession) ID() session.ID          { return c.w.Session.ID() }
func (c *servedSession) Steer(text string) bool  { return c.w.Session.Steer(text) }
func (c *servedSession) Wanted() <-chan struct{} { return c.wanted.Done() }

// Close stops the conversation's background processes.
func (c *servedSession) Close() {
	c.stop()
	c.w.Close()
}

// Prompt runs one turn.
func (c *servedSession) Prompt(ctx context.Context, p serve.Prompt) session.Result {
	c.greet.Do(func() {
		for _, notice := range c.w.Notices {
			c.who.Observe(session.Notice{Text: notice})
		}
	})
	in, err := c.w.Compose(api.Prompt{Text: p.Text, Texts: p.Texts, Attachments: p.Attachments})
	if err == nil && c.ports.Remember != nil && p.Text != "" {
		c.ports.Remember(p.Text)
	}
	c.begun.Store(true)
	if err == nil && p.Replace {
		_, err = c.w.Session.Rewind(ctx)
	}
	if err != nil {
		return process.Failure(err)
	}
	return c.w.Buffered.Judge(c.w.Answer(ctx, in))
}

func (c *servedSession) Blocks(name string, metadata json.RawMessage) []tool.Block {
	return hostio.VeiledBlocks(c.w.Set.Load().Blocks(name, metadata))
}

// Folders returns the folders named by the user.
func (h *serveBackend) Folders() []string { return h.dirs }

// trees returns the top folders of all worktrees of the named folders' repositories.
func (h *serveBackend) trees() (tops []string) {
	for _, dir := range h.dirs {
		tops = append(tops, worktree.Linked(dir)...)
	}
	return tops
}

// Served returns a function that reports whether a folder's sessions are shown.
func (h *serveBackend) Served() func(folder string) bool {
	if h.params.all {
		return func(string) bool { return true }
	}
	trees := h.trees()
	return func(folder string) bool {
		return slices.Contains(h.dirs, folder) || slices.ContainsFunc(trees, func(top string) bool {
			return folder == top || strings.HasPrefix(folder, top+string(filepath.Separator))
		})
	}
}

// filter selects the shown sessions.
func (h *serveBackend) filter() sessiondb.Filter {
	if h.params.all {
		return sessiondb.Filter{}
	}
	return sessiondb.Filter{Folders: h.dirs, FoldersBelow: h.trees()}
}

func (h *serveBackend) Sessions(ctx context.Context, most int) ([]session.Head, error) {
	f := h.filter()
	f.Limit = most
	heads, _, err := h.stored.Page(ctx, f)
	return heads, err
}

func (h *serveBackend) Session(ctx context.Context, id session.ID) (session.Head, error) {
	f := h.filter()
	f.Prefix = string(id)
	heads, _, err := h.stored.Page(ctx, f)
	if err != nil {
		return session.Head{}, err
	}
	for _, head := range heads {
		if head.ID == id && id != "" {
			return head, nil
		}
	}
	return session.Head{}, session.ErrNotFound
}

// Background starts a process for a new session in a folder or an existing one, with the server's
// command line flags.
func (h *serveBackend) Background(ctx context.Context, folder string, id session.ID, prompt string) (session.ID, error) {
	if err := h.app.ByUser("a session in the background"); err != nil {
		return "", err
	}
	o := &flags.Request{Run: flags.New()}
	o.Cwd, o.Resume = folder, string(id)
	drop := []string{"--cwd="}
	if id != "" {
		drop = append(drop, "--agent=") // the session has its own
	}
	args := slices.DeleteFunc(slices.Clone(h.params.given), func(w string) bool {
		return slices.ContainsFunc(drop, func(flag string) bool { return strings.HasPrefix(w, flag) })
	})
	args = append(args, "--cwd="+folder)
	if id != "" {
		args = append(args, "--resume="+string(id))
	}
	l, err := h.detach(ctx, o, args, prompt)
	return l.id, err
}

// Peek returns a short preview of a session.
func (h *serveBackend) Peek(ctx context.Context, id session.ID) (api.SessionPeek, error) {
	return hostio.Peek(ctx, h.stored, string(id))
}

// Tag adds a user's tag to a session, or removes it.
func (h *serveBackend) Tag(ctx context.Context, id session.ID, word string) error {
	l, err := sessions.TagOf(strings.TrimSpace(word))
	if err != nil {
		return usage.Mistake("", "write one word, such as keep, or -keep to take it away")
	}
	l.Author, l.Value = sessiondb.ByPerson, h.app.Ring.Mask().Text(l.Value)
	return h.stored.Owner().Label(ctx, id, l)
}

// tunnel names the replacement for paired devices.
const tunnel = "a tunnel that you trust, such as ssh -L or tailscale serve, brings another device here: adze help remote"

// formerDevices returns the removed commands for paired devices, which explain the replacement for
// one release.
func formerDevices() (out []*cobra.Command) {
	for _, name := range []string{"pair", "devices"} {
		c := &cobra.Command{Use: name, Annotations: cmd.CallableByTools(), Short: "Gone", Args: cobra.ArbitraryArgs, FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
			RunE: func(*cobra.Command, []string) error {
				return usage.Mistake(tunnel, "adze serve %s is gone", name)
			}}
		out = append(out, c)
	}
	return cmd.HideOldNames(out...)
}

// withoutListening adds the removed flags that admitted devices over TLS.
func withoutListening(f *pflag.FlagSet) {
	for _, name := range []string{"listen", "cert", "key"} {
		f.Func(name, "", func(string) error { return errors.New("it is gone: " + tunnel) })
		_ = f.MarkHidden(name) // the flag exists
	}
}
