package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"github.com/sourcegraph/jsonrpc2"
)

// Editor holds the editor's functions for a session. A nil function is not supported.
type Editor struct {
	// Read returns a file's text from the editor, with unsaved changes; Write replaces it. Both
	// return ErrNoFile if the editor does not handle the file.
	Read  func(path string) (string, error)
	Write func(path, text string) error
}

// ErrNoFile means that the editor does not handle a file.
var ErrNoFile = errors.New("the editor does not have the file")

// fileTime limits a file request: the editor may have to load the file or ask the user.
const fileTime = 30 * time.Second

// editor returns the functions that the editor offered at its start.
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

// fileRequest sends a request that ends with the running turn.
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
