package local

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"adze/session"
	"adze/tool"
)

// Names maps real tool names to those shown to a kind of model.
type Names map[string]string

// Rename shows tools to a model under the names it knows best, and restores the real names in its
// calls. Only the model sees the other names: registry, gate, store, audit and recordings do not.
func Rename(names Names) Decorator {
	return func(p session.Provider) session.Provider {
		n := &renamer{names: names}
		return decorated{p, func(ctx context.Context, r session.Request, yield func(session.Chunk) bool) {
			t := newTerms(names, r.Tools)
			for c := range p.Stream(ctx, n.shown(t, r)) {
				switch said := c.(type) {
				case session.Forming:
					said.Name = t.real(said.Name)
					c = said
				case session.Call:
					said.Name = t.real(said.Name)
					c = said
				}
				if !yield(c) {
					return
				}
			}
		}}
	}
}

// renamer caches renamed messages, so that an unchanged history keeps its values.
type renamer struct {
	names Names

	mu     sync.Mutex
	digest string // of the wrapped tools
	tools  []tool.Definition
	seen   session.ReadMark // of the last conversation
	talk   []session.Message
}

// shown returns a request with the model's names.
func (n *renamer) shown(t toolNames, r session.Request) session.Request {
	if name := t.shownName(string(r.Choice)); name != "" {
		r.Choice = session.Choice(name)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if r.ToolsDigest == "" || r.ToolsDigest != n.digest {
		n.tools, n.digest = make([]tool.Definition, len(r.Tools)), r.ToolsDigest
		for i, d := range r.Tools {
			n.tools[i] = t.definition(d)
		}
	}
	r.Tools = n.tools
	if r.ToolsDigest != "" {
		r.ToolsDigest = "renamed " + r.ToolsDigest
	}
	r.Messages = n.conversation(t, r.Messages)
	return r
}

// conversation renames the messages added since the last request, so that a wrapped provider also
// sees the history grow. If other tools would change the names, it starts over. The caller holds
// n.mu.
func (n *renamer) conversation(t toolNames, messages []session.Message) []session.Message {
	from := n.seen.Advance(messages)
	if from == 0 || t.fewer {
		n.talk, from = make([]session.Message, 0, len(messages)), 0
	}
	for _, m := range messages[from:] {
		m.Parts = t.parts(m.Parts)
		n.talk = append(n.talk, m)
	}
	if t.fewer {
		n.seen = session.ReadMark{}
	}
	return slices.Clip(n.talk)
}

func (t toolNames) parts(given []session.Part) []session.Part {
	out := given
	for i, part := range given {
		shown, other := t.part(part)
		if other && &out[0] == &given[0] {
			out = slices.Clone(given)
		}
		if other {
			out[i] = shown
		}
	}
	return out
}

// toolNames are the names valid for one request: a name is never given to a second tool.
type toolNames struct {
	names Names
	back  map[string]string // real names by shown ones
	fewer bool              // some tools are left out
}

func newTerms(names Names, offered []tool.Definition) toolNames {
	t := toolNames{names: names, back: map[string]string{}}
	for real, shown := range names {
		if slices.ContainsFunc(offered, func(d tool.Definition) bool { return d.Name == shown }) {
			t.fewer = true
			continue
		}
		t.back[shown] = real
	}
	return t
}

// shownName returns the name the model sees for a tool; its own if it has no other.
func (t toolNames) shownName(real string) string {
	if name := t.names[real]; t.back[name] == real && name != "" {
		return name
	}
	return real
}

// real returns the tool that the model means.
func (t toolNames) real(shown string) string {
	if name, ok := t.back[shown]; ok {
		return name
	}
	return shown
}

// definition returns a tool's definition with the model's names. Its real name becomes an alias.
func (t toolNames) definition(d tool.Definition) tool.Definition {
	name := t.shownName(d.Name)
	if name != d.Name {
		d.Aliases = append(slices.DeleteFunc(slices.Clone(d.Aliases), func(a string) bool { return a == name }), d.Name)
		d.Name = name
	}
	return d
}

// hint renames tools in the tool's own notes within its output. It keeps text that may come from a
// file or a command: numbered lines, diff lines, and everything but the note at the end of a
// successful call.
func (t toolNames) hint(o tool.Outcome) string {
	if o.Status == tool.Completed {
		return t.note(o)
	}
	if o.Tool == "bash" || o.Output == "" {
		return o.Output
	}
	var out strings.Builder
	for line := range strings.Lines(o.Output) {
		if !strings.ContainsAny(line[:1], " \t+-@|0123456789>") {
			line = t.advice(line)
		}
		out.WriteString(line)
	}
	return out.String()
}

// note renames tools in an output's last line if that is a note of the tool: in parentheses behind
// its results, or in the fixed words for a shortened output.
func (t toolNames) note(o tool.Outcome) string {
	at := strings.LastIndexByte(o.Output, '\n') + 1
	line := o.Output[at:]
	own := slices.Contains([]string{"read", "glob", "grep", "list"}, o.Tool) && strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")")
	if !own && !strings.HasPrefix(line, "(shortened; the whole is in ") {
		return o.Output
	}
	return o.Output[:at] + t.advice(line)
}

// advice renames tools where the surrounding words show that a tool is meant.
func (t toolNames) advice(line string) string {
	for real := range t.names {
		for _, phrase := range []string{"use ", "or ", "with ", "Use "} {
			line = reword(line, phrase+real, phrase+t.shownName(real))
		}
		for _, phrase := range []string{" shows", " finds"} {
			line = reword(line, real+phrase, t.shownName(real)+phrase)
		}
	}
	return line
}

// part returns a message part with the model's names; other reports whether it differs.
func (t toolNames) part(p session.Part) (shown session.Part, other bool) {
	switch {
	case p.Kind == session.CallPart && p.Call != nil:
		c := *p.Call
		c.Name = t.shownName(c.Name)
		other = c.Name != p.Call.Name
		p.Call = &c
	case p.Kind == session.OutcomePart && p.Outcome != nil:
		o := *p.Outcome
		o.Tool, o.Output = t.shownName(o.Tool), t.hint(o)
		other = o.Tool != p.Outcome.Tool || o.Output != p.Outcome.Output
		p.Outcome = &o
	case p.Kind == session.TextPart:
		text := p.Text
		for _, name := range p.Tools {
			p.Text = reword(p.Text, name, t.shownName(name))
		}
		other = p.Text != text
	}
	return p, other
}

func reword(text, from, to string) string {
	var out strings.Builder
	for {
		at := strings.Index(text, from)
		if at < 0 {
			return out.String() + text
		}
		end := at + len(from)
		word := to
		if at > 0 && inWord(text[at-1:]) || inWord(text[end:]) {
			word = from
		}
		out.WriteString(text[:at] + word)
		text = text[end:]
	}
}

func inWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}
