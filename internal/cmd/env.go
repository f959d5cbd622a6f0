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

// Env holds a command's outputs and settings.
type Env struct {
	In, Out *os.File
	Err     io.Writer
	Getenv  func(string) string
	Mask    func() *redact.Masker // by the current configuration
	Hide    func(key string)      // adds a key to the masker
	Exit    int                   // the process's exit code
	Version string                // adze's version
}

// Conclude ends a command whose result is its exit code. Its output is already printed.
func (e *Env) Conclude(cause session.Cause, message, hint string) {
	e.Exit = stream.ExitCode(cause)
	if message != "" {
		stream.Complain(stream.Masked{Writer: e.Err, Masker: e.Mask()}, message, hint)
	}
}

// Show prints formatted lines. Control characters in the arguments are escaped.
func (e *Env) Show(format string, args ...any) {
	fmt.Fprint(e.Out, e.Mask().Text(safeterm.Reveal(fmt.Sprintf(format, args...)).String()))
}

// ShowJSON prints one JSON line.
func (e *Env) ShowJSON(v any) { fmt.Fprintf(e.Out, "%s\n", e.Mask().JSON([]byte(stream.Line(v)))) }

// WriteJSON prints one JSON line and returns write errors.
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

// Stdout returns a writer of whole lines that masks secrets and is safe for a terminal.
func (e *Env) Stdout() io.Writer { return stream.Masked{Writer: e.Out, Masker: e.Mask()} }

// A Table aligns rows with tab-separated cells. Flush prints them.
type Table struct {
	*tabwriter.Writer
	whole *bytes.Buffer
	to    io.Writer
}

// Columns returns a new table.
func (e *Env) Columns() *Table {
	whole := &bytes.Buffer{}
	return &Table{tabwriter.NewWriter(whole, 0, 0, 2, ' ', 0), whole, e.Stdout()}
}

// Flush prints the table with secrets masked.
func (t *Table) Flush() error {
	if err := t.Writer.Flush(); err != nil {
		return err
	}
	_, err := t.to.Write(t.whole.Bytes())
	return err
}

// pretty prints indented JSON with control characters escaped.
func (e *Env) pretty(before string, raw json.RawMessage) error {
	text, err := indented(raw)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout(), "%s%s\n", before, text)
	return err
}

func indented(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "", err
	}
	return safeterm.Reveal(b.String()).String(), nil
}
