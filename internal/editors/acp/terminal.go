package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"adze/tool"
)

// TerminalCall is a command for a terminal of the editor's.
type TerminalCall struct {
	Call  tool.CallID
	Argv  []string
	Dir   string
	Env   []string // NAME=value
	Limit int      // bytes of its output, from the end
}

// TerminalEnd is what came of it.
type TerminalEnd struct {
	Output    string
	Truncated bool // the beginning of the output is not in it
	Code      int
	Signal    string // that ended it, as SIGTERM; if empty, none
}

// ErrNoTerminal is wrapped where the editor would not run a command: nothing has run.
var ErrNoTerminal = errors.New("the editor runs no command")

// endTime bounds how long an editor is waited for to end a command and to tell what it wrote.
const endTime = 10 * time.Second

// inTerminal has the editor run a command, shows its terminal in the call, and waits for its end.
// When ctx ends first, the command is killed.
func (t *thread) inTerminal(ctx context.Context, c TerminalCall) (TerminalEnd, error) {
	ask := t.agent.conn.ask
	r := sdk.CreateTerminalRequest{SessionId: sdk.SessionId(t.id), Command: c.Argv[0], Args: c.Argv[1:], Cwd: &c.Dir, OutputByteLimit: &c.Limit}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		r.Env = append(r.Env, sdk.EnvVariable{Name: name, Value: value})
	}
	var made sdk.CreateTerminalResponse
	if err := ask(ctx, sdk.ClientMethodTerminalCreate, r, &made); err != nil {
		var refused *sdk.RequestError
		if errors.As(err, &refused) {
			return TerminalEnd{}, fmt.Errorf("%w: %s", ErrNoTerminal, refused.Message)
		}
		return TerminalEnd{}, err
	}
	t.tell.terminal(c.Call, made.TerminalId)
	session := sdk.SessionId(t.id)
	var end sdk.WaitForTerminalExitResponse
	waited := ask(ctx, sdk.ClientMethodTerminalWaitForExit, sdk.WaitForTerminalExitRequest{SessionId: session, TerminalId: made.TerminalId}, &end)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if waited != nil {
		_ = ask(ctx, sdk.ClientMethodTerminalKill, sdk.KillTerminalRequest{SessionId: session, TerminalId: made.TerminalId}, new(sdk.KillTerminalResponse)) // it may have ended
	}
	var out sdk.TerminalOutputResponse
	err := ask(ctx, sdk.ClientMethodTerminalOutput, sdk.TerminalOutputRequest{SessionId: session, TerminalId: made.TerminalId}, &out)
	_ = ask(ctx, sdk.ClientMethodTerminalRelease, sdk.ReleaseTerminalRequest{SessionId: session, TerminalId: made.TerminalId}, new(sdk.ReleaseTerminalResponse)) // it is the editor's from then on
	told := TerminalEnd{Output: out.Output, Truncated: out.Truncated}
	if end.ExitCode != nil {
		told.Code = *end.ExitCode
	}
	if end.Signal != nil {
		told.Code, told.Signal = -1, *end.Signal
	}
	return told, errors.Join(waited, err)
}

// terminal shows a terminal in a call.
func (t *teller) terminal(call tool.CallID, id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s, ok := t.calls[call]; ok {
		s.terminal = id
		t.thread.post(sdk.UpdateToolCall(sdk.ToolCallId(call), sdk.WithUpdateContent([]sdk.ToolCallContent{sdk.ToolTerminalRef(id)})))
	}
}
