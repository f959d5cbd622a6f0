package run

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"adze/internal/cmd/mcp"
	"adze/internal/cmd/signals"
	"adze/internal/mcp/serve"
	"adze/internal/policy"
	"adze/internal/run/conversation"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/stream"
	"adze/internal/text/redact"
	"adze/internal/text/safeterm"
	"adze/session"
	"adze/tool"
)

// The implementation of adze mcp serve: each client gets a run without a model, and makes its
// calls.

// serveTools serves this folder's tools to one program, or over HTTP to all with the token.
func serveTools(a *process.Process, wish mcp.Serve) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	stop := signals.Watch(cancel, func(c session.Cause) { os.Exit(stream.ExitCode(c)) }, nil)
	defer stop()
	h := &toolServer{app: a, options: flags.Request{Run: flags.New(), Serves: true}}
	o := &h.options
	o.Print, o.Flags, o.Tools, o.NoTools, o.Model, o.NoSession = true, wish.Flags, wish.Tools, wish.NoTools, wish.Model, wish.NoSession
	first, err := h.newRun(ctx) // reports errors before the first client
	if err != nil {
		return err
	}
	h.ready = first
	defer h.close()
	h.server = serve.New(serve.Options{
		Version: Version, Tools: h.offered(first.w.Set.Load()), Open: h.open, Mask: h.mask, Report: h.tell,
		Instructions: "The tools of adze, in " + first.w.Settings.Root.Dir() + ". Paths are relative to it. A denied call says what would allow it.",
	})
	for _, notice := range first.w.Notices {
		h.tell(notice)
	}
	if wish.HTTP != "" {
		err = h.listen(ctx, wish)
	} else {
		err = h.server.Pipe(ctx, a.In, a.Out)
	}
	if c := session.Sort(err); ctx.Err() != nil {
		a.Conclude(c.Cause, "", "")
		return nil
	}
	return err
}

// toolServer accepts clients.
type toolServer struct {
	app     *process.Process
	options flags.Request
	server  *serve.Server

	mu    sync.Mutex // serializes newRun
	ready *clientRun // run for the first client; nil once taken
}

// listen serves over HTTP.
func (h *toolServer) listen(ctx context.Context, wish mcp.Serve) (err error) {
	token := serve.Token()
	if wish.TokenFile != "" {
		if token, err = serve.TokenFile(wish.TokenFile); err != nil {
			return err
		}
	}
	h.app.Hide(token)
	l, err := serve.Listen(wish.HTTP)
	if err != nil {
		return err
	}
	defer l.Close()
	fmt.Fprintf(h.app.Err, "adze listens on http://%s%s\n", l.Addr(), serve.Path)
	if wish.TokenFile == "" {
		fmt.Fprintf(h.app.Err, "token: %s\n", token)
	}
	return h.server.HTTP(ctx, l, token)
}

// open returns a client's run.
func (h *toolServer) open(ctx context.Context) (serve.Runner, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g := h.ready; g != nil {
		h.ready = nil
		return g, nil
	}
	return h.newRun(context.WithoutCancel(ctx))
}

// newRun creates a run with its own session, shell and grants.
func (h *toolServer) newRun(ctx context.Context) (*clientRun, error) {
	g := &clientRun{told: map[tool.CallID]func(string){}, tell: h.tell}
	w, err := conversation.Open(ctx, h.app, h.options, g.observe, conversation.UserCallbacks{Asker: func(ctx context.Context, q tool.Question, p policy.Prompt) (policy.Answer, error) {
		return h.server.Ask(ctx, q, p)
	}})
	if err != nil {
		return nil, err
	}
	g.w = w
	return g, nil
}

func (h *toolServer) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ready != nil {
		h.ready.Close()
	}
}

// offered returns the tools useful to other programs.
func (h *toolServer) offered(set *tool.Set) []tool.Definition {
	return slices.DeleteFunc(set.Definitions(), func(d tool.Definition) bool {
		return !h.options.NamesTools() && slices.Contains([]string{"ask", "plan", "task_complete", "todoread", "todowrite", "tool_search"}, d.Name)
	})
}

func (h *toolServer) mask(text string) string { return h.app.Ring.Mask().Text(redact.Passwords(text)) }

func (h *toolServer) tell(text string) { fmt.Fprintf(h.app.Err, "! %s\n", safeterm.Name(h.mask(text))) }

// clientRun makes a client's calls; it implements serve.Runner.
type clientRun struct {
	w    *conversation.Conversation
	tell func(string) // shows a message to the user who started the server

	mu   sync.Mutex
	told map[tool.CallID]func(string) // progress callbacks by call
}

// Session returns the id of the session that records the calls.
func (g *clientRun) Session() string { return string(g.w.Session.ID()) }

// Close ends the run.
func (g *clientRun) Close() { g.w.Close() }

// Call makes a client's call.
func (g *clientRun) Call(ctx context.Context, client string, call tool.RawCall, tell func(string)) tool.Outcome {
	g.mu.Lock()
	g.told[call.ID] = tell
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.told, call.ID)
	}()
	o, err := g.w.Session.Call(ctx, session.Caller{Provider: conversation.MCPProvider, Name: client}, call)
	if err != nil {
		g.tell(err.Error())
	}
	return o
}

// observe reports the progress of calls and of their subagents to clients.
func (g *clientRun) observe(e session.Event) {
	switch e := e.(type) {
	case session.Notice:
		g.tell(e.Text)
	case session.ToolUpdate:
		g.say(e.Call, e.Title, inLine(g.w.Set.Load().Blocks(e.Tool, e.Redacted)))
	case session.ToolStart:
		if e.Parent != "" {
			g.say(e.Call, e.Tool, string(e.Args))
		}
	}
}

// say reports progress for a call, or for the call of its subagent.
func (g *clientRun) say(call tool.CallID, words ...string) {
	root, _, _ := strings.Cut(string(call), "/")
	g.mu.Lock()
	tell := g.told[tool.CallID(root)]
	g.mu.Unlock()
	if tell != nil {
		tell(toldLine(words))
	}
}

// toldWidth limits a progress line, in characters.
const toldWidth = 200

func toldLine(words []string) string {
	words = slices.DeleteFunc(words, func(w string) bool { return w == "" || w == "{}" })
	line := []rune(safeterm.Name(strings.Join(words, " · ")).String())
	if len(line) > toldWidth {
		line = append(line[:toldWidth], '…')
	}
	return string(line)
}

// inLine returns the last line of the blocks.
func inLine(blocks []tool.Block) string {
	last := ""
	for _, b := range blocks {
		for _, i := range b.Items {
			last = i.Text
		}
		if text := strings.TrimSpace(b.Text); text != "" {
			last = text[strings.LastIndexByte(text, '\n')+1:]
		}
	}
	return last
}
