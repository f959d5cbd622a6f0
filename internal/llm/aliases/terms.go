package aliases

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"adze/session"
	"adze/tool"
)

// terms are the names that hold in one request: a name that another tool has is not given to a
// second one.
type terms struct {
	names Names
	back  map[string]string // real names by those that are shown
	fewer bool              // some are left out
}

func newTerms(names Names, offered []tool.Definition) terms {
	t := terms{names: names, back: map[string]string{}}
	for real, shown := range names.Tools {
		if slices.ContainsFunc(offered, func(d tool.Definition) bool { return d.Name == shown }) {
			t.fewer = true
			continue
		}
		t.back[shown] = real
	}
	return t
}

// shown is the name that the model is told for a tool; its own where it has no other.
func (t terms) shown(real string) string {
	if name := t.names.Tools[real]; t.back[name] == real && name != "" {
		return name
	}
	return real
}

// real is the tool that the model means.
func (t terms) real(shown string) string {
	if name, ok := t.back[shown]; ok {
		return name
	}
	return shown
}

// definition is a tool as the model is told of it. Its real name counts as one that models use
// instead.
func (t terms) definition(d tool.Definition) tool.Definition {
	name, arguments := t.shown(d.Name), t.names.Arguments[d.Name]
	if name == d.Name && len(arguments) == 0 {
		return d
	}
	if name != d.Name {
		d.Aliases = append(slices.DeleteFunc(slices.Clone(d.Aliases), func(a string) bool { return a == name }), d.Name)
		d.Name = name
	}
	for real, shown := range arguments {
		d.Description = reword(d.Description, real, shown)
		d.Parameters = []byte(reword(string(d.Parameters), real, shown))
		d.ProviderSchema = []byte(reword(string(d.ProviderSchema), real, shown))
	}
	return d
}

// concerns reports whether other words are said in a part.
func (t terms) concerns(p session.Part) bool {
	switch {
	case p.Kind == session.CallPart && p.Call != nil:
		return t.shown(p.Call.Name) != p.Call.Name || len(t.names.Arguments[p.Call.Name]) > 0
	case p.Kind == session.OutcomePart && p.Outcome != nil:
		return t.shown(p.Outcome.Tool) != p.Outcome.Tool || t.hint(*p.Outcome) != p.Outcome.Output
	case p.Kind == session.TextPart:
		return slices.ContainsFunc(p.Tools, func(name string) bool { return t.shown(name) != name })
	}
	return false
}

// hint is the output of a tool with the names that the model knows in what the tool itself says.
// What may be of a file or a command stays: numbered lines, lines of a change, and everything but
// the note at the end of a call that was done.
func (t terms) hint(o tool.Outcome) string {
	if o.Status == tool.Completed {
		return t.note(o)
	}
	if o.Tool == "bash" || o.Output == "" {
		return o.Output
	}
	var out strings.Builder
	for line := range strings.Lines(o.Output) {
		if !strings.ContainsAny(line[:1], " \t+-@|0123456789>") {
			for real, shown := range t.names.Arguments[o.Tool] {
				line = reword(line, real, shown)
			}
			line = t.advice(line)
		}
		out.WriteString(line)
	}
	return out.String()
}

// note renames tools in the last line of an output, where that is a note of the tool: in
// parentheses behind what it found, or in words that all tools have for an output that was
// shortened.
func (t terms) note(o tool.Outcome) string {
	at := strings.LastIndexByte(o.Output, '\n') + 1
	line := o.Output[at:]
	own := slices.Contains([]string{"read", "glob", "grep", "list"}, o.Tool) && strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")")
	if !own && !strings.HasPrefix(line, "(shortened; the whole is in ") {
		return o.Output
	}
	return o.Output[:at] + t.advice(line)
}

// advice renames tools where words around them show that tools are meant.
func (t terms) advice(line string) string {
	for real := range t.names.Tools {
		for _, phrase := range []string{"use ", "or ", "with ", "Use "} {
			line = reword(line, phrase+real, phrase+t.shown(real))
		}
		for _, phrase := range []string{" shows", " finds"} {
			line = reword(line, real+phrase, t.shown(real)+phrase)
		}
	}
	return line
}

func (t terms) part(p session.Part) session.Part {
	if !t.concerns(p) {
		return p
	}
	if p.Call != nil {
		c := *p.Call
		c.Name, c.Arguments = t.shown(c.Name), rekey(c.Arguments, t.names.Arguments[c.Name])
		p.Call = &c
		return p
	}
	if p.Outcome == nil {
		for _, name := range p.Tools {
			p.Text = reword(p.Text, name, t.shown(name))
		}
		return p
	}
	o := *p.Outcome
	o.Tool, o.Output = t.shown(o.Tool), t.hint(o)
	p.Outcome = &o
	return p
}

// meant is a call with the names that everybody else knows.
func (t terms) meant(c tool.RawCall) tool.RawCall {
	c.Name = t.real(c.Name)
	back := map[string]string{}
	for real, shown := range t.names.Arguments[c.Name] {
		back[shown] = real
	}
	c.Arguments = rekey(c.Arguments, back)
	return c
}

// rekey gives the arguments on the first level other names and leaves every other byte. What is no
// whole JSON object stays as it is, and so does one in which a name would stand twice: the pipeline
// knows both names.
func rekey(arguments string, names map[string]string) string {
	if len(names) == 0 || !json.Valid([]byte(arguments)) {
		return arguments
	}
	keys, ok := keysOf(arguments)
	if !ok {
		return arguments
	}
	var out strings.Builder
	at := 0
	for _, k := range keys {
		to, other := names[k.name]
		if !other {
			continue
		}
		if slices.ContainsFunc(keys, func(x key) bool { return x.name == to || x.name == k.name && x != k }) {
			return arguments
		}
		out.WriteString(arguments[at:k.from] + `"` + to + `"`)
		at = k.to
	}
	return out.String() + arguments[at:]
}

// key is a name on the first level of an object, and where it stands with its quotes.
type key struct {
	name     string
	from, to int
}

// keysOf reads the first level of valid JSON; if false, it is not an object.
func keysOf(text string) (keys []key, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		before := int(d.InputOffset())
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		start := before + strings.IndexByte(text[before:], '"') // behind a comma and white space
		keys = append(keys, key{name.(string), start, int(d.InputOffset())})
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
	}
	return keys, true
}

// reword replaces a whole word.
func reword(text, from, to string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, from)
		if at < 0 {
			return out.String() + text
		}
		end := at + len(from)
		whole := !wordEnds(text[:at]) && !wordBegins(text[end:])
		out.WriteString(text[:at])
		if whole {
			out.WriteString(to)
		} else {
			out.WriteString(from)
		}
		text = text[end:]
	}
}

func wordEnds(s string) bool {
	return s != "" && inWord(rune(s[len(s)-1]))
}

func wordBegins(s string) bool {
	return s != "" && inWord(rune(s[0]))
}

func inWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
