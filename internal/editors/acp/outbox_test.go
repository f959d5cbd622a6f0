package acp

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// sent collects what an outbox sends, as an editor that is as slow as it likes.
type sent struct {
	mu   sync.Mutex
	all  []sdk.SessionNotification
	gate chan struct{} // nil: open
}

func (s *sent) send(n sdk.SessionNotification) {
	if s.gate != nil {
		<-s.gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, n)
}

func chunkOf(session, message, text string) note {
	b := sdk.TextBlock(text)
	return note{session: session, text: &b.Text.Text, key: message, update: sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{Content: b}}}
}

// TestDeltasAreJoinedWhileTheEditorIsSlow: a hundred thousand deltas of two sessions come to few
// notifications, in which no byte is missing or moved, and what stands between them keeps its
// place.
func TestDeltasAreJoinedWhileTheEditorIsSlow(t *testing.T) {
	s := &sent{}
	o := newOutbox(s.send)
	go o.run()
	const deltas = 100_000
	want := map[string]*strings.Builder{"a": {}, "b": {}}
	for i := range deltas {
		session := []string{"a", "b"}[i%2]
		text := fmt.Sprint(i, " ")
		want[session].WriteString(text)
		o.post(chunkOf(session, "m", text))
		if i%20_000 == 0 {
			o.post(note{session: session, update: sdk.UpdatePlan(sdk.PlanEntry{Content: fmt.Sprint(i)})})
			want[session].WriteString("|")
		}
	}
	o.flush()
	o.close()
	got := map[string]*strings.Builder{"a": {}, "b": {}}
	for _, n := range s.all {
		text := "|"
		if c := n.Update.AgentMessageChunk; c != nil {
			text = c.Content.Text.Text
		}
		got[string(n.SessionId)].WriteString(text)
	}
	for session, w := range want {
		if got[session].String() != w.String() {
			t.Errorf("session %s was told otherwise", session)
		}
	}
	if len(s.all) > deltas/20 {
		t.Errorf("%d notifications for %d deltas", len(s.all), deltas)
	}
}

// TestOnlyTheNewestStateOfACallIsTold, and its end is never one of those that are left out.
func TestOnlyTheNewestStateOfACallIsTold(t *testing.T) {
	s := &sent{gate: make(chan struct{})}
	o := newOutbox(s.send)
	go o.run()
	o.post(chunkOf("a", "m", "first"))
	for i := range 1000 {
		o.post(note{session: "a", key: "call 1", update: sdk.UpdateToolCall("1", sdk.WithUpdateTitle(fmt.Sprint(i)))})
	}
	o.post(note{session: "a", update: sdk.UpdateToolCall("1", sdk.WithUpdateStatus(sdk.ToolCallStatusCompleted))})
	close(s.gate)
	o.flush()
	o.close()
	n := len(s.all)
	if n > 4 || s.all[n-1].Update.ToolCallUpdate.Status == nil || *s.all[n-2].Update.ToolCallUpdate.Title != "999" {
		t.Errorf("told %d: %+v", n, s.all)
	}
}

// TestWhoTellsTooMuchWaits: what waits is bounded, nothing is dropped, and a closed outbox holds
// nobody up.
func TestWhoTellsTooMuchWaits(t *testing.T) {
	s := &sent{gate: make(chan struct{})}
	o := newOutbox(s.send)
	go o.run()
	told := make(chan int)
	go func() {
		for i := range 4 * maxWaiting {
			o.post(note{session: "a", update: sdk.UpdateToolCall(sdk.ToolCallId(fmt.Sprint(i)))})
		}
		close(told)
	}()
	for range 4 * maxWaiting {
		o.mu.Lock()
		if len(o.waiting) > maxWaiting {
			t.Errorf("%d wait", len(o.waiting))
		}
		o.mu.Unlock()
		s.gate <- struct{}{}
	}
	<-told
	o.flush()
	for i, n := range s.all {
		if string(n.Update.ToolCallUpdate.ToolCallId) != fmt.Sprint(i) {
			t.Fatalf("%d came in the place of %d", i, i)
		}
	}
	o.close()
	for range 2 * maxWaiting {
		o.post(note{session: "a"})
	}
	o.flush()
}
