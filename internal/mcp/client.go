package mcp

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// client declares adze's capabilities to a server and handles its notifications.
func (c *connection) client() *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { nudge(c.tools) },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			c.calls.progress(r.Params)
		},
	}
	if c.pool.opts.Shares != nil {
		o.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) { nudge(c.shares) }
		o.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) { nudge(c.shares) }
	}
	addRoots := c.announceRoots(o)
	if c.pool.opts.Client != nil {
		c.pool.opts.Client(c.conf.Name, o)
	}
	if ask := o.ElicitationHandler; ask != nil {
		o.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if err := c.asks(true); err != nil {
				return nil, err
			}
			return ask(ctx, r)
		}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "adze", Version: c.pool.opts.Version}, o)
	addRoots(client)
	client.AddSendingMiddleware(uncached)
	client.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if p, ok := r.GetParams().(*sdk.SubscriptionsAcknowledgedParams); ok && p != nil {
				subscribed(ctx, o, p.Notifications)
			}
			if !strings.HasPrefix(method, "notifications/") && method != "elicitation/create" {
				if err := c.asks(false); err != nil {
					return nil, err
				}
			}
			if method == "sampling/createMessage" {
				return nil, errSampling
			}
			return next(ctx, method, r)
		}
	})
	return client
}

// errSampling refuses a request to the run's model, with the error code of the protocol's own
// example.
var errSampling = &jsonrpc.Error{Code: -1,
	Message: "adze lets no server ask its model (sampling); return what the model is to look at as the result of the tool"}

// asks counts a request of the server and returns an error once there are too many.
func (c *connection) asks(question bool) error {
	over, err := c.calls.asks(question)
	if over {
		c.abort(err.Error() + " while no call of it ran")
	}
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "nothing more is answered: " + err.Error()}
	}
	return nil
}

func (c *connection) abort(why string) {
	c.mutate(func() {
		c.log.note("%s was ended: %s", c.conf.Name, why)
		c.end()
		c.fail(why, false)
	})
}

// uncached makes the library drop cached lists at once, ignoring the server's lifetime for them.
// Otherwise a result stored after the change notification would be taken for the new list.
func uncached(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		got, err := next(ctx, method, r)
		if err != nil {
			return got, err
		}
		switch l := got.(type) {
		case *sdk.ListToolsResult:
			l.TTLMs = 0
		case *sdk.ListPromptsResult:
			l.TTLMs = 0
		case *sdk.ListResourcesResult:
			l.TTLMs = 0
		case *sdk.ListResourceTemplatesResult:
			l.TTLMs = 0
		}
		return got, nil
	}
}

// subscribed treats a new subscription as a change. From protocol 2026-07-28 on, a server sends
// changes only after subscribing, and the list may have changed since it was read.
func subscribed(ctx context.Context, o *sdk.ClientOptions, to sdk.NotificationSubscriptions) {
	if to.ToolsListChanged && o.ToolListChangedHandler != nil {
		o.ToolListChangedHandler(ctx, &sdk.ToolListChangedRequest{})
	}
	if to.PromptsListChanged && o.PromptListChangedHandler != nil {
		o.PromptListChangedHandler(ctx, &sdk.PromptListChangedRequest{})
	}
	if to.ResourcesListChanged && o.ResourceListChangedHandler != nil {
		o.ResourceListChangedHandler(ctx, &sdk.ResourceListChangedRequest{})
	}
}

// nudge sends to a channel with a buffer of one, unless it is full.
func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
