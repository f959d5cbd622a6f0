package clouds

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"

	"adze/session"
)

// frames reads Amazon's event stream as server-sent events. A frame with a wrong checksum is an
// error; a stream that stops inside a frame has its end there, as one that stops between two.
type frames struct {
	from    *bufio.Reader
	text    bool // the rest is no frame
	decoder *eventstream.Decoder
	convert func(kind string, payload []byte) [][]byte // the events' data; kind "" is the end
	ready   bytes.Buffer
	payload []byte
	err     error
}

func newFrames(from io.Reader, convert func(string, []byte) [][]byte) *frames {
	return &frames{from: bufio.NewReader(from), decoder: eventstream.NewDecoder(), convert: convert}
}

// Read implements io.Reader.
func (f *frames) Read(p []byte) (int, error) {
	for f.ready.Len() == 0 {
		if f.text {
			return f.from.Read(p)
		}
		if f.err != nil {
			return 0, f.err // also when it is asked again: the frames behind a damaged one are no answer
		}
		f.err = f.next()
	}
	return f.ready.Read(p)
}

// next converts one frame.
func (f *frames) next() error {
	// A frame begins with its length, whose first byte is 0. Anything else is a page or an error.
	if first, err := f.from.Peek(1); err == nil && first[0] != 0 {
		f.text = true
		return nil
	}
	message, err := f.decoder.Decode(f.from, f.payload[:0])
	f.payload = message.Payload
	var known *session.ProviderError
	switch {
	case err == nil:
	case errors.As(err, &known):
		return known
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		f.write(f.convert("", nil)...)
		return io.EOF
	case damaged(err):
		return &session.ProviderError{Kind: session.BadResponse, Message: "Bedrock sent a damaged frame: " + err.Error(), Hint: "try again"}
	default:
		return err // the context's
	}
	header := func(name string) string {
		if v := message.Headers.Get(name); v != nil {
			return v.String()
		}
		return ""
	}
	switch header(":message-type") {
	case "event":
		f.write(f.convert(header(":event-type"), message.Payload)...)
	case "exception":
		var said struct{ Message string }
		_ = json.Unmarshal(message.Payload, &said) // the kind says enough
		f.fail(header(":exception-type"), said.Message)
	case "error":
		f.fail(header(":error-code"), header(":error-message"))
	}
	return nil
}

func damaged(err error) bool {
	var checksum eventstream.ChecksumError
	var length eventstream.LengthError
	return errors.As(err, &checksum) || errors.As(err, &length) || strings.Contains(err.Error(), "header")
}

func (f *frames) write(events ...[]byte) {
	for _, data := range events {
		fmt.Fprintf(&f.ready, "data: %s\n\n", bytes.ReplaceAll(data, []byte("\n"), []byte(" "))) // in JSON it is a space
	}
}

// fail writes an error event, with the status that the exception has outside of a stream.
func (f *frames) fail(kind, text string) {
	code := map[string]string{
		"throttlingexception": "429", "servicequotaexceededexception": "429", "serviceunavailableexception": "503", "modelnotreadyexception": "503",
		"internalserverexception": "500", "modelstreamerrorexception": "500", "modeltimeoutexception": "500", "modelerrorexception": "500",
		"validationexception": "400", "accessdeniedexception": "403", "resourcenotfoundexception": "404",
	}[strings.ToLower(kind)]
	if text == "" {
		text = kind
	}
	fault := map[string]string{"type": kind, "message": text, "code": code}
	f.ready.WriteString("event: error\n")
	raw, _ := json.Marshal(map[string]any{"type": "error", "error": fault}) // strings
	f.write(raw)
}

// invoked returns the model's own event inside a chunk of invoke-with-response-stream.
func invoked(kind string, payload []byte) [][]byte {
	var chunk struct {
		Bytes []byte `json:"bytes"`
	}
	if kind != "chunk" {
		return nil
	}
	if json.Unmarshal(payload, &chunk) != nil {
		return [][]byte{payload} // the adapter says that it is malformed
	}
	return [][]byte{bytes.TrimSpace(chunk.Bytes)}
}
