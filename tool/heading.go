package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Heading says in one row what a call is and what came of it: verb, object and result. It is made
// of what the tool lets be logged of the arguments, so that it may stand wherever a call is shown.
// The model's own words about a call are its Note and never take the place of the object.
type Heading struct {
	// Verb is what is done: read, edit, or $ for a command line.
	Verb string `json:"verb"`
	// Object is what it is done to: a path with its lines, a pattern, the whole command line.
	Object string `json:"object,omitempty"`
	// Note is what the model says that the call is for.
	Note string `json:"note,omitempty"`
	// Result is what came of it, in a few words: 29 lines, +1 −1, exit 1.
	Result string `json:"result,omitempty"`
	// Shape says how much room the call takes where a conversation is shown.
	Shape Shape `json:"shape,omitempty"`
}

// Shape says how much room a call takes where a conversation is shown.
type Shape string

// Shapes. The zero value is a call whose result is shown below its heading.
const (
	// OneRow is a call that only looks: its heading says all, and neighbours with the same verb
	// share a row.
	OneRow Shape = "row"
	// Live is a call whose output is followed while it runs.
	Live Shape = "live"
	// NoRow is a call whose result stands elsewhere on the screen, unless it fails.
	NoRow Shape = "none"
)

// maxObject bounds the object of a heading, in bytes: a command line may hold a whole file.
const maxObject = 8 << 10

// String is the heading on one line, without the note.
func (h Heading) String() string {
	out := strings.TrimSpace(h.Verb + " " + h.Line())
	switch {
	case h.Result == "":
		return out
	case strings.HasPrefix(h.Result, "+"): // the lines of a change belong to its path
		return out + " " + h.Result
	}
	return out + " · " + h.Result
}

// Line is the object on one line: the first of several, and how many there are.
func (h Heading) Line() string {
	text := strings.TrimSpace(h.Object)
	first, rest, more := strings.Cut(text, "\n")
	if !more {
		return text
	}
	return strings.TrimSpace(first) + " … " + strconv.Itoa(strings.Count(rest, "\n")+2) + " lines"
}

// Several reports whether the object has more than one line.
func (h Heading) Several() bool { return strings.Contains(strings.TrimSpace(h.Object), "\n") }

func (h Heading) bounded() Heading {
	if len(h.Object) > maxObject {
		h.Object = strings.ToValidUTF8(h.Object[:maxObject], "") + "…"
	}
	return h
}

// headingOf calls an author's function with what is known. Arguments lack fields that are not
// logged, and metadata is empty until there is some. A field that cannot be decoded stays zero.
func (h *hooks) headingOf(args, meta json.RawMessage) Heading {
	if h.heading == nil {
		return Heading{}
	}
	out, err := sound(func() (Heading, error) {
		in, m := h.args(), h.meta()
		_ = json.Unmarshal(args, in) // a part of it is enough
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

// Heading is what the call is, as far as its arguments tell.
func (h Hydration) Heading() Heading { return h.heading(h.Exposed(), nil) }

func (h Hydration) heading(args, meta json.RawMessage) Heading {
	if h.prepared == nil || h.prepared.heading == nil {
		return Heading{}
	}
	return h.prepared.heading(args, meta)
}

// HeadingOr is a heading, where a call has none, as for tools of others and in older sessions,
// one of its name, its title and its arguments.
func HeadingOr(h Heading, name, title string, args json.RawMessage) Heading {
	if h.Verb != "" {
		return h
	}
	var fields map[string]any
	_ = json.Unmarshal(args, &fields) // no fields: the title alone
	if command, ok := fields["command"].(string); ok && command != "" {
		note, _ := fields["description"].(string)
		workdir, _ := fields["workdir"].(string)
		return Heading{Verb: strings.TrimSpace(workdir + " $"), Object: command, Note: note}.bounded()
	}
	return Heading{Verb: name, Object: cmp.Or(title, fieldsLine(fields))}.bounded()
}

// Headed is the outcome's heading, as HeadingOr makes it.
func (o Outcome) Headed() Heading { return HeadingOr(o.Heading, o.Tool, o.Title, o.Record.Args) }

// fieldsLine is one line of arguments. Purpose and place come first, as they are; the rest has its
// names.
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

// InWords says a stable code in words for a user; the code itself is for JSON and the model.
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
