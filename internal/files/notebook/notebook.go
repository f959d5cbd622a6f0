// Package notebook shows a Jupyter notebook as the text of its cells, and takes changes of that
// text back to the file.
//
// The one rule: of the file nothing changes but the sources that were edited; outputs, metadata and
// the other cells keep their bytes.
//
// Start reading at Parse. The text is the percent format that editors know: each cell begins with a
// line "# %% cell 2, code", and what it printed follows as lines that begin with "#> ", cut where
// it is long.
//
// Known limits: nbformat 4 alone, which is all that was written since 2015; cells are neither added
// nor removed.
package notebook

import (
	"adze/internal/text/jsontext"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrNotSource is the answer to a change of something else than the source of a cell.
var ErrNotSource = errors.New("only the source of a cell can be edited, one cell at a time: its heading and its output (lines with #>) are not part of it")

// Book is a notebook as text.
type Book struct {
	Text  string
	Cells int
	parts []part
	raw   string
}

// part is the source of one cell: where it stands in Text, and as JSON in the file.
type part struct{ start, end, from, to int }

// Change is a new text for a part of Text.
type Change struct {
	Start, End int
	New        string
}

// cell is what of a cell is shown; from and to say where its source stands.
type cell struct {
	kind     string
	source   string
	outputs  []output
	from, to int
}

// Parse reads a notebook; false means that the text is none.
func Parse(raw string) (*Book, bool) {
	cells, err := scan(raw)
	if err != nil {
		return nil, false
	}
	b := &Book{raw: raw, Cells: len(cells)}
	var text strings.Builder
	for i, c := range cells {
		fmt.Fprintf(&text, "# %%%% cell %d, %s\n", i+1, c.kind)
		p := part{start: text.Len(), from: c.from, to: c.to}
		text.WriteString(c.source)
		p.end = text.Len()
		b.parts = append(b.parts, p)
		if c.source != "" && !strings.HasSuffix(c.source, "\n") {
			text.WriteByte('\n')
		}
		text.WriteString(shown(c.outputs))
	}
	b.Text = text.String()
	return b, true
}

// scan walks the file for its cells and where their sources stand.
func scan(raw string) (cells []cell, err error) {
	dec := json.NewDecoder(strings.NewReader(raw))
	format := 0
	found := false
	err = fields(dec, func(name string) error {
		switch name {
		case "cells":
			found = true
			return elements(dec, func() error {
				c, err := scanCell(dec)
				cells = append(cells, c)
				return err
			})
		case "nbformat":
			return dec.Decode(&format)
		}
		var skip json.RawMessage
		return dec.Decode(&skip)
	})
	if err == nil && (!found || format < 4) {
		err = errors.New("not nbformat 4")
	}
	return cells, err
}

func scanCell(dec *json.Decoder) (c cell, err error) {
	c.from = -1
	err = fields(dec, func(name string) error {
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		switch name {
		case "cell_type":
			return json.Unmarshal(value, &c.kind)
		case "source":
			c.to = int(dec.InputOffset())
			c.from = c.to - len(value)
			var text lines
			err := json.Unmarshal(value, &text)
			c.source = string(text)
			return err
		case "outputs":
			return json.Unmarshal(value, &c.outputs)
		}
		return nil
	})
	if err == nil && c.from < 0 {
		err = errors.New("a cell without source")
	}
	return c, err
}

// fields calls f at the value of each field of an object.
func fields(dec *json.Decoder, f func(name string) error) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.Join(err, errors.New("no object"))
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		if err := f(fmt.Sprint(name)); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// elements calls f at each element of a list.
func elements(dec *json.Decoder, f func() error) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(err, errors.New("no list"))
	}
	for dec.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

// lines is a text that is written as one string or as a list of lines.
type lines string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lines) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*l = lines(one)
		return nil
	}
	var list []string
	err := json.Unmarshal(raw, &list)
	*l = lines(strings.Join(list, ""))
	return err
}

