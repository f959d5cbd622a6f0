// Package sampling lets MCP servers ask the model of the run, where the user wants that.
//
// The one rule: a server gets an answer of the model only while a call of it runs that the model
// made, and after the user agreed to both: by their configuration, or having seen which server
// asks which model what, and then what it answered. What it asks is bounded, counts in the session,
// and has no tools and nothing of the conversation.
//
// Start reading at Desk.Announce; request.go makes a request of what a server sends.
//
// Source of the rules: Model Context Protocol 2025-11-25, client/sampling; 2026-07-28 keeps it for
// what exists.
//
// Known limits: temperature, metadata, context of servers and preferences among models are not
// followed, as the protocol allows; the user agrees to a request or an answer as it is and cannot
// edit it. An answer that they keep back, and what stop sequences cut off, was already paid for.
package sampling

//lint:file-ignore SA1019 the newest protocol advises new servers against sampling; those that exist use it

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/session"
)

// Bounds of what one server may ask in a session; one request is answered at a time.
const (
	maxRequests = 30
	maxWaiting  = 3 // requests at a time; more are refused
	maxNo       = 3 // after so many times of no it is not put to the user any more
	patience    = 10 * time.Minute
)

// Model is who is asked.
type Model struct {
	Name  string      // provider/name, as the user knows it
	Blind func() bool // it is known to take no pictures
	// Answer makes one request and counts what it used. The request names no model: it is this one.
	Answer func(ctx context.Context, r session.Request) (session.Message, error)
}

// Question is what a user is shown.
type Question struct {
	Server, Text string
	Choices      []string
}

// Desk is where servers ask. Its functions may be set until the first server runs; then it is safe
// for concurrent use.
type Desk struct {
	Model *Model // who would be asked; if nil, nobody can be
	// Ask puts a question to the user; an error: they do not answer. If nil, nobody is there.
	Ask func(ctx context.Context, q Question) (string, error)
	// Aside ties a request to the calls of the server that run; none: it is refused.
	Aside func(ctx context.Context, server string) (context.Context, *mcp.Aside)
	Told  func(text string)        // says to the user what was done; if nil, nobody is told
	Mask  func(text string) string // hides secrets; if nil, nothing is hidden

	mu      sync.Mutex
	servers map[string]*account
	ids     int
}

// account is what one server asked.
type account struct {
	asked, waiting, no int
	allowed            bool          // for the session
	turn               chan struct{} // holds the one that is answered
}

// The ready answers.
const (
	No      = "no"
	Once    = "yes, this once"
	Session = "yes, for this session"
)

// codeRefused is what the protocol's own example of a user's no has.
const codeRefused = -1

