package remote

import (
	"encoding/json"
	"io"
	"net/http"

	"adze/internal/mcp/wire"
)

// readAnswer replaces the body of an answer that is no stream by one that the library can read. One
// large answer must not end the whole connection and all that others wait for: it is shortened, or
// an error of its call.
func readAnswer(resp *http.Response, call json.RawMessage) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, wire.MaxRead+1))
	resp.Body.Close()
	switch {
	case err != nil:
		return err
	case len(raw) <= MaxFrame && call != nil:
		raw = wire.Read(raw)
	case len(raw) <= MaxFrame:
	case call == nil || resp.StatusCode/100 != 2:
		return refuse("ask for less", "an answer has more than %d MB", MaxFrame>>20)
	default:
		if raw = wire.Shorten(raw, MaxFrame); raw == nil {
			raw = wire.TooLong(call)
		}
		resp.Header.Set("Content-Type", "application/json")
	}
	setBody(&resp.Body, &resp.ContentLength, resp.Header, raw)
	return nil
}
