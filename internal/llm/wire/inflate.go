package wire

import (
	"bufio"
	"compress/gzip"
	"compress/zlib"
	"io"
	"net/http"
	"strings"
)

// inflate unpacks an answer that came compressed though it was not asked to be, as some gateways
// send them. What says that it is and is not stays as it is. It waits for the beginning.
func inflate(r *http.Response) error {
	switch strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip", "deflate":
	default:
		return nil
	}
	packed := bufio.NewReader(r.Body)
	var plain io.Reader = packed
	start, err := packed.Peek(2)
	switch {
	case len(start) < 2:
		if err == io.EOF {
			err = nil
		}
	case start[0] == 0x1f && start[1] == 0x8b:
		plain, err = gzip.NewReader(packed)
	case start[0] == 0x78 && (int(start[0])<<8+int(start[1]))%31 == 0:
		plain, err = zlib.NewReader(packed)
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{plain, r.Body}
	return err
}
