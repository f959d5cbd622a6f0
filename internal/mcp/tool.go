package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/sandbox/child"
	"adze/internal/text/fold"
	"adze/tool"
)

// Tag marks servers' tools.
const Tag = "mcp"

// RegisterTools registers the tools of all known servers and returns the problems: a bad definition
// or a name that is taken. It starts nothing.
func (p *Pool) RegisterTools(registry *tool.Registry) (problems []string) {
	taken := map[string]bool{}
	for _, name := range p.order {
		v := p.servers[name]
		v.mu.Lock()
		c := v.listed()
		v.mu.Unlock()
		if c == nil {
			continue
		}
		names := c.toolNames(name, taken)
		if c.MissingReason != "" {
			problems = append(problems, fmt.Sprintf("MCP server %s: %s; what is beyond is left out", name, c.MissingReason))
		}
		for _, t := range c.Tools {
			err := errors.New(t.Bad)
			if t.Bad == "" {
				err = registry.Register(v.tool(t, names[t.Name]))
			}
			if err != nil {
				problems = append(problems, fmt.Sprintf("MCP server %s: the tool %s is left out: %s", name, Line(t.Name, 64), Line(err.Error(), 300)))
			}
		}
	}
	return problems
}

// meta is a call's metadata for panes.
type meta struct {
	Server    string          `json:"mcp_server"`
	Tool      string          `json:"mcp_tool"`
	Arguments json.RawMessage `json:"mcp_arguments,omitempty"`
	Hints     string          `json:"mcp_hints,omitempty"`
	Progress  string          `json:"mcp_progress,omitempty"`
	Preview   string          `json:"mcp_said,omitempty"` // start of the result
	Pictures  int             `json:"mcp_pictures,omitempty"`
}

// maxSaid limits the result text shown in panes, in bytes.
const maxSaid = 4 << 10

// tool builds a tool from a definition. Each call needs permission for "mcp:server tool", even if
// the server marks the tool as read-only: the hint is untrusted.
func (v *server) tool(t Tool, name string) tool.Tool {
	c := caller{v, t}
	return tool.Define(name, tool.Config[json.RawMessage, meta]{
		Description:  v.describe(t),
		Parameters:   t.Parameters,
		Checked:      true, // at registration
		Permissions:  tool.Requires(tool.Execute),
		Tags:         []string{Tag, tool.PlainName(v.conf.Name)},
		Safety:       tool.Safety{ThreatLevel: "medium"},
		Capabilities: tool.Capabilities{Streaming: true, Attachments: true},
		Redact:       tool.Expose("mcp_server", "mcp_tool", "mcp_pictures"),
		Needs:        c.needs,
		Preview:      func(_ context.Context, in json.RawMessage) (meta, error) { return c.meta(in), nil },
		Run:          c.run,
		View:         view,
	})
}

// describe returns a tool's description with variables escaped.
func (v *server) describe(t Tool) string {
	text := cmp.Or(t.Description, t.Title, "the tool "+Line(t.Name, 64)+" of the MCP server "+v.conf.Name)
	if i := strings.LastIndex(text, "${"); i >= 0 && !strings.Contains(text[i:], "}") {
		return strings.ReplaceAll(text, "${", "$ {")
	}
	return strings.ReplaceAll(text, "${", "$${")
}

// watch reports a call's progress.
type watch struct {
	show  func(progress string)
	waits func() (over func()) // called when the user is asked
}

type caller struct {
	*server
	known Tool
}

// needs returns the tool itself. Data for a local server stays on this machine.
func (c caller) needs(in json.RawMessage) []tool.Need {
	need := tool.Need{Permission: tool.Execute, Target: "mcp:" + c.conf.Name + " " + tool.PlainName(c.known.Name), Reach: tool.ServerTool}
	if c.conf.URL != "" {
		need.Sends = string(in)
	}
	return []tool.Need{need}
}

