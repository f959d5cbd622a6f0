package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxMessage and maxHeader limit a server's message and its header; both are read into memory.
const (
	maxMessage = 64 << 20
	maxHeader  = 8 << 10
)

// codec frames messages: headers with the length, an empty line, JSON. The library's codec accepts
// any length.
type codec struct{}

// WriteObject writes one message.
func (codec) WriteObject(to io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = to.Write(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(raw), raw))
	return err
}

// ReadObject reads one message.
func (codec) ReadObject(from *bufio.Reader, v any) error {
	size, seen := -1, 0
	for {
		line, err := from.ReadSlice('\n')
		if err != nil {
			return err
		}
		if seen += len(line); seen > maxHeader {
			return errors.New("the header of a message is too long")
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" && size >= 0 {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(name), "Content-Length") {
			continue // another header, or a wrapper's output
		}
		if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || size < 0 || size > maxMessage {
			return fmt.Errorf("a message of %q bytes, at most %d", strings.TrimSpace(value), maxMessage)
		}
	}
	raw := make([]byte, size)
	if _, err := io.ReadFull(from, raw); err != nil {
		return err
	}
	return json.Unmarshal(raw, v)
}

// ends joins a server's pipes into one stream.
type ends struct {
	io.Reader
	io.WriteCloser
}
