package mcp

import (
	"cmp"
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/sandbox/child"
)

// client is what adze tells a server that it can do, and hears it tell.
func (l *life) client() *sdk.Client {
	o := &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.stale() },
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			l.calls.progress(r.Params)
		},
	}
	addRoots := l.announceRoots(o)
	if l.pool.opts.Client != nil {
		l.pool.opts.Client(l.conf.Name, o)
	}
	if ask := o.ElicitationHandler; ask != nil {
		o.ElicitationHandler = func(ctx context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			if err := l.asks(true); err != nil {
				return nil, err
			}
			return ask(ctx, r)
		}
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "adze", Version: l.pool.opts.Version}, o)
	addRoots(c)
	c.AddSendingMiddleware(uncached)
	c.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if p, ok := r.GetParams().(*sdk.SubscriptionsAcknowledgedParams); ok && p != nil {
				subscribed(ctx, o, p.Notifications)
			}
			if !strings.HasPrefix(method, "notifications/") && method != "elicitation/create" {
				if err := l.asks(false); err != nil {
					return nil, err
				}
			}
			if method == "sampling/createMessage" {
				return nil, errSampling
			}
			return next(ctx, method, r)
		}
	})
	return c
}

// errSampling refuses a request to the model of the run, with the code of the protocol's own
// example of a refusal.
var errSampling = &jsonrpc.Error{Code: -1,
	Message: "adze lets no server ask its model (sampling); return what the model is to look at as the result of the tool"}

// asks counts what the server asks; an error: it is too much.
func (l *life) asks(question bool) error {
	over, err := l.calls.asks(question)
	if over {
		l.fail(err.Error() + " while no call of it ran")
	}
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "nothing more is answered: " + err.Error()}
	}
	return nil
}

// fail ends the conversation for a reason.
func (l *life) fail(why string) {
	l.mu.Lock()
	own := l.server.life == l
	if own {
		l.log.note("%s was ended: %s", l.conf.Name, why)
		l.remember(Failed, why, false)
		l.end()
		l.part(Failed, why)
	}
	l.mu.Unlock()
	if own {
		l.pool.changed(l.conf.Name)
	}
}

// uncached has the library forget lists at once, whatever time a server says that they are good
// for: an answer that is put by after the word that it is stale would be given for the new one.
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

// subscribed counts as a change: from 2026-07-28 on a server tells of one only after it has taken
// the subscription, and a list that was asked for before may have changed in between.
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

// stale has the tools asked for again, after the server said that they are others.
func (l *life) stale() { l.latest.Stale(l.pool.ctx, l.relist) }

// relistTries is how often a server may fail to say what its tools are now, until it tells of the
// next change.
const relistTries = 3

// relist waits until the tools are known for the first time: holding the turn meanwhile would hold
// that up.
func (l *life) relist(mark int) {
	limit := cmp.Or(l.conf.Start, DefaultStart)
	ctx, cancel := context.WithTimeout(l.pool.ctx, limit)
	defer cancel()
	session, release, err := l.borrow(ctx)
	if err != nil {
		return
	}
	defer release()
	for range relistTries {
		err := l.latest.Since(ctx, mark, func() error {
			now, err := child.Within(ctx, nil, limit, func() (Listing, error) { return l.ask(ctx, session) })
			if err == nil {
				l.changedTo(now)
			}
			return err
		})
		if err == nil || ended(err) || ctx.Err() != nil {
			return // those that were known stay
		}
	}
}

// changedTo takes a list, unless the server was started anew since it was asked for.
func (l *life) changedTo(now Listing) {
	l.mu.Lock()
	own := l.server.life == l
	if own {
		l.learn(now)
	}
	l.mu.Unlock()
	if own {
		l.pool.changed(l.conf.Name)
	}
}
