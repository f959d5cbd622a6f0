package tui

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"adze/session"
	"adze/session/api"
	"adze/tool"
	"adze/tui/permission"
)

// talk is a user in front of the interface of lines.
type talk struct {
	t     *testing.T
	ui    *UI
	keys  *io.PipeWriter
	lines *bufio.Scanner
	all   strings.Builder
	from  int // what was read before
	ended chan error
	log   *player // notes what was asked of the program
}

func (k *talk) press(lines ...string) {
	for _, line := range lines {
		_, _ = io.WriteString(k.keys, line+"\n")
	}
}

// waits lets the time pass in which a dialog takes no answer; it is of the bubble's clock.
func (k *talk) waits() { time.Sleep(permission.Guard) }

// until reads up to a line with this part and returns what was read.
func (k *talk) until(part string) string {
	k.t.Helper()
	k.from = k.all.Len()
	for k.lines.Scan() {
		k.all.WriteString(k.lines.Text() + "\n")
		if strings.Contains(k.lines.Text(), part) {
			return k.all.String()[k.from:]
		}
	}
	k.t.Fatalf("the end before %q:\n%s", part, k.all.String())
	return ""
}

// talking runs the interface in a bubble, with a program that only notes what it is asked, unless
// change says otherwise. It returns all that was said.
func talking(t *testing.T, change func(*talk, *Options), say func(k *talk)) (said string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		in, keys := io.Pipe()
		screen, out := io.Pipe()
		k := &talk{t: t, keys: keys, lines: bufio.NewScanner(screen), ended: make(chan error, 1), log: newPlayer(t, nil)}
		o := Options{Blocks: testBlocks, In: in, Out: out, Ports: k.log.ports(),
			Info: Info{Version: "0.1.0", Model: "script/demo", Mode: "ask", Session: "s1", Cwd: "/home/ann/calc"}}
		o.Ports.Remember = nil
		o.Send = func(ctx context.Context, p api.Prompt) session.Result {
			k.log.note(fmt.Sprintf("sent: %q %s", p.Text, strings.Join(p.Attach, " ")))
			return session.Result{Cause: session.CauseDone}
		}
		if change != nil {
			change(k, &o)
		}
		k.ui = New(o)
		go func() {
			k.ended <- k.ui.RunPlain(t.Context())
			out.Close()
		}()
		hung := time.AfterFunc(time.Hour, func() { out.Close() }) // of the bubble's clock: nothing else can happen any more
		defer hung.Stop()
		k.until("/quit leaves")
		say(k)
		in.Close()
		if err := <-k.ended; err != nil {
			t.Error(err)
		}
		said = k.all.String()
	})
	return said
}

func (k *talk) noted(want string) {
	k.t.Helper()
	synctest.Wait()
	for _, l := range k.log.log {
		if l == want {
			return
		}
	}
	k.t.Errorf("%q was not asked for, but %q", want, k.log.log)
}

// TestPlainCommands: each command answers by lines.
func TestPlainCommands(t *testing.T) {
	talking(t, func(_ *talk, o *Options) {
		diff := blocksJSON(tool.Diff("a.go", "@@ -1 +1 @@\n-old\n+new\n"))
		o.Info.Commands = func() []api.Named {
			return []api.Named{{Name: "fix", Help: "Fix an issue", From: ".claude/commands/fix.md"}}
		}
		list := blocksJSON(tool.Checklist([]tool.Item{{Text: "find the test", State: "completed"}, {Text: "fix it", State: "in_progress"}}))
		o.History = []session.Event{
			session.MessageDone{Message: session.Message{Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "hello"}}}},
			session.ToolEnd{Outcome: tool.Outcome{Call: "c1", Tool: "edit", Status: tool.Completed, Changed: []string{"a.go"}, Metadata: diff}},
			session.ToolEnd{Outcome: tool.Outcome{Call: "c2", Tool: "plan", Status: tool.Completed, Metadata: list}},
		}
	}, func(k *talk) {
		for _, c := range []struct{ line, until string }{
			{"/help", "/quit: leave"},
			{"/mode edits", "permission mode: edits."},
			{"/mode nonsense", "there is no permission mode nonsense"},
			{"/nonsense", "There is no command /nonsense"},
			{"/theme dark", "only lines"},
			{"/changes", "net changes"},
			{"/context", "context"},
			{"/todos", "in progress: fix it"},
			{"/resume", "Write a number"},
			{"", "Nothing was chosen."},
			{"/attach notes.txt", "was not found"},
			{"/etc/hosts is broken", "Ready."},
			{"/fix 12", "Ready."},
			{"/rewind", "Your message was: the message as it was sent"},
			{"write it anew", "Ready."},
		} {
			k.press(c.line)
			k.until(c.until)
		}
		k.noted("mode: edits")
		k.noted(`sent: "/fix 12" `)
		k.noted("rewind")
		k.noted(`sent: "/etc/hosts is broken" `)
		k.noted(`sent: "write it anew" `)
		k.press("/quit")
	})
}

func TestPlainListsAndChooses(t *testing.T) {
	var next api.Next
	talking(t, nil, func(k *talk) {
		k.press("/sessions")
		said := k.until("Write a number")
		for _, want := range []string{"1: fix the parser, ", "<U+202E>", "rename everything"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q was not said:\n%s", want, said)
			}
		}
		k.press("17")
		k.until("no such number")
		k.press("3")
		if err := <-k.ended; err != nil {
			t.Error(err)
		}
		next = k.ui.Next()
		k.ended <- nil
	})
	if next.Session != "b2" {
		t.Errorf("goes on with %+v", next)
	}
	for line, want := range map[string]api.Next{"/new": {New: true}, "/resume r7": {Session: "r7"}, "/model openai/gpt-6": {Session: "s1", Model: "openai/gpt-6"}} {
		talking(t, nil, func(k *talk) {
			k.press(line)
			err := <-k.ended
			next = k.ui.Next()
			k.ended <- err
		})
		if next != want {
			t.Errorf("%s goes on with %+v", line, next)
		}
	}
}

// TestPlainAttachesAndSteers: what is attached goes with the next message; while the agent works a
// line waits, and one with > is read before its next step.
func TestPlainAttachesAndSteers(t *testing.T) {
	var gate chan struct{} // of the bubble
	talking(t, func(_ *talk, o *Options) {
		gate = make(chan struct{})
		o.Info.Cwd = "/home/ann"
		drop := o.Ports.Drop
		o.Ports.Drop = func(text string) (api.Dropped, bool) { return drop(strings.Trim(text, "'")) }
		send := o.Send
		o.Send = func(ctx context.Context, p api.Prompt) session.Result {
			r := send(ctx, p)
			<-gate
			return r
		}
	}, func(k *talk) {
		k.press("/attach shot.png")
		k.until("goes with your next message")
		k.press("/mode plan")
		k.until("permission mode: plan")
		k.press("what is this?")
		k.noted(`sent: "[attached 1: shot.png] what is this?" /home/ann/shot.png`)
		k.press("later")
		k.until("This waits")
		k.press("> now")
		k.until("reads this before its next step")
		k.noted("steer: now")
		gate <- struct{}{}
		time.Sleep(time.Second) // of the bubble's clock
		k.noted(`sent: "now" `)
		gate <- struct{}{}
		time.Sleep(time.Second)
		k.noted(`sent: "later" `)
		gate <- struct{}{}
		k.until("Ready.")
		k.press("/quit")
	})
}
