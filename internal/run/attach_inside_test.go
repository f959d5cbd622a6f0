package run

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/live"
	"adze/session"
	"adze/session/api"
	"adze/tui"
)

// TestAPromptWaitsForTheConnection sends a prompt before the window is connected. It reaches the
// session once and ends with the turn. If nobody has the session, it fails, so that the text goes
// back to the prompt.
func TestAPromptWaitsForTheConnection(t *testing.T) {
	dir, err := os.MkdirTemp("", "live") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	window := func() (*attachedView, chan session.Result) {
		w := &attachedView{folder: filepath.Join(dir, "s"), id: "one", ui: tui.New(tui.Options{}), seen: map[string]bool{}, questions: map[string]context.CancelFunc{}, known: make(chan struct{})}
		ended := make(chan session.Result)
		go func() { ended <- w.send(t.Context(), api.Prompt{Text: "count to two"}) }()
		return w, ended
	}
	w, ended := window()
	acts := make(chan string, 9)
	o, err := live.Listen(live.Config{Folder: w.folder, ID: w.id, Hello: func() live.Hello { return live.Hello{} }, Position: func() int64 { return 0 }, ParentCall: func(int) string { return "" },
		Log: func(context.Context, int64, func(int64, session.Entry) error) error { return nil },
		Act: func(_ live.Peer, raw []byte) error { acts <- string(raw); return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close("")
	client, err := w.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go w.watch(client)
	if act := <-acts; !strings.Contains(act, "count to two") {
		t.Errorf("the session got %s", act)
	}
	o.Observe(session.TurnEnd{Result: session.Result{Cause: session.CauseDone}})
	if r := <-ended; r.Cause != session.CauseDone || len(acts) > 0 {
		t.Errorf("it ended with %+v, and %d more lines came", r, len(acts))
	}
	w, ended = window()
	w.settle(errElsewhere("nobody has the session any more"))
	if r := <-ended; r.Cause != session.CauseUsage || r.Hint == "" {
		t.Errorf("without an owner it ended with %+v", r)
	}
}
