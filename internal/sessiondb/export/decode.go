package export

import (
	"adze/internal/text/jsontext"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// JSON is the form that can be read again.
func (d *Document) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return b.Bytes(), err
}

// maxDocument bounds, in bytes, a file that is read.
const maxDocument = 512 << 20

// FaultError says what is wrong with a file, and on which line.
type FaultError struct {
	Line int // from 1
	Why  string
}

func (f *FaultError) Error() string { return fmt.Sprintf("line %d: %s", f.Line, f.Why) }

// decoder reads a document, a message at a time, so that a fault has a line.
type decoder struct {
	raw []byte
	dec *json.Decoder
}

// Decode reads the JSON form. Its error is a *FaultError.
func Decode(raw []byte) (*Document, error) {
	d := &decoder{raw: raw, dec: json.NewDecoder(bytes.NewReader(raw))}
	if len(raw) > maxDocument {
		return nil, d.fault(0, "the file has %d bytes, more than any export", len(raw))
	}
	for at := 0; at < len(raw); {
		r, n := utf8.DecodeRune(raw[at:])
		if r == utf8.RuneError && n == 1 {
			return nil, d.fault(at, "this is not UTF-8 text")
		}
		at += n
	}
	return d.document()
}

func (d *decoder) document() (*Document, error) {
	head := map[string]json.RawMessage{}
	starts := map[string]int{}
	var messages []Message
	if err := d.opens('{', "an export is one JSON object"); err != nil {
		return nil, err
	}
	for d.dec.More() {
		at := d.next()
		token, err := d.dec.Token()
		name, _ := token.(string)
		switch _, twice := starts[name]; {
		case err != nil:
			return nil, d.syntax(err)
		case twice:
			return nil, d.fault(at, "%q is there twice", name)
		}
		starts[name] = at
		if name == "messages" {
			messages, err = d.messages()
		} else {
			var value json.RawMessage
			err = d.value(&value)
			head[name] = value
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := d.dec.Token(); err != nil {
		return nil, d.syntax(err)
	}
	at := d.next()
	if _, err := d.dec.Token(); err != io.EOF {
		return nil, d.fault(at, "something follows the export")
	}
	return d.whole(head, starts, messages)
}

// whole puts the fields together and looks whether they make sense.
func (d *decoder) whole(head map[string]json.RawMessage, starts map[string]int, messages []Message) (*Document, error) {
	var format int
	if raw, ok := head["adze_session"]; !ok {
		return nil, d.fault(0, "this is no session that adze exported: \"adze_session\" is missing")
	} else if json.Unmarshal(raw, &format) != nil || format < 1 {
		return nil, d.fault(starts["adze_session"], "\"adze_session\" is the version of the format, a number from 1 on")
	}
	if format > Format {
		return nil, d.fault(starts["adze_session"], "this was exported by a newer adze (format %d, this one reads up to %d); update adze", format, Format)
	}
	if _, ok := starts["messages"]; !ok {
		return nil, d.fault(0, "\"messages\" is missing")
	}
	doc := &Document{}
	for name, raw := range head {
		one, err := jsontext.Marshal(map[string]json.RawMessage{name: raw})
		if err == nil {
			err = strict(one, doc)
		}
		if err != nil {
			return nil, d.fault(starts[name], "%q: %s", name, reason(err))
		}
	}
	doc.Messages = messages
	if doc.Session == "" {
		return nil, d.fault(starts["session"], "\"session\" is missing")
	}
	return doc, nil
}

func (d *decoder) messages() ([]Message, error) {
	list := []Message{}
	if err := d.opens('[', "\"messages\" is a list"); err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for d.dec.More() {
		at := d.next()
		var raw json.RawMessage
		if err := d.value(&raw); err != nil {
			return nil, err
		}
		var m Message
		err := strict(raw, &m)
		if err == nil {
			err = m.check()
		}
		if err == nil && known[m.ID] {
			err = fmt.Errorf("there is a message %q already", m.ID)
		}
		if err != nil {
			return nil, d.fault(at+offset(err), "message %d: %s", len(list)+1, reason(err))
		}
		known[m.ID] = true
		list = append(list, m)
	}
	_, err := d.dec.Token()
	if err != nil {
		return nil, d.syntax(err)
	}
	return list, nil
}

// opens reads the beginning of an object or a list.
func (d *decoder) opens(delim json.Delim, why string) error {
	at := d.next()
	token, err := d.dec.Token()
	if err == nil && token != delim {
		return d.fault(at, "%s", why)
	}
	if err != nil {
		return d.syntax(err)
	}
	return nil
}

func (d *decoder) value(into *json.RawMessage) error {
	if err := d.dec.Decode(into); err != nil {
		return d.syntax(err)
	}
	return nil
}

// next is where the next token begins.
func (d *decoder) next() int {
	at := int(d.dec.InputOffset())
	for at < len(d.raw) && bytes.IndexByte([]byte(" \t\r\n,:"), d.raw[at]) >= 0 {
		at++
	}
	return at
}

func (d *decoder) fault(at int, format string, args ...any) error {
	at = min(max(at, 0), len(d.raw))
	return &FaultError{1 + bytes.Count(d.raw[:at], []byte("\n")), fmt.Sprintf(format, args...)}
}

// syntax is a fault in the JSON itself.
func (d *decoder) syntax(err error) error {
	var s *json.SyntaxError
	switch {
	case errors.As(err, &s):
		return d.fault(int(s.Offset)-1, "this is not JSON: %s", s.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return d.fault(len(d.raw), "the file ends in the middle")
	}
	return d.fault(int(d.dec.InputOffset()), "this is not JSON: %s", reason(err))
}

// strict refuses what a document does not have.
func strict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// offset is where in a value its type was found wrong.
func offset(err error) int {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return max(int(t.Offset)-1, 0)
	}
	return 0
}

// reason says in plain words what decoding met.
func reason(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Sprintf("%q cannot be a %s", t.Field, t.Value)
	}
	text := err.Error()
	return string(bytes.TrimPrefix([]byte(text), []byte("json: ")))
}
