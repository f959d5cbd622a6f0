package web

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// ratioFloor is how many decoded bytes are allowed before the ratio is checked: small pages of one
// repeated line compress very well.
const ratioFloor = 256 << 10

type body struct {
	bytes     []byte
	truncated bool
}

// meter counts the bytes read and stops at a limit. It reads one byte past the limit to know
// whether there is more.
type meter struct {
	r     io.Reader
	n     int64
	limit int64
	over  bool
}

// Read returns io.EOF at the limit.
func (m *meter) Read(p []byte) (int, error) {
	if m.n >= m.limit {
		var one [1]byte
		if n, _ := io.ReadFull(m.r, one[:]); n > 0 {
			m.over = true
		}
		return 0, io.EOF
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.limit-m.n)])
	m.n += int64(n)
	return n, err
}

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

// readBody receives at most MaxWire bytes and decodes at most limit bytes.
func readBody(resp *http.Response, limit int64) (body, *Error) {
	wire := &meter{r: resp.Body, limit: MaxWire}
	decoded, err := decoder(resp.Header, wire)
	if err != nil {
		return body{}, asFault(err)
	}
	out := &meter{r: decoded, limit: limit}
	data, err := readAll(out, wire)
	if err != nil && !(wire.over && len(data) > 0) {
		return body{}, asFault(err)
	}
	return body{data, wire.over || out.over}, nil
}

// readAll reads out until a limit or MaxRatio is reached.
func readAll(out, wire *meter) ([]byte, error) {
	var data []byte
	chunk := make([]byte, 32<<10)
	for {
		n, err := out.Read(chunk)
		data = append(data, chunk[:n]...)
		if out.n > ratioFloor && out.n > MaxRatio*wire.n {
			return nil, fail(codeLimit, "the page is packed more than %d:1, as a decompression bomb is; not fetched", MaxRatio)
		}
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return data, err
		}
	}
}

// decoder returns a reader for the body's content encoding; only one layer is accepted.
func decoder(h http.Header, wire *meter) (io.Reader, error) {
	layers := strings.Split(strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")), ",")
	var names []string
	for _, layer := range layers {
		if layer = strings.TrimSpace(layer); layer != "" && layer != "identity" {
			names = append(names, layer)
		}
	}
	switch {
	case len(names) == 0:
		return wire, nil
	case len(names) > 1:
		return nil, fail(codeEncoding, "the page is encoded in %d layers, one is accepted", len(names))
	}
	switch names[0] {
	case "gzip", "x-gzip":
		return ungzip(wire)
	case "deflate":
		return inflate(wire)
	}
	return nil, fail(codeEncoding, "the page is encoded as %q although only gzip and deflate were offered", firstLine(names[0], 40))
}

func ungzip(wire io.Reader) (io.Reader, error) {
	r, err := gzip.NewReader(wire)
	if errors.Is(err, io.EOF) {
		return strings.NewReader(""), nil // an empty body with a wrong encoding header
	}
	return r, err
}

// inflate reads zlib, as the standard requires, or raw deflate, which some servers send.
func inflate(wire io.Reader) (io.Reader, error) {
	br := bufio.NewReader(wire)
	head, err := br.Peek(2)
	if err != nil {
		return br, nil
	}
	if head[0]&0x0F == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 { // RFC 1950 2.2
		return zlib.NewReader(br)
	}
	return flate.NewReader(br), nil
}

func asFault(err error) *Error {
	var own *Error
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum),
		errors.Is(err, zlib.ErrHeader), errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrDictionary):
		return &Error{Code: codeEncoding, Message: "the page's compression is damaged; try again or use another source", Err: err}
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Code: codeIO, Message: "the connection ended in the middle of the page; try again", Err: err}
	}
	return &Error{Code: codeIO, Message: "reading the page failed: " + err.Error(), Err: err}
}
