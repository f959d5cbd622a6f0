package tui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"adze/internal/stream/ask"
	"adze/session"
	"adze/session/api"
	"adze/tool"
)

// actEnv makes the test binary the interface itself, with an agent that only acts; so a user can
// look at it:
//
//	go test -c -o /tmp/tui.test ./tui && ADZE_TUI_ACT=slow /tmp/tui.test
const actEnv = "ADZE_TUI_ACT"

func TestMain(m *testing.M) {
	if kind := os.Getenv(actEnv); kind != "" {
		os.Exit(act(kind))
	}
	os.Exit(m.Run())
}

// act runs the interface on the real terminal.
func act(kind string) int {
	a := &actor{kind: kind}
	o := Options{
		Send: a.send, In: os.Stdin, Out: os.Stdout, Env: os.Getenv,
		Blocks: func(name string, raw json.RawMessage) []tool.Block {
			if kind == "panic" {
				panic("a view that fails")
			}
			return testBlocks(name, raw)
		},
		Info: Info{Version: "0.1.0", Model: "acted/slow", Mode: "ask", Session: "s1", Cwd: "/home/ann/calc", Sandbox: "none",
			Notices: []string{"Nothing here is real: no model, no tools."}},
	}
	a.ui = New(o)
	if kind == "starting" {
		a.ui = New(Options{Starting: true, In: o.In, Out: o.Out, Env: o.Env})
		go a.ui.Begin(o)
	}
	if err := a.ui.Run(context.Background()); err != nil {
		fmt.Println("error:", firstLine(err.Error()))
		return 1
	}
	fmt.Println("bye")
	return 0
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// actor plays a turn that has everything.
type actor struct {
	ui   *UI
	kind string
	turn int
}

func (a *actor) pause(ctx context.Context, d time.Duration) {
	if a.kind != "slow" {
		return
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func (a *actor) send(ctx context.Context, p api.Prompt) session.Result {
	if a.kind == "aside" {
		a.ui.screen.Load().Go(func() { panic("aside") })
		<-ctx.Done()
	}
	prompt := p.Text
	a.turn++
	start := time.Now()
	id := func(s string) string { return fmt.Sprint(s, a.turn) }
	call := func(s string) tool.CallID { return tool.CallID(id(s)) }
	see := a.ui.Observe
	see(session.MessageDone{Message: session.Message{ID: id("u"), Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: prompt}}}})
	answer := "I'll look at the **failing** test first, then at `Add`.\n\n## Plan\n\n- find the test\n- fix it\n"
	for _, word := range strings.SplitAfter(answer, " ") {
		see(session.TextDelta{Message: id("m"), Delta: word})
		a.pause(ctx, 30*time.Millisecond)
	}
	see(session.MessageDone{Message: session.Message{ID: id("m"), Role: session.Assistant, Usage: &session.Usage{Input: 1200, Output: 80},
		Parts: []session.Part{{Kind: session.TextPart, Text: answer}, {Kind: session.CallPart, Call: &tool.RawCall{ID: call("c"), Name: "bash"}}}}})
	see(session.ToolEnd{Outcome: tool.Outcome{Call: call("t"), Tool: "plan", Status: tool.Completed, Title: "2 todos",
		Metadata: blocksJSON(tool.Checklist([]tool.Item{{Text: "find the test", State: "completed"}, {Text: "fix it", State: "in_progress"}}))}})
	status := a.command(ctx, call("c"))
	cause := session.CauseDone
	if ctx.Err() != nil {
		cause = session.CauseInterrupted
	}
	r := session.Result{Cause: cause, Text: string(status), Duration: time.Since(start)}
	see(session.TurnEnd{Result: r})
	return r
}

func (a *actor) command(ctx context.Context, id tool.CallID) tool.Status {
	a.ui.Observe(session.ToolStart{Event: tool.Event{Call: id, Tool: "bash", Args: json.RawMessage(`{"command":"go test ./..."}`)}})
	q := tool.Question{Tool: tool.Definition{Name: "bash"}, Needs: []tool.Need{{Permission: tool.Execute, Target: "go test ./... # \u202eevil"}}}
	answer, err := a.ui.Ask(ctx, ask.Permission{Question: q, Offers: []ask.Offer{{Rule: "allow execute(go test **)"}}})
	out := tool.Outcome{Call: id, Tool: "bash", Status: tool.Completed, Title: "go test ./..."}
	switch {
	case err != nil:
		out.Status, out.Output = tool.Aborted, err.Error()
	case answer.Choice == ask.Deny:
		out.Status, out.Output = tool.Denied, "denied: "+answer.Reason
	default:
		var text string
		for i := range 40 {
			text += fmt.Sprintf("=== RUN   Test%d\n", i)
			out.Metadata = blocksJSON(tool.Output("", text))
			a.ui.Observe(session.ToolUpdate{Event: tool.Event{Call: id, Tool: "bash", Title: out.Title, Metadata: out.Metadata}})
			a.pause(ctx, 100*time.Millisecond)
		}
	}
	a.ui.Observe(session.ToolEnd{Outcome: out})
	return out.Status
}

func blocksJSON(b []tool.Block) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"blocks": b})
	return raw
}

