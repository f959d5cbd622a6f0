package remote

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"adze/internal/mcp/wire"
)

// tooLarge is the code of JSON-RPC (internal error) under which an answer that is not read ends its
// call.
const tooLarge = -32603

// instead is the answer to a call whose own is not read. Without it, one large answer would end the
// whole connection, and all that others wait for.
func instead(call json.RawMessage) []byte {
	text, _ := json.Marshal(fmt.Sprintf("the answer has more than %d MB and could not be cut; ask for a part of it", MaxFrame>>20))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, call, tooLarge, text)
}

// maxRead is how much of one answer is read, in bytes: what is more than a frame of it is cut.
const maxRead = 32 << 20

// bounded reads an answer that is no stream, and cuts it to one frame.
func bounded(resp *http.Response, call json.RawMessage) (*http.Response, error) {
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, MaxFrame+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > MaxFrame {
		if call == nil || resp.StatusCode/100 != 2 {
			return nil, refuse("ask for less", "an answer has more than %d MB", MaxFrame>>20)
		}
		if raw, err = shorter(raw, io.LimitReader(resp.Body, maxRead-MaxFrame), call); err != nil {
			return nil, err
		}
		resp.Header.Set("Content-Length", strconv.Itoa(len(raw)))
		resp.Header.Set("Content-Type", "application/json")
		resp.ContentLength = int64(len(raw))
	}
	resp.Body = io.NopCloser(bytes.NewReader(raw))
	return resp, nil
}

// shorter cuts an answer to one frame: its beginning, and what comes.
func shorter(begin []byte, rest io.Reader, call json.RawMessage) ([]byte, error) {
	c := wire.NewCutter(MaxFrame)
	_, _ = c.Write(begin) // it never fails
	if _, err := io.Copy(c, rest); err != nil {
		return nil, err
	}
	if short := c.Message(); short != nil {
		return short, nil
	}
	return instead(call), nil
}

// limited ends a body with an error after a number of bytes.
func limited(resp *http.Response, bytes int64) *http.Response {
	resp.Body = &limit{resp.Body, bytes}
	return resp
}

type limit struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (l *limit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, refuse("tell whoever runs it", "an answer is far longer than it should be")
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
