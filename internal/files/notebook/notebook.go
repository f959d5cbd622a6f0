// Package notebook shows a Jupyter notebook as its cells' text and maps edits to that text back to
// the file.
//
// The one rule: only edited sources change in the file; outputs, metadata and other cells keep
// their bytes.
//
// Start reading at Parse. The text is the percent format known to editors: each cell begins with a
// line "# %% cell 2, code"; its output follows as lines that begin with "#> ", shortened if long.
//
// Known limits: nbformat 4 only, which everything since 2015 uses; cells cannot be added or
// removed.
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

// ErrNotSource means that an edit touches more than one cell's source.
var ErrNotSource = errors.New("only the source of a cell can be edited, one cell at a time: its heading and its output (lines with #>) are not part of it")

// Book is a notebook as text.
type Book struct {
	Text  string
	Cells int
	parts []part
	raw   string
}

// part is a cell's source: its range in Text, and as JSON in the file.
type part struct{ start, end, from, to int }

// Change replaces a range in Text or in the file.
type Change struct {
	Start, End int
	New        string
}

// cell is a cell's visible data; from and to are its source's range in the file.
type cell struct {
	kind     string
	source   string
	outputs  []output
	from, to int
}

// Parse reads a notebook, or returns false if raw is none.
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

// lines is text encoded as one string or a list of lines.
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

// Apply converts changes of Text, sorted and disjoint, to changes of the file.
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

// trimmed strips the unchanged ends from a change, so that an edit may include text around a
// source.
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

// settle ignores the line break that Text adds after a source without one.
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

// written encodes a source as JSON in the style of the old one.
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

// indents returns the space before the first line and after the last: as in the old list, or one
// level deeper than its line.
func (b *Book) indents(p part) (open, shut string) {
	old := b.raw[p.from+1 : p.to-1]
	if inner := strings.TrimSpace(old); inner != "" {
		at := strings.Index(old, inner)
		return old[:at], old[at+len(inner):]
	}
	line := b.raw[strings.LastIndexByte(b.raw[:p.from], '\n')+1 : p.from]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if !strings.Contains(b.raw, "\n ") && !strings.Contains(b.raw, "\n\t") {
		return "", "" // all on one line
	}
	return "\n" + indent + " ", "\n" + indent
}

// cmpSpace returns the space between two lines in a list that begins with open.
func cmpSpace(open string) string {
	if open == "" {
		return " "
	}
	return open
}

// quoted encodes a JSON string without the HTML escapes.
func quoted(s string) string {
	out, _ := jsontext.Marshal(s) // cannot fail for a string
	return string(out)
}