// Apply takes changes of Text, in order and apart, to the file: where its bytes change, and what
// comes there.
func (b *Book) Apply(changes []Change) (file []Change, err error) {
	changes = slices.Clone(changes)
	for i := range changes {
		changes[i] = b.settle(b.trimmed(changes[i]))
	}
	for _, p := range b.parts {
		var source strings.Builder
		at, touched := p.start, false
		for len(changes) > 0 && changes[0].Start >= p.start && changes[0].End <= p.end {
			c := changes[0]
			changes, touched = changes[1:], true
			source.WriteString(b.Text[at:c.Start] + c.New)
			at = c.End
		}
		if !touched {
			continue
		}
		source.WriteString(b.Text[at:p.end])
		file = append(file, Change{p.from, p.to, b.written(p, source.String())})
	}
	if len(changes) > 0 {
		return nil, ErrNotSource
	}
	return file, nil
}

// trimmed leaves out of a change what stays as it was at its ends, so that it may name what is
// around a source.
func (b *Book) trimmed(c Change) Change {
	old := b.Text[c.Start:c.End]
	same := 0
	for same < min(len(old), len(c.New)) && old[same] == c.New[same] {
		same++
	}
	for same > 0 && same < len(c.New) && !utf8.RuneStart(c.New[same]) {
		same--
	}
	c.Start, old, c.New = c.Start+same, old[same:], c.New[same:]
	same = 0
	for same < min(len(old), len(c.New)) && old[len(old)-1-same] == c.New[len(c.New)-1-same] {
		same++
	}
	for same > 0 && !utf8.RuneStart(c.New[len(c.New)-same]) {
		same--
	}
	c.End, c.New = c.End-same, c.New[:len(c.New)-same]
	return c
}

// settle takes the line break that Text adds behind a source for one that is not there.
func (b *Book) settle(c Change) Change {
	for _, p := range b.parts {
		added := p.end > p.start && b.Text[p.end-1] != '\n'
		switch {
		case added && c.Start == c.End && c.Start == p.end+1:
			return Change{p.end, p.end, "\n" + strings.TrimSuffix(c.New, "\n")}
		case added && c.Start >= p.start && c.Start <= p.end && c.End == p.end+1:
			return Change{c.Start, p.end, strings.TrimSuffix(c.New, "\n")}
		case p.start == p.end && c.Start == c.End && c.Start == p.end:
			c.New = strings.TrimSuffix(c.New, "\n")
		}
	}
	return c
}

// written is a source as JSON, in the way in which the file writes the old one.
func (b *Book) written(p part, source string) string {
	old := b.raw[p.from:p.to]
	if !strings.HasPrefix(old, "[") {
		return quoted(source)
	}
	if source == "" {
		return "[]"
	}
	open, shut := b.indents(p)
	var list []string
	for line := range strings.Lines(source) {
		list = append(list, quoted(line))
	}
	return "[" + open + strings.Join(list, ","+cmpSpace(open)) + shut + "]"
}

// indents is what stands before the first line and behind the last: as in the old list, or one step
// in from its line.
func (b *Book) indents(p part) (open, shut string) {
	old := b.raw[p.from+1 : p.to-1]
	if inner := strings.TrimSpace(old); inner != "" {
		at := strings.Index(old, inner)
		return old[:at], old[at+len(inner):]
	}
	line := b.raw[strings.LastIndexByte(b.raw[:p.from], '\n')+1 : p.from]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if !strings.Contains(b.raw, "\n ") && !strings.Contains(b.raw, "\n\t") {
		return "", "" // all in one line
	}
	return "\n" + indent + " ", "\n" + indent
}

// cmpSpace is what stands between two lines of a list that begins so.
func cmpSpace(open string) string {
	if open == "" {
		return " "
	}
	return open
}

// quoted is a JSON string without the escapes that only web pages need.
func quoted(s string) string {
	out, _ := jsontext.Marshal(s) // a string always encodes
	return string(out)
}
