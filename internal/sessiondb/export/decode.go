package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// JSON returns the document in the form that Decode reads.
func (d *Document) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return b.Bytes(), err
}

// maxDocument limits a file to read, in bytes.
const maxDocument = 512 << 20

// Decode reads the JSON form. The error explains an invalid file.
func Decode(raw []byte) (*Document, error) {
	switch {
	case len(raw) > maxDocument:
		return nil, fmt.Errorf("the file has %d bytes, more than any export", len(raw))
	case !utf8.Valid(raw):
		return nil, errors.New("this is not UTF-8 text")
	}
	var format struct {
		Is *json.RawMessage `json:"adze_session"`
	}
	if err := json.Unmarshal(raw, &format); err != nil {
		return nil, fmt.Errorf("this is no session that adze exported: %w", err)
	}
	number := 0
	switch {
	case format.Is == nil:
		return nil, errors.New("this is no session that adze exported: \"adze_session\" is missing")
	case json.Unmarshal(*format.Is, &number) != nil || number < 1:
		return nil, errors.New("\"adze_session\" is the version of the format, a number from 1 on")
	case number > Format:
		return nil, fmt.Errorf("this was exported by a newer adze (format %d, this one reads up to %d); update adze", number, Format)
	}
	d := &Document{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(d); {
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	case d.Messages == nil:
		return nil, errors.New("\"messages\" is missing")
	case d.Session == "":
		return nil, errors.New("\"session\" is missing")
	}
	known := map[string]bool{}
	for i, m := range d.Messages {
		err := m.check()
		if err == nil && known[m.ID] {
			err = fmt.Errorf("there is a message %q already", m.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		known[m.ID] = true
	}
	return d, nil
}
