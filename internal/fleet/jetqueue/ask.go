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

// unanswered is how long one line may leave a question open once a server has it: at its limit it
// says nothing. A part of it is over before the server is asked whether it is there at all.
const (
	unanswered = 700 * time.Millisecond
	unheard    = 300 * time.Millisecond
)

// Answers to a question.
var (
	errEmpty  = errors.New("no ticket waits")
	errSilent = errors.New("the server did not answer")
)

// asker asks lines for tickets, one at a time each. The client's own fetch makes a new inbox for
// each question and takes it away after the answer; here those that are answered are used again.
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
	var m *nats.Msg
	if err = a.conn.NATS().PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+taskStream+"."+consumer, inbox.Subject, []byte(`{"batch":1,"no_wait":true}`)); err == nil {
		m, err = a.answer(ctx, inbox)
	}
	if err != nil { // an answer may come yet, which is to none of the next questions
		_ = inbox.Unsubscribe()
		return nil, err
	}
	a.mu.Lock()
	a.free = append(a.free, inbox)
	a.mu.Unlock()
	return m, refusal(m)
}

// answer waits for one, longer where the way is long: a ticket whose worker has stopped to listen
// waits for half a minute.
func (a *asker) answer(ctx context.Context, inbox *nats.Subscription) (*nats.Msg, error) {
	m, err := within(ctx, inbox, unheard)
	if !errors.Is(err, errSilent) {
		return m, err
	}
	if err := a.conn.NATS().FlushWithContext(ctx); err != nil { // there and back, behind the question
		return nil, err
	}
	return within(ctx, inbox, unanswered)
}

func within(ctx context.Context, inbox *nats.Subscription, most time.Duration) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, most, errSilent)
	defer cancel()
	m, err := inbox.NextMsgWithContext(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errSilent) {
		return nil, errSilent
	}
	return m, err
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