func (c caller) meta(in json.RawMessage) meta {
	return meta{Server: c.conf.Name, Tool: Line(c.known.Name, 64), Arguments: in, Hints: strings.Join(c.known.Hints, ", ")}
}

func view(m meta) []tool.Block {
	var out []tool.Block
	head := "MCP server " + m.Server + ", tool " + m.Tool
	if m.Hints != "" {
		head += " (it says of itself: " + m.Hints + ")"
	}
	out = append(out, tool.Text(head)...)
	if len(m.Arguments) > 0 && string(m.Arguments) != "{}" {
		var text bytes.Buffer
		_ = json.Indent(&text, m.Arguments, "", "  ") // it was parsed before
		out = append(out, tool.Code("arguments.json", text.String(), 0)...)
	}
	if m.Progress != "" {
		out = append(out, tool.Text(m.Progress)...)
	}
	if m.Preview != "" {
		out = append(out, tool.Output("", m.Preview)...)
	}
	return out
}

// saidLine is the longest line of a result that the model gets uncut, in bytes.
const saidLine = 20_000

func (c caller) run(ctx context.Context, call tool.Context[meta], in json.RawMessage) (tool.Result[meta], error) {
	m := c.meta(in)
	title := m.Tool + " of " + m.Server
	result := tool.Result[meta]{Title: title, Metadata: m}
	if state := c.show().State; state != Ready {
		m.Progress = "the server starts"
		call.Metadata(title, m)
		m.Progress = ""
	}
	got, err := c.callReady(ctx, in, watch{waits: call.Waits, show: func(progress string) {
		live := m
		live.Progress = progress
		call.Metadata(title, live)
	}})
	if err != nil {
		return result, err
	}
	said, pictures := Content(got.Content)
	if structured, ok := got.StructuredContent.(string); ok && said == "" { // package wire put it there
		said = Clean(structured, maxAnswer)
	}
	if got.IsError {
		return result, tool.Fail(tool.CodeFailed, "the tool says: %s", cmp.Or(said, "it failed, and gives no reason"))
	}
	m.Preview, m.Pictures = Clean(said, maxSaid), len(pictures)
	result.Metadata, result.Attachments = m, pictures
	introduction := c.introduction()
	result.Output = cmp.Or(said, "(it answered nothing)") + introduction
	if text, shorter := fold.Text(said, saidLine); shorter {
		result.Output, result.FullOutput, result.Truncated = text+introduction, result.Output, true
	}
	return result, nil
}

// errForgot means that a server no longer knows the session, after a restart or a cleanup. It
// refused the call, so nothing was executed.
var errForgot = errors.New("the server does not know the session any more")

// callReady calls a ready server, and once more in a new session if the server forgot the first.
func (c caller) callReady(ctx context.Context, in json.RawMessage, w watch) (*sdk.CallToolResult, error) {
	got, session, err := c.callOnce(ctx, in, w)
	if errors.Is(err, errForgot) {
		c.mu.Lock()
		if c.session == session { // else there is a newer connection
			c.stopLocked()
		}
		c.mu.Unlock()
		got, _, err = c.callOnce(ctx, in, w)
	}
	return got, err
}

func (c caller) callOnce(ctx context.Context, in json.RawMessage, w watch) (*sdk.CallToolResult, *sdk.ClientSession, error) {
	session, release, err := c.pool.Session(ctx, c.conf.Name)
	if err != nil {
		return nil, nil, c.unavailable(ctx, err)
	}
	defer release()
	if err := c.checkApproved(ctx, c.known); err != nil {
		return nil, session, err
	}
	got, err := c.call(ctx, session, in, w)
	return got, session, err
}

// introduction returns a server's instructions, once in a run with its first result. In the system
// prompt they would change the prompt with each server.
func (c caller) introduction() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := ""
	if !c.introduced && c.approved != nil && c.approved.Instructions != "" {
		text = fmt.Sprintf("\n\n(The MCP server %s says about its tools: %s)", c.conf.Name, c.approved.Instructions)
	}
	c.introduced = true
	return text
}

