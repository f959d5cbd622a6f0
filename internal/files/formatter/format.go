// Package formatter runs the user's formatters: gofmt, prettier, black, rustfmt, or any other
// program that rewrites standard input.
//
// The one rule: a formatter gets a text and returns one; it gets no file to write, and its output
// is used only if it succeeds in time. It runs in the workspace, where its configuration is, and
// interpreters are kept from loading code there.
//
// Start reading at Formatters.Format. Known limits: formatters that only rewrite files in place are
// not supported.
package formatter

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"adze/internal/sandbox/proc"
)

// Bounds for a run.
const (
	DefaultTime = 5 * time.Second
	maxText     = 4 << 20 // bytes, in and out
	maxWords    = 300     // for error output
)

// Formatter is a program.
type Formatter struct {
	Name    string
	Files   []string // lower-case extensions with the dot
	Command []string // reads standard input, writes standard output; {file} is the file's path
	// May is called before each run and reports whether the formatter may load code from the
	// workspace: if inside, it runs only in a full sandbox. If nil, it may not.
	May func() (inside bool, err error)
}

// Formatters belong to a workspace. The first one that matches a file is used.
type Formatters struct {
	Dir        string // the workspace
	All        []Formatter
	Supervisor proc.Supervisor
	Env        []string
	Time       time.Duration // if 0, DefaultTime
}

// For returns the formatter for a file.
func (f *Formatters) For(path string) (Formatter, bool) {
	if f == nil {
		return Formatter{}, false
	}
	ending := strings.ToLower(filepath.Ext(path))
	i := slices.IndexFunc(f.All, func(one Formatter) bool { return slices.Contains(one.Files, ending) })
	if i < 0 {
		return Formatter{}, false
	}
	return f.All[i], true
}

// Format returns the formatted text and the formatter's name, "" if there is none. An error
// explains why the text is unchanged.
func (f *Formatters) Format(ctx context.Context, path, text string) (formatted, name string, err error) {
	one, ok := f.For(path)
	if !ok || len(text) > maxText {
		return text, "", nil
	}
	c := proc.Command{Dir: f.Dir, Env: proc.Isolated(f.Env, f.Dir, one.Command...), Tag: "format-" + one.Name, Input: []byte(text), Separate: true, Head: maxText, Tail: 1, MaxOutput: maxText, Timeout: f.Time}
	if c.Timeout == 0 {
		c.Timeout = DefaultTime
	}
	if one.May != nil {
		if c.RequireWalls, err = one.May(); err != nil {
			return text, one.Name, err
		}
	}
	c.UserWords = one.Command
	for _, word := range one.Command {
		c.Argv = append(c.Argv, strings.ReplaceAll(word, "{file}", path))
	}
	p, err := f.Supervisor.Start(ctx, c)
	if err != nil {
		return text, one.Name, err
	}
	r := p.Wait()
	switch {
	case ctx.Err() != nil:
		return text, one.Name, ctx.Err()
	case r.Killed == proc.Timeout:
		return text, one.Name, fmt.Errorf("it did not end within %s", c.Timeout)
	case r.Killed != proc.ByItself:
		return text, one.Name, fmt.Errorf("it was ended: %w", r.Err())
	case r.Code != 0:
		return text, one.Name, fmt.Errorf("exit code %d%s", r.Code, complaint(r.Errors.Head))
	case r.Output.OmittedBytes > 0:
		return text, one.Name, fmt.Errorf("it wrote more than %d MiB", maxText>>20)
	case strings.TrimSpace(r.Output.Head) == "" && strings.TrimSpace(text) != "":
		return text, one.Name, fmt.Errorf("it wrote nothing")
	}
	return r.Output.Head, one.Name, nil
}

// complaint returns the start of a program's error output.
func complaint(words string) string {
	words = strings.TrimSpace(words)
	if words == "" {
		return ""
	}
	if len(words) > maxWords {
		words = strings.ToValidUTF8(words[:maxWords], "") + "…"
	}
	return ": " + words
}
