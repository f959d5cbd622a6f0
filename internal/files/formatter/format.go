// Package formatter runs the user's formatters over a text: gofmt, prettier, black, rustfmt, and
// whatever else reads a text and writes it anew.
//
// The one rule: a formatter gets a text and gives one back; it is shown no file to write to, and
// what it says is taken only when it ended well and in time. It runs in the workspace, where its
// settings are, and interpreters below it are led to no code there.
//
// Start reading at Formatters.Format. Known limits: a formatter that can only rewrite files in
// place is none here.
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

// Bounds of a run.
const (
	DefaultTime = 5 * time.Second
	maxText     = 4 << 20 // bytes, in and out
	maxWords    = 300     // of what it complains
)

// Formatter is one program.
type Formatter struct {
	Name    string
	Files   []string // endings with their point, in small letters
	Command []string // reads the text on standard input and writes it to standard output; {file} is the file's path
	// May says right before each run whether it may take code from the workspace: inside, it runs in a
	// full sandbox only. If nil, it takes none.
	May func() (inside bool, err error)
}

// Formatters are those of one workspace. The first that fits a file is used.
type Formatters struct {
	Dir        string // the workspace
	All        []Formatter
	Supervisor proc.Supervisor
	Env        []string
	Time       time.Duration // if 0, DefaultTime
}

// For finds the formatter of a file.
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

// Format gives the text as the formatter of its file writes it, and the formatter's name; "" when
// there is none. An error says why the text stays as it is.
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

// complaint is the beginning of what a program said.
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
