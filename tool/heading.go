package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Heading describes a call and its result in one row: verb, object and result. It is built only
// from arguments that may be logged, so it may be shown anywhere. The model's own words are in Note
// and never replace the object.
type Heading struct {
	// Verb is the action: read, edit, or $ for a command line.
	Verb string `json:"verb"`
	// Object is a path with its lines, a pattern, or the whole command line.
	Object string `json:"object,omitempty"`
	// Note is the model's purpose for the call.
	Note string `json:"note,omitempty"`
	// Result is a few words: 29 lines, +1 −1, exit 1.
	Result string `json:"result,omitempty"`
	// Shape is the call's size in a shown conversation.
	Shape Shape `json:"shape,omitempty"`
}

// Shape is a call's size in a shown conversation.
type Shape string

// Shapes. The zero value shows the result below the heading.
const (
	// OneRow is a call that only reads: its heading is enough, and neighbors with the same verb
	// share a row.
	OneRow Shape = "row"
	// Live is a call with output to follow while it runs.
	Live Shape = "live"
	// NoRow is a call with its result elsewhere on the screen, unless it fails.
	NoRow Shape = "none"
)

// maxObject limits the heading's object, in bytes: a command line may hold a whole file.
const maxObject = 8 << 10

// String returns the heading on one line, without the note.
func (h Heading) String() string {
	out := strings.TrimSpace(h.Verb + " " + h.Line())
	switch {
	case h.Result == "":
		return out
	case strings.HasPrefix(h.Result, "+"): // changed lines belong to the path
		return out + " " + h.Result
	}
	return out + " · " + h.Result
}

// Line returns the object's first line, and the number of lines if there are more.
func (h Heading) Line() string {
	text := strings.TrimSpace(h.Object)
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return text
	}
	return strings.TrimSpace(first) + " … " + strconv.Itoa(strings.Count(rest, "\n")+2) + " lines"
}

// MultiLine reports whether the object has more than one line.
func (h Heading) MultiLine() bool { return strings.Contains(strings.TrimSpace(h.Object), "\n") }

func (h Heading) bounded() Heading {
	if len(h.Object) > maxObject {
		h.Object = strings.ToValidUTF8(h.Object[:maxObject], "") + "…"
	}
	return h
}

// headingOf calls the author's function. Arguments lack unlogged fields, and metadata may be empty.
// Undecodable fields stay zero.
func (h *hooks) headingOf(args, meta json.RawMessage) Heading {
	if h.heading == nil {
		return Heading{}
	}
	out, err := sound(func() (Heading, error) {
		in, m := h.args(), h.meta()
		_ = json.Unmarshal(args, in) // partial data is enough
		if len(meta) > 0 {
			_ = json.Unmarshal(meta, m)
		}
		return h.heading(in, m), nil
	})
	if err != nil {
		return Heading{}
	}
	return out.bounded()
}

// Heading returns the call's heading, based on its arguments.
func (h Hydration) Heading() Heading { return h.heading(h.Exposed(), nil) }

func (h Hydration) heading(args, meta json.RawMessage) Heading {
	if h.prepared == nil || h.prepared.heading == nil {
		return Heading{}
	}
	return h.prepared.heading(args, meta)
}

// HeadingOr returns h, or if it is empty, as for foreign tools and in older sessions, a heading
// from the name, title and arguments.
func HeadingOr(h Heading, name, title string, args json.RawMessage) Heading {
	if h.Verb != "" {
		return h
	}
	var fields map[string]any
	_ = json.Unmarshal(args, &fields) // without fields: the title alone
	if command, ok := fields["command"].(string); ok && command != "" {
		note, _ := fields["description"].(string)
		workdir, _ := fields["workdir"].(string)
		return Heading{Verb: strings.TrimSpace(workdir + " $"), Object: command, Note: note}.bounded()
	}
	return Heading{Verb: name, Object: cmp.Or(title, fieldsLine(fields))}.bounded()
}

// Headed returns the outcome's heading or a substitute, as HeadingOr does.
func (o Outcome) Headed() Heading { return HeadingOr(o.Heading, o.Tool, o.Title, o.Record.Args) }

// fieldsLine formats arguments on one line. Purpose and place come first, without their names.
func fieldsLine(args map[string]any) string {
	var first, rest []string
	known := []string{"description", "path", "workdir"}
	for _, name := range known {
		if text, ok := args[name].(string); ok && text != "" {
			first = append(first, text)
		}
	}
	for name, v := range args {
		if text, ok := v.(string); ok && text != "" && slices.Contains(known, name) {
			continue
		}
		rest = append(rest, fmt.Sprintf("%s: %v", name, v))
	}
	slices.Sort(rest)
	if len(rest) > 0 {
		first = append(first, strings.Join(rest, ", "))
	}
	return strings.Join(first, " · ")
}

// InWords returns a stable code in words for the user; the code itself is for JSON and the model.
func InWords(code string) string {
	if words, ok := codeWords()[code]; ok {
		return words
	}
	return strings.ReplaceAll(code, "_", " ")
}

func codeWords() map[string]string {
	return map[string]string{
		CodeNotFound:         "not found",
		CodeIsDirectory:      "is a folder",
		CodeNotRegular:       "not a regular file",
		CodeBinary:           "binary file",
		CodeTooLarge:         "too large",
		CodeOutsideWorkspace: "outside the folder",
		CodeProtectedPath:    "protected path",
		CodeStale:            "file changed since it was read",
		CodeNotRead:          "file not read yet",
		CodeNoMatch:          "text not found",
		CodeManyMatches:      "text found more than once",
		CodeNoChange:         "changes nothing",
		CodeInvalidArguments: "wrong arguments",
		CodeInvalidJSON:      "arguments are not JSON",
		CodeTimeout:          "timed out",
		CodeAborted:          "stopped",
		CodeDenied:           "not allowed",
		CodeLimit:            "over a limit",
		CodeEncoding:         "unknown encoding",
		CodeUnknownTool:      "no such tool",
		CodeDuplicateCall:    "ran before",
		CodeIO:               "could not read or write",
		CodeExit:             "failed",
		CodeEnvironment:      "something is missing on this machine",
		CodePanic:            "failed inside",
		CodeFailed:           "failed",
		CodeNoModel:          "no model",
	}
}
