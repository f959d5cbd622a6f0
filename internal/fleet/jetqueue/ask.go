package jetqueue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"adze/internal/jet"
)

// unanswered is how long one line may leave a question open: at its limit a server says nothing.
const unanswered = time.Second

// Answers to a question.
var (
	errEmpty  = errors.New("no ticket waits")
	errSilent = errors.New("the server did not answer")
)

// asker asks lines for tickets, one at a time each. The client's own fetch makes a new inbox for each question and takes it away
// after the answer; here those that are answered are used again.
type asker struct {
	conn *jet.Conn
	mu   sync.Mutex
	free []*nats.Subscription
}

// next is the next ticket of a consumer, errEmpty or errSilent.
func (a *asker) next(ctx context.Context, consumer string) (*nats.Msg, error) {
	inbox, err := a.inbox()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, unanswered, errSilent)
	defer cancel()
	var m *nats.Msg
	if err = a.conn.NATS().PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+taskStream+"."+consumer, inbox.Subject, []byte(`{"batch":1,"no_wait":true}`)); err == nil {
		m, err = inbox.NextMsgWithContext(ctx)
	}
	if err != nil { // an answer may come yet, which is to none of the next questions
		_ = inbox.Unsubscribe()
		if errors.Is(context.Cause(ctx), errSilent) {
			return nil, errSilent
		}
		return nil, err
	}
	a.mu.Lock()
	a.free = append(a.free, inbox)
	a.mu.Unlock()
	return m, refusal(m)
}

// refusal is what a server says that gives no ticket: a status, and no data.
func refusal(m *nats.Msg) error {
	status := m.Header.Get("Status")
	switch {
	case status == "" || len(m.Data) > 0:
		return nil
	case status == "404" || status == "408":
		return errEmpty
	case status == "503":
		return nats.ErrNoResponders
	case strings.Contains(strings.ToLower(m.Header.Get("Description")), "leadership change"):
		return fmt.Errorf("%w: the server that leads changes", nats.ErrNoResponders)
	}
	return fmt.Errorf("%s %s", status, m.Header.Get("Description"))
}

func (a *asker) inbox() (*nats.Subscription, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := len(a.free); n > 0 {
		inbox := a.free[n-1]
		a.free = a.free[:n-1]
		return inbox, nil
	}
	return a.conn.NATS().SubscribeSync(a.conn.NATS().NewInbox())
}
