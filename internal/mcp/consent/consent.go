// Package consent asks the user the questions of MCP servers: form fields, and pages to open.
//
// The one rule: a server gets an answer only from a user who saw its name and that the answer goes
// to it. Without a user, questions are declined.
//
// Start reading at Asker.Elicit; form.go converts schemas to questions and answers to values.
//
// Known limits: fields are asked one at a time, in the form's order, or sorted by name if it
// bypassed the filter of package wire.
package consent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/oauth"
)

// Limits of questions.
const (
	maxMessage = 1500 // bytes
	maxFields  = 100
	maxWaiting = 3 // a server's concurrent questions; more are declined
	maxTries   = 3 // answers to one field
	patience   = 30 * time.Minute
)

// A Question is shown to the user.
type Question struct {
	Server  string
	Text    string
	Choices []string // may be empty; other answers are possible
}

// An Asker asks the user servers' questions. It is safe for concurrent use.
type Asker struct {
	// Ask asks the user; an error means no answer. If nil, there is no user.
	Ask func(ctx context.Context, q Question) (string, error)
	// Open opens an address in the user's browser. It may be nil.
	Open func(address string) error
	// Report reports an action taken without asking. It may be nil.
	Report func(text string)

	mu      sync.Mutex
	waiting map[string]int
}

func answer(action string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: action} }

// Actions of an answer.
const (
	accept  = "accept"
	decline = "decline"
	cancel  = "cancel"
)

// Elicit returns the elicitation handler for a server.
func (a *Asker) Elicit(server string) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	return func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		if a.Ask == nil {
			a.report(server + " asked the person something, and nobody is here: it was declined")
			return answer(decline), nil
		}
		if !a.enter(server) {
			a.report(server + " asks too much at once; what is beyond " + fmt.Sprint(maxWaiting) + " questions was declined")
			return answer(decline), nil
		}
		defer a.leave(server)
		ctx, end := context.WithTimeout(ctx, patience)
		defer end()
		if r.Params.Mode == "url" || r.Params.URL != "" {
			return a.page(ctx, server, r.Params), nil
		}
		return a.form(ctx, server, r.Params), nil
	}
}

func (a *Asker) report(text string) {
	if a.Report != nil {
		a.Report(text)
	}
}

func (a *Asker) enter(server string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting[server] >= maxWaiting {
		return false
	}
	if a.waiting == nil {
		a.waiting = map[string]int{}
	}
	a.waiting[server]++
	return true
}

func (a *Asker) leave(server string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting[server]--
}

// refused is the response without a user's answer.
func refused(ctx context.Context) *sdk.ElicitResult {
	if ctx.Err() != nil {
		return answer(cancel)
	}
	return answer(decline)
}

// Choices for a page.
const (
	openIt = "open it in my browser"
	opened = "I opened it myself"
	not    = "no"
)

// page asks to open an address, which is shown in full. It opens web addresses only.
func (a *Asker) page(ctx context.Context, server string, p *sdk.ElicitParams) *sdk.ElicitResult {
	address, err := oauth.Address(p.URL)
	if err != nil {
		a.report(server + " wanted something to be opened that is no web address; it was declined")
		return answer(decline)
	}
	u, err := url.Parse(address)
	if err != nil {
		return answer(decline)
	}
	q := Question{Server: server, Text: fmt.Sprintf("%s\n\nIt wants you to open a page of %s:\n%s", mcp.Clean(p.Message, maxMessage), u.Host, address), Choices: []string{openIt, opened, not}}
	if a.Open == nil {
		q.Choices = q.Choices[1:]
	}
	said, err := a.Ask(ctx, q)
	switch {
	case err != nil:
		return refused(ctx)
	case said == openIt:
		if err := a.Open(address); err != nil {
			a.report("the page of " + server + " could not be opened: " + err.Error())
			return answer(cancel)
		}
		return answer(accept)
	case said == opened:
		return answer(accept)
	}
	return answer(decline)
}

// errTries means that none of the user's answers was valid.
var errTries = errors.New("no answer fits")

func (a *Asker) form(ctx context.Context, server string, p *sdk.ElicitParams) *sdk.ElicitResult {
	fields, err := fieldsOf(p.RequestedSchema)
	if err != nil {
		a.report(server + " asked the person something that cannot be shown (" + err.Error() + "); it was declined")
		return answer(decline)
	}
	message := mcp.Clean(p.Message, maxMessage)
	if len(fields) == 0 {
		said, err := a.Ask(ctx, Question{Server: server, Text: message, Choices: []string{yes, no}})
		switch {
		case err != nil:
			return refused(ctx)
		case said == yes:
			return &sdk.ElicitResult{Action: accept, Content: map[string]any{}}
		}
		return answer(decline)
	}
	content := map[string]any{}
	for i, f := range fields {
		text := message + "\n\n"
		if len(fields) > 1 {
			text += fmt.Sprintf("(%d of %d) ", i+1, len(fields))
		}
		value, given, err := a.field(ctx, Question{Server: server, Text: text + f.text(), Choices: f.choices()}, f)
		if err != nil {
			return refused(ctx)
		}
		if given {
			content[f.name] = value
		}
	}
	return &sdk.ElicitResult{Action: accept, Content: content}
}

// field asks for one field until the answer is valid.
func (a *Asker) field(ctx context.Context, q Question, f field) (value any, given bool, err error) {
	text := q.Text
	for range maxTries {
		said, err := a.Ask(ctx, q)
		if err != nil {
			return nil, false, err
		}
		value, given, err := f.value(said)
		if err == nil {
			return value, given, nil
		}
		q.Text = text + "\n\nThat does not fit: " + err.Error()
	}
	return nil, false, errTries
}
