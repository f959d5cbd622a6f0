package toolset

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"adze/tool"
)

// part is an element of a command: one argument, or a group of arguments that is left out as a
// whole when the call lacks one of its values.
type part struct {
	words []word
	group bool
}

// word is an argument with its placeholders: texts[0] names[0] texts[1] names[1] … texts[n].
type word struct {
	texts, names []string
}

// whole is the name of a word that is a placeholder and nothing else.
func (w word) whole() (string, bool) {
	if len(w.names) == 1 && w.texts[0]+w.texts[1] == "" {
		return w.names[0], true
	}
	return "", false
}

// UnmarshalJSON reads a string or a list of strings.
func (p *part) UnmarshalJSON(raw []byte) error {
	var one string
	var many []string
	if err := json.Unmarshal(raw, &one); err == nil {
		many = []string{one}
	} else if err := json.Unmarshal(raw, &many); err != nil {
		return fmt.Errorf("an element of command is a string or a list of strings, not %.40s", raw)
	} else {
		p.group = true
	}
	for _, text := range many {
		w, err := parseWord(text)
		if err != nil {
			return err
		}
		p.words = append(p.words, w)
	}
	return nil
}

// parseWord finds the placeholders {name}; {{ and }} stand for braces.
func parseWord(text string) (w word, err error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "{{"), strings.HasPrefix(text[i:], "}}"):
			b.WriteByte(text[i])
			i++
		case text[i] == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 2 || strings.Contains(text[i+1:i+end], "{") {
				return w, fmt.Errorf("%q in command has a brace that belongs to no {name}; write {{ and }} for braces", text)
			}
			w.texts, w.names = append(w.texts, b.String()), append(w.names, text[i+1:i+end])
			b.Reset()
			i += end
		case text[i] == '}':
			return w, fmt.Errorf("%q in command has a brace that belongs to no {name}; write {{ and }} for braces", text)
		default:
			b.WriteByte(text[i])
		}
	}
	w.texts = append(w.texts, b.String())
	return w, nil
}

// argv is the command of a call. The vector is as complete as it can be also beside an error, for
// the gate.
func (d *declared) argv(raw json.RawMessage) (argv []string, err error) {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(raw, &values); err != nil {
		return nil, tool.Fail(tool.CodeInvalidArguments, "the arguments are not a JSON object; give an object")
	}
	options := true // until a word -- ends them
	for _, p := range d.Command {
		if p.lacks(values) {
			continue
		}
		for _, w := range p.words {
			args := w.expand(values)
			if _, whole := w.whole(); whole && options && !d.AllowDashes {
				err = cmp.Or(err, noDash(w.names[0], values[w.names[0]], args))
			}
			argv = append(argv, args...)
			options = options && !(len(w.names) == 0 && w.texts[0] == "--")
		}
	}
	for _, arg := range argv {
		if strings.Contains(arg, "\x00") {
			err = cmp.Or(err, tool.Fail(tool.CodeInvalidArguments, "an argument holds a NUL character, which no program can be given; leave it out"))
		}
	}
	return argv, err
}

// noDash refuses texts that the program would take for an option. A number may be negative.
func noDash(name string, raw json.RawMessage, args []string) error {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") && !(len(raw) > 0 && raw[0] == '-') {
			return tool.Fail(tool.CodeInvalidArguments, "%s begins with a dash, so the program could take it for an option; for a file write ./%.40s", name, arg)
		}
	}
	return nil
}

// lacks reports that a value of the part was not given.
func (p part) lacks(values map[string]json.RawMessage) bool {
	for _, w := range p.words {
		for _, name := range w.names {
			if raw, ok := values[name]; !ok || string(raw) == "null" {
				return true
			}
		}
	}
	return false
}

// expand makes one argument of a word; a list that is a whole word makes one of each item.
func (w word) expand(values map[string]json.RawMessage) []string {
	if name, ok := w.whole(); ok {
		var items []json.RawMessage
		if json.Unmarshal(values[name], &items) == nil {
			args := make([]string, len(items))
			for i, item := range items {
				args[i] = argument(item)
			}
			return args
		}
	}
	var b strings.Builder
	for i, text := range w.texts {
		b.WriteString(text)
		if i < len(w.names) {
			b.WriteString(argument(values[w.names[i]]))
		}
	}
	return []string{b.String()}
}

// argument is a string byte for byte, and any other value as JSON.
func argument(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && string(raw) != "null" {
		return text
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