// terminal is the interface running in a pseudo-terminal.
type terminal struct {
	t      *testing.T
	pty    *os.File
	cmd    *exec.Cmd
	pieces chan []byte
	seen   bytes.Buffer
	at     int // up to where expect has looked
}

func openTerminal(t *testing.T, kind string) *terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), actEnv+"="+kind, "TERM=dumb")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	x := &terminal{t: t, pty: f, cmd: cmd, pieces: make(chan []byte)}
	go x.read()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = f.Close()
		for range x.pieces { // until the reader has seen the end
		}
	})
	return x
}

// expect reads until what is on the screen contains text, or fails when nothing more comes.
func (x *terminal) expect(text string) {
	x.t.Helper()
	hung := time.NewTimer(2 * time.Minute) // ends a test that would never end
	defer hung.Stop()
	for {
		if i := strings.Index(x.seen.String()[x.at:], text); i >= 0 {
			x.at += i + len(text)
			return
		}
		select {
		case piece, more := <-x.pieces:
			x.seen.Write(piece)
			if !more {
				x.t.Fatalf("the end before %q; after %q", text, x.seen.String()[x.at:])
			}
		case <-hung.C:
			x.t.Fatalf("no %q; but %q", text, x.seen.String()[x.at:])
		}
	}
}

// read passes on what the terminal shows.
func (x *terminal) read() {
	defer close(x.pieces)
	for {
		buf := make([]byte, 4096)
		n, err := x.pty.Read(buf)
		if n > 0 {
			x.pieces <- buf[:n]
		}
		if err != nil { // a pseudo-terminal ends with EIO on Linux
			return
		}
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := io.WriteString(x.pty, keys); err != nil {
		x.t.Fatal(err)
	}
}

// finish reads to the end and checks that the terminal was given back.
func (x *terminal) finish(code int) {
	x.t.Helper()
	for piece := range x.pieces {
		x.seen.Write(piece)
	}
	_ = x.cmd.Wait()
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		x.t.Errorf("exit code %d, want %d; output %q", got, code, x.seen.String()[x.at:])
	}
	for _, pair := range [][2]string{
		{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?2004h", "\x1b[?2004l"}, {"\x1b[?1007h", "\x1b[?1007r"},
		{"\x1b[?7l", "\x1b[?7h"}, {"\x1b[?2027s", "\x1b[?2027r"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[>1u", "\x1b[<u"}, {"\x1b[22;0t", "\x1b[23;0t"},
	} {
		all := x.seen.String()
		if strings.LastIndex(all, pair[0]) < 0 || strings.LastIndex(all, pair[1]) < strings.LastIndex(all, pair[0]) {
			x.t.Errorf("%q was not undone by %q", pair[0], pair[1])
		}
	}
}

func TestInTerminal(t *testing.T) {
	x := openTerminal(t, "fast")
	x.expect("Ask, or say what to do")
	x.press("fix\x1b[200~ the\rtest\x1b[201~") // a paste with a carriage return does not send
	x.expect("test")
	x.press("\r")
	x.expect("┃ fix the")
	x.expect("Run this command?")
	x.expect("<U+202E>evil")
	x.expect("y yes") // the guard is over
	x.press("a")
	x.expect("✓ $ ")
	x.expect("Test39")
	_ = pty.Setsize(x.pty, &pty.Winsize{Rows: 40, Cols: 170})
	x.expect("│ ── todos") // todos moved beside the conversation
	x.press("\x04")
	x.expect("bye")
	x.finish(0)
}

func TestTerminalRestoredAfterPanic(t *testing.T) {
	x := openTerminal(t, "panic")
	before := freshState(t) // this terminal's own may have been changed already
	x.expect("Ask, or say what to do")
	if state(t, x.pty) == before {
		t.Log("raw mode does not show on this side of the pseudo-terminal")
	}
	x.press("x\r")
	x.expect("error: the interface failed: a view that fails")
	if got := state(t, x.pty); got != before {
		t.Errorf("terminal modes are %s, were %s", got, before)
	}
	x.finish(1)
}

// TestTerminalRestoredAfterAPanicAside: a goroutine that the interface does not catch gives the
// terminal back, too.
func TestTerminalRestoredAfterAPanicAside(t *testing.T) {
	x := openTerminal(t, "aside")
	before := freshState(t)
	x.expect("Ask, or say what to do")
	x.press("x\r")
	x.expect("panic: aside")
	x.expect("goroutine")
	if got := state(t, x.pty); got != before {
		t.Errorf("terminal modes are %s, were %s", got, before)
	}
	x.finish(2)
}

func TestAbortInTerminal(t *testing.T) {
	x := openTerminal(t, "fast")
	x.expect("Ask, or say what to do")
	x.press("go\r")
	x.expect("y yes")
	x.press("\x1b")
	x.expect("stopped by you")
	x.press("\x03\x03")
	x.expect("bye")
	x.finish(0)
}

// TestQuitWhileRunning shows that ctrl+c twice ends the turn, waits for its end, and leaves.
func TestQuitWhileRunning(t *testing.T) {
	x := openTerminal(t, "fast")
	x.expect("Ask, or say what to do")
	x.press("go\r")
	x.expect("Run this command?")
	x.press("\x03\x03")
	x.expect("bye")
	x.finish(0)
}
