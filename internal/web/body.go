package web

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
)

// countedReader adds the bytes read to a progress counter.
type countedReader struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c countedReader) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	if c.n != nil {
		c.n.Add(int64(n))
	}
	return n, err
}

// readBody returns at most limit bytes of a body that the transport has decoded. One byte more
// tells whether it was cut.
func readBody(resp *http.Response, limit int64) (data []byte, truncated bool, err error) {
	if name := resp.Header.Get("Content-Encoding"); name != "" && name != "identity" {
		return nil, false, fail(codeEncoding, "the page is encoded as %q although only gzip was offered", firstLine(name, 40))
	}
	data, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return nil, false, &Error{Code: codeEncoding, Message: "the page's compression is damaged; try again or use another source", Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, false, &Error{Code: codeIO, Message: "the connection ended in the middle of the page; try again", Err: err}
	case err != nil:
		return nil, false, &Error{Code: codeIO, Message: "reading the page failed: " + err.Error(), Err: err}
	}
	return data[:min(int64(len(data)), limit)], int64(len(data)) > limit, nil
}
