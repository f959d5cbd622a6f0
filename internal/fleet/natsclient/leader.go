package natsclient

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Token makes one step of a subject, or a key, of any text but the empty one: base64url without
// padding.
func Token(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// Text gives back what Token was made of.
func Text(token string) (string, error) {
	text, err := base64.RawURLEncoding.DecodeString(token)
	return string(text), err
}

// Last is the last message of a subject as the server that leads the stream has it: others may be
// behind. Without one it is ErrNone.
func (c *Conn) Last(ctx context.Context, stream, subject string) (*jetstream.RawStreamMsg, error) {
	return c.get(ctx, stream, map[string]any{"last_by_subj": subject})
}

// Next is the first message of a subject at a sequence or behind it, as the leader has it. Without
// one it is ErrNone.
func (c *Conn) Next(ctx context.Context, stream, subject string, from uint64) (*jetstream.RawStreamMsg, error) {
	return c.get(ctx, stream, map[string]any{"next_by_subj": subject, "seq": from})
}

// get asks $JS.API.STREAM.MSG.GET, which only the leader answers; the client asks any replica where
// a stream allows that.
func (c *Conn) get(ctx context.Context, stream string, what map[string]any) (*jetstream.RawStreamMsg, error) {
	request, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, oneTry)
		defer cancel()
	}
	answer, err := c.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+stream, request)
	if err != nil {
		return nil, err
	}
	var got struct {
		Error   *jetstream.APIError `json:"error"`
		Message *struct {
			Subject  string    `json:"subject"`
			Sequence uint64    `json:"seq"`
			Header   []byte    `json:"hdrs"`
			Data     []byte    `json:"data"`
			Time     time.Time `json:"time"`
		} `json:"message"`
	}
	if err := json.Unmarshal(answer.Data, &got); err != nil {
		return nil, fmt.Errorf("an answer that is no JSON: %w", err)
	}
	switch m := got.Message; {
	case got.Error != nil && got.Error.ErrorCode == jetstream.JSErrCodeMessageNotFound:
		return nil, ErrNone
	case got.Error != nil:
		return nil, got.Error
	case m == nil:
		return nil, errors.New("an answer without a message")
	default:
		out := &jetstream.RawStreamMsg{Subject: m.Subject, Sequence: m.Sequence, Data: m.Data, Time: m.Time}
		if len(m.Header) > 0 {
			out.Header, err = nats.DecodeHeadersMsg(m.Header)
		}
		return out, err
	}
}
