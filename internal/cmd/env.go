package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"adze/internal/stream"
	"adze/internal/text/redact"
	"adze/internal/text/safeterm"
	"adze/session"
)

// Env is what a command says its answer with.
type Env struct {
	In, Out *os.File
	Err     io.Writer
	Getenv  func(string) string
	Mask    func() *redact.Masker // as the configuration says by then
	Hide    func(key string)      // has the masker know a key
	Exit    int                   // of the process, when the command has ended
	Version string                // of the program
}

// Conclude ends a command whose answer is its exit code; what it found is said already.
func (e *Env) Conclude(cause session.Cause, message, hint string) {
	e.Exit = stream.ExitCode(cause)
	if message != "" {
		stream.Complain(stream.Masked{To: e.Err, By: e.Mask()}, message, hint)
	}
}

// Show writes lines of our own, into which foreign text was put; controls in it are written out.
func (e *Env) Show(format string, args ...any) {
	fmt.Fprint(e.Out, e.Mask().Text(safeterm.Reveal(fmt.Sprintf(format, args...)).String()))
}

// ShowJSON writes one line for a script.
func (e *Env) ShowJSON(v any) { fmt.Fprintf(e.Out, "%s\n", e.Mask().JSON([]byte(stream.Line(v)))) }

// WriteJSON writes one line for a script, and says when it could not.
func (e *Env) WriteJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := e.Out.Write(e.Mask().JSON(b.Bytes()))
	return err
}

// Stdout writes text that is safe for a terminal, whole lines at once, without secrets.
func (e *Env) Stdout() io.Writer { return stream.Masked{To: e.Out, By: e.Mask()} }

// Table lays out rows whose cells are parted by tabs; they are written by Flush.
type Table struct {
	*tabwriter.Writer
	whole *bytes.Buffer
	to    io.Writer
}

// Columns begins a table.
func (e *Env) Columns() *Table {
	whole := &bytes.Buffer{}
	return &Table{tabwriter.NewWriter(whole, 0, 0, 2, ' ', 0), whole, e.Stdout()}
}

// Flush writes the table, without secrets.
func (t *Table) Flush() error {
	if err := t.Writer.Flush(); err != nil {
		return err
	}
	_, err := t.to.Write(t.whole.Bytes())
	return err
}

// pretty prints JSON indented; control characters in it become escapes.
func (e *Env) pretty(before string, raw json.RawMessage) error {
	text, err := indented(raw)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout(), "%s%s\n", before, text)
	return err
}

// indented is JSON for a user to read, without control characters.
func indented(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "", err
	}
	return safeterm.Reveal(b.String()).String(), nil
}
