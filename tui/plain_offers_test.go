package tui

import (
	"bufio"
	"context"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/tool"
	"adze/tui/permission"
	"adze/tui/port"
)

// TestPlainOffersByNumber: all that may be allowed for longer is listed, and a number takes one of it.
func TestPlainOffersByNumber(t *testing.T) {
	for line, want := range map[string]permission.Answer{
		"s 1": {Choice: permission.ForSession, Offer: 0}, "s3": {Choice: permission.ForSession, Offer: 2}, "a 2": {Choice: permission.Always, Offer: 1},
		"s": {Choice: permission.ForSession, Offer: 1}, "s 4": {Choice: permission.Deny, Reason: "s 4", Offer: 1}, "some reason": {Choice: permission.Deny, Reason: "some reason", Offer: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			in, keys := io.Pipe()
			screen, out := io.Pipe()
			var got permission.Answer
			var u *UI
			u = New(Options{In: in, Out: out, Send: func(ctx context.Context, _ port.Prompt) session.Result {
				got, _ = u.Ask(ctx, permission.Ask{Question: tool.Question{Tool: tool.Definition{Name: "bash"}}, Usual: 1, Offers: []permission.Offer{
					{Rule: "allow execute(go test ./a)", Covers: "these words"}, {Rule: "allow execute(go test **)", Covers: "any words", Save: "/c"},
					{Rule: "allow read(work:src/**)"}}})
				r := session.Result{Cause: session.CauseDone}
				u.Observe(session.TurnEnd{Result: r})
				return r
			}})
			ended := make(chan error, 1)
			go func() {
				ended <- u.RunPlain(t.Context())
				out.Close()
			}()
			lines, said := bufio.NewScanner(screen), ""
			until := func(part string) {
				for lines.Scan() {
					said += lines.Text() + "\n"
					if strings.Contains(lines.Text(), part) {
						return
					}
				}
				t.Fatalf("the end before %q:\n%s", part, said)
			}
			press := func(line string) { _, _ = io.WriteString(keys, line+"\n") }
			until("/quit leaves")
			press("go")
			until("model why:")
			time.Sleep(permission.Guard) // of the bubble's clock
			press(line)
			until("Ready.")
			press("/quit")
			if err := <-ended; err != nil {
				t.Error(err)
			}
			in.Close()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%q answers %+v, want %+v", line, got, want)
			}
			for _, part := range []string{"1: allow execute(go test ./a) (covers these words)\n", "2: allow execute(go test **)", "3: allow read(work:src/**)", "(s 2)"} {
				if !strings.Contains(said, part) {
					t.Errorf("%q was not said:\n%s", part, said)
				}
			}
		})
	}
}
