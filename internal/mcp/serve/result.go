package serve

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/tool"
)

// result converts an outcome for a client: the model's text, images as images, and the status in
// the metadata.
func result(o tool.Outcome, session, hint string) *mcp.CallToolResult {
	text := o.Output
	if hint != "" {
		text = strings.TrimRight(text, "\n") + "\n" + hint
	}
	r := &mcp.CallToolResult{
		IsError: o.Status != tool.Completed, Content: []mcp.Content{&mcp.TextContent{Text: text}},
		Meta: mcp.Meta{"adze/status": string(o.Status), "adze/session": session},
	}
	if o.Code != "" {
		r.Meta["adze/code"] = o.Code
	}
	for _, a := range o.Attachments {
		if strings.HasPrefix(a.MediaType, "image/") {
			r.Content = append(r.Content, &mcp.ImageContent{Data: a.Data, MIMEType: a.MediaType})
		} else {
			r.Content = append(r.Content, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "attachment:" + url.PathEscape(a.Name), MIMEType: a.MediaType, Blob: a.Data}})
		}
	}
	return r
}

// hint names rules that would allow a call for which nobody could be asked.
func (c *call) hint(o tool.Outcome) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o.Status != tool.Denied || c.takesQuestions || len(c.rules) == 0 {
		return ""
	}
	words := make([]string, len(c.rules))
	for i, r := range c.rules {
		words[i] = fmt.Sprintf("--allow '%s'", strings.ReplaceAll(r, "'", `'\''`))
	}
	return "This client takes no questions, so that nobody could be asked. To allow it, start adze mcp serve with " + strings.Join(words, " ") +
		", or add the rule to \"allow\" in the configuration."
}

// tellEvery is the shortest time between progress notifications.
const tellEvery = 100 * time.Millisecond

// reporter sends a call's latest progress to a client that asked for it, at a limited rate. A
// client that does not read blocks the reporter, not the call.
type reporter struct {
	wake       chan struct{}
	stop, over chan struct{}

	mu   sync.Mutex
	text string
}

// newReporter returns nil if the client did not ask for progress.
func newReporter(ctx context.Context, r *mcp.CallToolRequest) *reporter {
	token := r.Params.GetProgressToken()
	if token == nil {
		return nil
	}
	t := &reporter{wake: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{})}
	go t.run(func(n int, text string) error {
		return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(n), Message: text})
	})
	return t
}

func (t *reporter) say(text string) {
	if t == nil || text == "" {
		return
	}
	t.mu.Lock()
	t.text = text
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default: // it will read the newest text anyway
	}
}

func (t *reporter) run(send func(n int, text string) error) {
	defer close(t.over)
	for n := 1; ; n++ {
		select {
		case <-t.stop:
			return
		case <-t.wake:
		}
		t.mu.Lock()
		text := t.text
		t.mu.Unlock()
		if send(n, text) != nil {
			return
		}
		select {
		case <-t.stop:
			return
		case <-time.After(tellEvery):
		}
	}
}

// close stops the reporter and waits for its current notification.
func (t *reporter) close() {
	if t == nil {
		return
	}
	close(t.stop)
	<-t.over
}