func refuse(format string, args ...any) error {
	return &jsonrpc.Error{Code: codeRefused, Message: fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// Announce tells a server that it may ask, where its configuration lets it: Ask or Allow. It does
// so also where nobody is there to agree: what a server offers often hangs on it, and would differ
// from what the user agreed to.
func (d *Desk) Announce(server, sampling string, o *sdk.ClientOptions) {
	if sampling == mcp.Ask || sampling == mcp.Allow {
		o.Capabilities.Sampling = &sdk.SamplingCapabilities{}
		o.CreateMessageWithToolsHandler = d.handle(server, sampling)
	}
}

// handle answers what one server asks; it has the form that the library asks for.
func (d *Desk) handle(server, sampling string) func(context.Context, *sdk.CreateMessageWithToolsRequest) (*sdk.CreateMessageWithToolsResult, error) {
	return func(ctx context.Context, r *sdk.CreateMessageWithToolsRequest) (*sdk.CreateMessageWithToolsResult, error) {
		ctx, aside := d.Aside(ctx, server)
		if aside == nil {
			return nil, refuse("the model is asked only while a call of this server runs")
		}
		defer aside.End()
		ctx, end := context.WithTimeout(ctx, patience)
		defer end()
		a, leave, err := d.enter(ctx, server)
		if err != nil {
			d.tell(aside, "the MCP server "+server+" wanted to ask the model; it was refused: "+err.Error())
			return nil, err
		}
		defer leave()
		return d.answer(ctx, asking{server, sampling, a, aside}, r.Params)
	}
}

// asking is one request on its way.
type asking struct {
	server, sampling string
	account          *account
	aside            *mcp.Aside
}

func (d *Desk) answer(ctx context.Context, k asking, p *sdk.CreateMessageWithToolsParams) (*sdk.CreateMessageWithToolsResult, error) {
	refused := func(err error) (*sdk.CreateMessageWithToolsResult, error) {
		d.tell(k.aside, fmt.Sprintf("the MCP server %s wanted to ask the model; it was refused: %v", k.server, err))
		return nil, err
	}
	if d.Model == nil {
		return refused(refuse("there is no model to ask here"))
	}
	m := *d.Model
	r, err := d.request(p, m)
	if err != nil {
		return refused(err)
	}
	if err := d.agree(ctx, k, func() string { return show(k.server, m, r) }); err != nil {
		return refused(err)
	}
	said, err := m.Answer(ctx, r)
	short := mcp.Line(lastOf(r), maxTold)
	if err != nil {
		d.tell(k.aside, fmt.Sprintf("the MCP server %s asked %s, which did not answer (%s): %s", k.server, m.Name, mcp.Line(d.masked(err.Error()), maxTold), short))
		return nil, refuse("the model did not answer") // why is not the server's to know
	}
	used := ""
	if u := said.Usage; u != nil {
		used = fmt.Sprintf(" (%d tokens)", u.Total())
	}
	d.tell(k.aside, fmt.Sprintf("the MCP server %s asked %s%s: %s", k.server, m.Name, used, short))
	back, text := d.result(said, m, p.StopSequences)
	if err := d.agree(ctx, k, func() string { return showAnswer(k.server, m, text) }); err != nil {
		d.tell(k.aside, fmt.Sprintf("the MCP server %s did not get what %s answered: %v", k.server, m.Name, err))
		return nil, err
	}
	return back, nil
}

// agree has the user look at a request, or at the answer that would go back, unless they have
// agreed before.
func (d *Desk) agree(ctx context.Context, k asking, text func() string) error {
	d.mu.Lock()
	allowed, no := k.account.allowed || k.sampling == mcp.Allow, k.account.no
	d.mu.Unlock()
	switch {
	case allowed:
		return nil
	case d.Ask == nil:
		return refuse("nobody is here to agree to it")
	case no >= maxNo:
		return refuse("the person said no %d times", no)
	}
	said, err := d.Ask(ctx, Question{Server: k.server, Text: text(), Choices: []string{No, Once, Session}})
	if err != nil {
		return refuse("the person did not answer")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch said {
	case Session:
		k.account.allowed = true
		return nil
	case Once:
		return nil
	}
	k.account.no++
	return refuse("the person said no")
}

// enter waits until it is this request's turn.
func (d *Desk) enter(ctx context.Context, server string) (a *account, leave func(), err error) {
	d.mu.Lock()
	if d.servers == nil {
		d.servers = map[string]*account{}
	}
	if a = d.servers[server]; a == nil {
		a = &account{turn: make(chan struct{}, 1)}
		d.servers[server] = a
	}
	switch {
	case a.asked >= maxRequests:
		err = refuse("it has asked %d times in this session", maxRequests)
	case a.waiting >= maxWaiting:
		err = refuse("%d of its requests wait already", maxWaiting)
	default:
		a.asked++
		a.waiting++
	}
	d.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	done := func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		a.waiting--
	}
	select {
	case a.turn <- struct{}{}:
		return a, func() { <-a.turn; done() }, nil
	case <-ctx.Done():
		done()
		return nil, nil, refuse("its call has ended")
	}
}

// tell says to the user, and in the calls of the server, what was done.
func (d *Desk) tell(aside *mcp.Aside, text string) {
	text = d.masked(text)
	aside.Note(text)
	if d.Told != nil {
		d.Told(text)
	}
}

func (d *Desk) masked(text string) string {
	if d.Mask == nil {
		return text
	}
	return d.Mask(text)
}
