package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"adze/internal/live"
	"adze/internal/live/control"
	"adze/internal/text/usage"
)

// reply is the answer to the newest line of a client.
func reply(t *testing.T, c *live.Client, line any) (r live.Reply) {
	t.Helper()
	if err := c.Send(line); err != nil {
		t.Fatal(err)
	}
	_, l := until(t, c, "reply")
	if err := json.Unmarshal(l.Raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestARequestIsAnswered by its number and its id: with a result, or with what is wrong and the next
// move. One that changes something is recorded.
func TestARequestIsAnswered(t *testing.T) {
	var did []string
	o := own(t, func(c *live.Config) {
		c.Control = func(_ context.Context, p live.Peer, r control.Request) (any, error) {
			if r.Action == control.Run {
				return nil, usage.Mistake("write a command", "nothing to run")
			}
			return map[string]string{"by": p.Kind}, nil
		}
		c.Record = func(p live.Peer, act string) { did = append(did, p.Kind+" "+act) }
	})
	c := o.dial(t, live.Subscription{Kind: "page", StateOnly: true})
	if r := reply(t, c, live.Control{Type: "control", ID: "a", Request: control.Request{Action: control.Menu}}); r.ID != "a" || string(r.Result) != `{"by":"page"}` || r.Error != nil {
		t.Errorf("the menu: %+v", r)
	}
	if r := reply(t, c, live.Control{Type: "control", Request: control.Request{Action: control.Undo}}); r.Error != nil {
		t.Errorf("undo: %+v", r.Error)
	}
	if r := reply(t, c, live.Control{Type: "control", Request: control.Request{Action: control.Run}}); r.Error == nil || r.Error.Message != "nothing to run" || r.Error.Hint != "write a command" {
		t.Errorf("run: %+v", r)
	}
	if r := reply(t, c, map[string]string{"type": "control", "do": "menu", "colour": "red"}); r.Error == nil {
		t.Errorf("a field that there is not: %+v", r)
	}
	if want := []string{"page undo"}; !slices.Equal(did, want) {
		t.Errorf("recorded is %q, not %q", did, want)
	}
}

// TestAnOwnerThatCloses answers what it works on, and an owner that does nothing says so.
func TestAnOwnerThatCloses(t *testing.T) {
	began, gave := make(chan struct{}), errors.New("the session is let go")
	o := own(t, func(c *live.Config) {
		c.Control = func(ctx context.Context, _ live.Peer, r control.Request) (any, error) {
			close(began)
			<-ctx.Done()
			return nil, gave
		}
	})
	c := o.dial(t, live.Subscription{Kind: "page"})
	go func() { <-began; o.Close("") }()
	if r := reply(t, c, live.Control{Type: "control", Request: control.Request{Action: control.Models}}); r.Error == nil || r.Error.Message != gave.Error() {
		t.Errorf("it was told %+v", r)
	}
	none := own(t, nil).dial(t, live.Subscription{Kind: "page"})
	if r := reply(t, none, live.Control{Type: "control", Request: control.Request{Action: control.Menu}}); r.Error == nil {
		t.Errorf("of one that does nothing: %+v", r)
	}
}
