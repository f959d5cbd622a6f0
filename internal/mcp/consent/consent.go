// Package consent puts to the user what MCP servers ask of them: the fields of a form, and pages
// to be opened.
//
// The one rule: a server gets an answer only from a user who saw which server asks and that the
// answer goes to it. Where nobody is there, each question is declined.
//
// Start reading at Asker.Elicit; form.go makes questions of a schema and values of answers.
//
// Known limits: fields are asked one after the other, in the order of the form; where it came
// without the filter of package wire, by their name.
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

// Bounds of what a user is asked.
const (
	maxMessage = 1500 // bytes
	maxFields  = 100
	maxWaiting = 3 // questions of one server at a time; more are declined
	maxTries   = 3 // to answer one field
	patience   = 30 * time.Minute
)

// Question is what a user is shown.
type Question struct {
	Server  string
	Text    string
	Choices []string // may be empty; the user may use other words
}

// Asker puts questions of servers to the user. It is safe for concurrent use.
type Asker struct {
	// Ask puts a question to the user; an error: they do not answer. If nil, nobody is there.
	Ask func(ctx context.Context, q Question) (string, error)
	// Open shows an address in the user's browser; if nil, there is none.
	Open func(address string) error
	// Told says what was done without asking; if nil, nobody is told.
	Told func(text string)

	mu      sync.Mutex
	waiting map[string]int
}

func answer(action string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: action} }

// The actions of an answer.
const (
	accept  = "accept"
	decline = "decline"
	cancel  = "cancel"
)

// Elicit answers what one server asks; it has the form that the library asks for.
func (a *Asker) Elicit(server string) func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	return func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		if a.Ask == nil {
			a.tell(server + " asked the person something, and nobody is here: it was declined")
			return answer(decline), nil
		}
		if !a.enter(server) {
			a.tell(server + " asks too much at once; what is beyond " + fmt.Sprint(maxWaiting) + " questions was declined")
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

func (a *Asker) tell(text string) {
	if a.Told != nil {
		a.Told(text)
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

// refused is the answer when a user gave none.
func refused(ctx context.Context) *sdk.ElicitResult {
	if ctx.Err() != nil {
		return answer(cancel)
	}
	return answer(decline)
}

// The ready answers about a page.
const (
	openIt = "open it in my browser"
	opened = "I opened it myself"
	not    = "no"
)

// page asks whether an address is opened: it is shown whole, and nothing is opened that is no web
// address.
func (a *Asker) page(ctx context.Context, server string, p *sdk.ElicitParams) *sdk.ElicitResult {
	address, err := oauth.Address(p.URL)
	if err != nil {
		a.tell(server + " wanted something to be opened that is no web address; it was declined")
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
			a.tell("the page of " + server + " could not be opened: " + err.Error())
			return answer(cancel)
		}
		return answer(accept)
	case said == opened:
		return answer(accept)
	}
	return answer(decline)
}

// errTries says that a user did not find an answer that fits.
var errTries = errors.New("no answer fits")

// form asks for the fields of a form.
func (a *Asker) form(ctx context.Context, server string, p *sdk.ElicitParams) *sdk.ElicitResult {
	fields, err := fieldsOf(p.RequestedSchema)
	if err != nil {
		a.tell(server + " asked the person something that cannot be shown (" + err.Error() + "); it was declined")
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

// field asks for one field until the answer fits.
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