// unavailable explains why a server cannot be called and the next step.
func (c caller) unavailable(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, ErrNotReady):
		return tool.Fail(tool.CodeTimeout, "the MCP server %s is still starting; go on with something else and call it again in a while", c.conf.Name)
	case c.show().State == Held:
		return fmt.Errorf("%w: the MCP server %s may not start: %w", tool.ErrDenied, c.conf.Name, err)
	}
	return tool.Fail(tool.CodeIO, "the MCP server %s does not work: %s; go on without it, or tell the person (adze mcp test %s)", c.conf.Name, c.pool.masked(err.Error()), c.conf.Name)
}

// call makes one call. It ends with ctx, or when the server has sent no progress for too long; the
// server gets a cancellation.
func (c caller) call(ctx context.Context, s *sdk.ClientSession, in json.RawMessage, w watch) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := cmp.Or(c.conf.Call, DefaultCall)
	token, end := c.calls.begin(&runningCall{watch: w, limit: limit, end: cancel})
	defer end()
	params := &sdk.CallToolParams{Name: c.known.Name, Arguments: in}
	params.SetProgressToken(token)
	got, err := WaitFor(ctx, func() (*sdk.CallToolResult, error) { return s.CallTool(ctx, params) })
	var asks errAsks
	switch {
	case errors.As(context.Cause(ctx), &asks):
		return nil, tool.Fail(tool.CodeFailed, "the MCP server %s was not answered any more, and the call was ended: %w in one call", c.conf.Name, asks.why)
	case err == nil:
		return got, nil
	case errors.Is(context.Cause(ctx), errNoSign):
		return nil, tool.Fail(tool.CodeTimeout, "the MCP server %s gave no sign for %s; the call was cancelled", c.conf.Name, limit)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, sdk.ErrSessionMissing):
		return nil, tool.Fail(tool.CodeIO, "the MCP server %s was called twice, and each time: %w; tell the person (adze mcp test %s)", c.conf.Name, errForgot, c.conf.Name)
	}
	return nil, tool.Fail(tool.CodeIO, "the MCP server %s answered with an error: %s", c.conf.Name, c.pool.masked(c.failure(err)))
}

// failure describes a failed call. If the connection broke, it waits briefly for the reason of its
// end.
func (v *server) failure(err error) string {
	if !ended(err) {
		return plainly(sentence(err).Error())
	}
	v.mu.Lock()
	changed, state := v.state.Changed(), v.state.State
	v.mu.Unlock()
	if state == Ready {
		select {
		case <-changed:
		case <-time.After(child.LastTime):
		}
	}
	if s := v.show(); s.Reason != "" {
		return "it ended: " + s.Reason
	}
	return "it ended"
}

// plainly removes the library's prefix from an error.
func plainly(text string) string { return libraryWords().ReplaceAllString(text, "") }

var libraryWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`((calling|sending) "[^"]*": |rejected by transport: )+`)
})

// Failure describes a connection error for the model. If the connection broke, it gives the reason
// of its end.
func (p *Pool) Failure(name string, err error) string {
	text := err.Error()
	if v := p.servers[name]; v != nil {
		text = v.failure(err)
	}
	return p.masked(text)
}

// errAsks means that a server sent too many requests in a call.
type errAsks struct{ why error }

func (e errAsks) Error() string { return e.why.Error() }

var errNoSign = errors.New("no sign of the server")

func progress(p *sdk.ProgressNotificationParams) string {
	out := fmt.Sprintf("%g", p.Progress)
	if p.Total > 0 {
		out += fmt.Sprintf(" of %g", p.Total)
	}
	if text := Line(p.Message, 200); text != "" {
		out += ": " + text
	}
	return out
}
