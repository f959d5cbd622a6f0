package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"
)

// Editor is what the editor does for a conversation. A function that is nil is not offered.
type Editor struct {
	// Read is the text of a file as the editor has it, saved or not; Write gives it a new one. The
	// error is an ErrNoFile where the editor answered that it has no say about the file.
	Read  func(path string) (string, error)
	Write func(path, text string) error
}

// ErrNoFile is wrapped by what an editor that has no say about a file answers.
var ErrNoFile = errors.New("the editor does not have the file")

// fileTime bounds how long an editor is waited for: it may have to load the file, or to ask the
// user.
const fileTime = 30 * time.Second

// editor is what this one offered when it was started.
func (t *thread) editor() (e Editor) {
	t.agent.mu.Lock()
	defer t.agent.mu.Unlock()
	fs := t.agent.client.Fs
	if fs.ReadTextFile {
		e.Read = t.readFile
	}
	if fs.WriteTextFile {
		e.Write = t.writeFile
	}
	return e
}

func (t *thread) readFile(path string) (string, error) {
	var r sdk.ReadTextFileResponse
	err := t.fileRequest(sdk.ClientMethodFsReadTextFile, sdk.ReadTextFileRequest{SessionId: sdk.SessionId(t.id), Path: path}, &r)
	return r.Content, err
}

func (t *thread) writeFile(path, text string) error {
	var r sdk.WriteTextFileResponse
	return t.fileRequest(sdk.ClientMethodFsWriteTextFile, sdk.WriteTextFileRequest{SessionId: sdk.SessionId(t.id), Path: path, Content: text}, &r)
}

// fileRequest asks within the running turn, and ends with it.
func (t *thread) fileRequest(method string, params, answer any) error {
	t.mu.Lock()
	within := t.agent.ctx
	if t.turn != nil {
		within = t.turn.ctx
	}
	t.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(within, fileTime, fmt.Errorf("the editor did not answer within %s", fileTime))
	defer cancel()
	err := t.agent.conn.ask(ctx, method, params, answer)
	var refused *jsonrpc2.Error
	if errors.As(err, &refused) {
		return fmt.Errorf("%w: %s", ErrNoFile, refused.Message)
	}
	return err
}
