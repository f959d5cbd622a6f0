package mcp

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// errForgot says that a server no longer knows the session: it was started anew, or cleared away
// what was unused. It refused the call, so that nothing of it was done.
var errForgot = errors.New("the server does not know the session any more")

// made makes a call of a server that is ready by then, and once more in a new session where the
// server forgot the first.
func (c caller) made(ctx context.Context, in json.RawMessage, w watch) (*sdk.CallToolResult, error) {
	got, session, err := c.once(ctx, in, w)
	if errors.Is(err, errForgot) {
		c.leave(session)
		got, _, err = c.once(ctx, in, w)
	}
	return got, err
}

// once makes a call in the session of now.
func (c caller) once(ctx context.Context, in json.RawMessage, w watch) (*sdk.CallToolResult, *sdk.ClientSession, error) {
	session, release, err := c.pool.Session(ctx, c.conf.Name)
	if err != nil {
		return nil, nil, c.unavailable(ctx, err)
	}
	defer release()
	if err := c.holds(ctx, c.as); err != nil {
		return nil, session, err
	}
	got, err := c.call(ctx, session, in, w)
	return got, session, err
}

// leave ends a conversation, unless another one has begun; the next who needs the server begins it
// anew.
func (v *server) leave(session *sdk.ClientSession) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.session == session {
		v.quit()
	}
}
