package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// Decode reads the JSON form. Its error is a *FaultError.
func Decode(raw []byte) (*Document, error) {
	if len(raw) > maxDocument {
		return nil, fault(raw, 0, "the file has %d bytes, more than any export", len(raw))
	}
	if !utf8.Valid(raw) {
		return nil, fault(raw, 0, "this is not UTF-8 text")
	}
	var format struct {
		Is json.RawMessage `json:"adze_session"`
	}
	if err := json.Unmarshal(raw, &format); err != nil {
		return nil, broken(raw, err)
	}
	number, at := 0, bytes.Index(raw, []byte(`"adze_session"`))
	switch {
	case format.Is == nil:
		return nil, fault(raw, 0, "this is no session that adze exported: \"adze_session\" is missing")
	case json.Unmarshal(format.Is, &number) != nil || number < 1:
		return nil, fault(raw, at, "\"adze_session\" is the version of the format, a number from 1 on")
	case number > Format:
		return nil, fault(raw, at, "this was exported by a newer adze (format %d, this one reads up to %d); update adze", number, Format)
	}
	var doc struct {
		Document
		Messages *[]json.RawMessage `json:"messages"`
	}
	switch err := strict(raw, &doc); {
	case err != nil:
		return nil, broken(raw, err)
	case doc.Messages == nil:
		return nil, fault(raw, 0, "\"messages\" is missing")
	case doc.Session == "":
		return nil, fault(raw, 0, "\"session\" is missing")
	}
	known := map[string]bool{}
	doc.Document.Messages = []Message{}
	for at = bytes.Index(raw, []byte(`"messages"`)); len(doc.Document.Messages) < len(*doc.Messages); {
		one := (*doc.Messages)[len(doc.Document.Messages)]
		at += max(0, bytes.Index(raw[at:], one))
		var m Message
		err := strict(one, &m)
		if err == nil {
			err = m.check()
		}
		if err == nil && known[m.ID] {
			err = fmt.Errorf("there is a message %q already", m.ID)
		}
		if err != nil {
			return nil, fault(raw, at, "message %d: %s", len(doc.Document.Messages)+1, reason(err))
		}
		known[m.ID] = true
		doc.Document.Messages = append(doc.Document.Messages, m)
		at += len(one)
	}
	return &doc.Document, nil
}

func fault(raw []byte, at int, format string, args ...any) error {
	at = min(max(at, 0), len(raw))
	return &FaultError{1 + bytes.Count(raw[:at], []byte("\n")), fmt.Sprintf(format, args...)}
}

// broken is a fault in the JSON itself, or in the type or the name of a field.
func broken(raw []byte, err error) error {
	var s *json.SyntaxError
	var t *json.UnmarshalTypeError
	switch {
	case errors.As(err, &s) && strings.HasPrefix(s.Error(), "unexpected end"):
		return fault(raw, len(raw), "the file ends in the middle")
	case errors.As(err, &s):
		return fault(raw, int(s.Offset)-1, "this is not JSON: %s", s.Error())
	case errors.As(err, &t) && t.Field == "":
		return fault(raw, 0, "an export is one JSON object")
	case errors.As(err, &t):
		return fault(raw, int(t.Offset)-1, "%s", reason(err))
	}
	_, field, _ := strings.Cut(err.Error(), "unknown field ")
	return fault(raw, bytes.Index(raw, []byte(field)), "%s", reason(err))
}

// strict refuses what a document does not have.
func strict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// reason says in plain words what decoding met.
func reason(err error) string {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return fmt.Sprintf("%q cannot be a %s", t.Field, t.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}
