package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"adze/internal/print"
	"adze/internal/safeterm"
	"adze/internal/secret"
	"adze/session"
)

// Env is what a command says its answer with.
type Env struct {
	In, Out *os.File
	Err     io.Writer
	Getenv  func(string) string
	Mask    func() *secret.Masker // as the configuration says by then
	Hide    func(key string)      // has the masker know a key
	Exit    int                   // of the process, when the command has ended
}

// Conclude ends a command whose answer is its exit code; what it found is said already.
func (e *Env) Conclude(cause session.Cause, message, hint string) {
	e.Exit = print.ExitCode(cause)
	if message != "" {
		print.Complain(print.Masked{To: e.Err, By: e.Mask()}, message, hint)
	}
}

// Show writes lines of our own, into which foreign text was put; controls in it are written out.
func (e *Env) Show(format string, args ...any) {
	fmt.Fprint(e.Out, e.Mask().Text(safeterm.Reveal(fmt.Sprintf(format, args...)).String()))
}

// ShowJSON writes one line for a script.
func (e *Env) ShowJSON(v any) { fmt.Fprintf(e.Out, "%s\n", e.Mask().JSON([]byte(print.Line(v)))) }

func (e *Env) writeJSON(v any) error {
	enc := json.NewEncoder(e.Out)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// pretty prints JSON indented; control characters in it become escapes.
func (e *Env) pretty(before string, raw json.RawMessage) error {
	text, err := indented(raw)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s%s\n", before, text)
	return nil
}

// indented is JSON for a person to read, without control characters.
func indented(raw json.RawMessage) (string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return "", err
	}
	return safeterm.Reveal(b.String()).String(), nil
}
