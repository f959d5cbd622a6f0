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
// send them. What says that it is and is not stays as it is.
func inflate(r *http.Response) {
	switch encoding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); encoding {
	case "gzip", "x-gzip", "deflate":
		r.Body = &inflated{packed: r.Body}
	}
}

// inflated opens what is packed when it is first read, because opening waits for its beginning.
type inflated struct {
	packed io.ReadCloser
	plain  io.Reader
}

// Read implements io.Reader.
func (i *inflated) Read(p []byte) (int, error) {
	if i.plain == nil {
		if err := i.open(); err != nil {
			return 0, err
		}
	}
	return i.plain.Read(p)
}

func (i *inflated) open() (err error) {
	packed := bufio.NewReader(i.packed)
	start, err := packed.Peek(2)
	switch {
	case len(start) < 2 && err != nil && err != io.EOF:
		return err
	case len(start) == 2 && start[0] == 0x1f && start[1] == 0x8b:
		i.plain, err = gzip.NewReader(packed)
		return err
	case len(start) == 2 && start[0] == 0x78 && (int(start[0])<<8+int(start[1]))%31 == 0:
		i.plain, err = zlib.NewReader(packed)
		return err
	}
	i.plain = packed
	return nil
}

// Close implements io.Closer.
func (i *inflated) Close() error { return i.packed.Close() }
