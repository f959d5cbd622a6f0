package serve

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/tool"
)

// Reasons for ending calls that nobody waits for.
var (
	errLeft      = errors.New("the client has gone")
	errCancelled = errors.New("the client took the call back")
)

// call is a running call. If the client is asked by an incomplete result, it outlives its request.
type call struct {
	server         *Server
	client         *client
	name           string
	args           string
	takesQuestions bool // the client supports questions
	modern         bool // and answers them with the repeated call
	session        *mcp.ServerSession
	cancel         context.CancelCauseFunc
	asked          chan *question
	done           chan *mcp.CallToolResult
	open           *question // unanswered question that blocks the call

	mu     sync.Mutex
	report *reporter // for the waiting request
	rules  []string  // would have allowed it where nobody could be asked
}

type callKey struct{}

// modernProtocol is the first version in which a server asks by an incomplete result.
const modernProtocol = "2026-07-28"

func (s *Server) handle(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, over := withRequest(ctx, r)
	defer over()
	if r.Params.RequestState != "" {
		return s.resume(ctx, r)
	}
	client, done, err := s.enter(r)
	if err != nil {
		return failed(err), nil
	}
	c := &call{server: s, client: client, name: r.Params.Name, args: string(r.Params.Arguments), session: r.Session,
		asked: make(chan *question), done: make(chan *mcp.CallToolResult, 1)}
	if p := r.Session.InitializeParams(); p != nil {
		c.modern = p.ProtocolVersion >= modernProtocol
		c.takesQuestions = p.Capabilities != nil && p.Capabilities.Elicitation != nil && (p.Capabilities.Elicitation.Form != nil || p.Capabilities.Elicitation.URL == nil)
	}
	if c.args == "" {
		c.args = "{}"
	}
	var work context.Context
	work, c.cancel = context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), callKey{}, c))
	stop := context.AfterFunc(client.life, func() { c.cancel(errLeft) })
	report := c.listen(ctx, r) // before it sends progress
	go func() {
		defer done()
		defer c.cancel(nil)
		defer stop()
		c.done <- c.run(work)
	}()
	return c.wait(ctx, report), nil
}

// run makes the call with its client's runner, which the first call creates.
func (c *call) run(ctx context.Context) *mcp.CallToolResult {
	k, s := c.client, c.server
	k.once.Do(func() { k.runner, k.err = s.o.Open(k.life) })
	if k.err != nil {
		return failed(k.err)
	}
	id := tool.CallID("mcp-" + rand.Text())
	o := k.runner.Call(ctx, k.name, tool.RawCall{ID: id, Name: c.name, Arguments: c.args}, c.tell)
	return result(o, k.runner.Session(), c.hint(o))
}

// listen sends the call's progress to this request.
func (c *call) listen(ctx context.Context, r *mcp.CallToolRequest) *reporter {
	report := newReporter(ctx, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = report
	return report
}

// wait serves one request until there is a response: the result or a question.
func (c *call) wait(ctx context.Context, report *reporter) *mcp.CallToolResult {
	defer func() {
		c.mu.Lock()
		c.report = nil
		c.mu.Unlock()
		report.close() // no progress after the response
	}()
	select {
	case result := <-c.done:
		return result
	case q := <-c.asked:
		return c.server.askInResult(c, q)
	case <-ctx.Done():
		c.cancel(errCancelled)
		return <-c.done
	}
}

// askInResult returns a question, after whose answer the client repeats the call.
func (s *Server) askInResult(c *call, q *question) *mcp.CallToolResult {
	state := rand.Text()
	c.open = q
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[state] = c
	time.AfterFunc(s.patience, func() {
		if s.takeWaiting(state) != nil {
			c.cancel(errors.New("nobody answered the question"))
		}
	})
	return &mcp.CallToolResult{RequestState: state, InputRequests: mcp.InputRequestMap{permissionKey: q.params}}
}

// permissionKey is the question's key in an incomplete result.
const permissionKey = "permission"

// takeWaiting returns the call that waits under a state, once.
func (s *Server) takeWaiting(state string) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.waiting[state]
	delete(s.waiting, state)
	return c
}

// resume handles a call's repeated request, which has the answer.
func (s *Server) resume(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	c := s.takeWaiting(r.Params.RequestState)
	if c == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no call waits for this answer: it was given before, or came too late"}
	}
	args := string(r.Params.Arguments)
	if args == "" {
		args = "{}"
	}
	if c.name != r.Params.Name || c.args != args {
		c.cancel(errors.New("the answer came with another call"))
		<-c.done
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the answer belongs to another call; that one has ended"}
	}
	answer, _ := r.Params.InputResponses[permissionKey].(*mcp.ElicitResult)
	report := c.listen(ctx, r)
	c.open.answer <- answer // nil for none
	return c.wait(ctx, report), nil
}

func (c *call) tell(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.report != nil {
		c.report.say(c.server.o.Mask(text))
	}
}

// failed returns the result for a call that could not be made.
func failed(err error) *mcp.CallToolResult {
	return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf("the call was not made: %v", err)}}}
}
