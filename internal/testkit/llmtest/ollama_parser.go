package llmtest

import (
	"encoding/json"
	"strings"
)

// ollamaTools is how Ollama reads calls: text is passed on up to the mark with which the model's
// template begins a call. Behind it everything is held back until the name of an offered tool and
// an object of its arguments are found. What names no offered tool is never sent, but for a mark
// that is a bracket, which may be plain text.
type ollamaTools struct {
	tag     string
	tools   []ollamaOffer
	buffer  string
	calling bool
	done    bool
	calls   int
}

type ollamaOffer struct {
	name       string
	properties map[string]any
}

func newOllamaTools(tag string, body chatBody) *ollamaTools {
	p := &ollamaTools{tag: tag}
	if tag == "" {
		p.tag = "{"
	}
	for _, t := range body.Tools {
		p.tools = append(p.tools, ollamaOffer{t.Function.Name, t.Function.Parameters.Properties})
	}
	return p
}

func (p *ollamaTools) bracket() bool { return p.tag == "{" || p.tag == "[" }

// add takes a piece of text, and returns the calls that are whole and what is plain text.
func (p *ollamaTools) add(text string) (calls []ollamaCall, plain string) {
	if p.done {
		return nil, text
	}
	p.buffer += text
	if !p.calling {
		at, whole := p.find()
		plain, p.buffer = p.buffer[:at], p.buffer[at:]
		if p.bracket() && strings.TrimSpace(plain) != "" { // a bracket begins calls only at the very beginning
			p.done = true
			plain, p.buffer = plain+p.buffer, ""
			return nil, plain
		}
		if !whole {
			return nil, plain
		}
		p.calling = true
	}
	for {
		c, ok := p.call()
		if !ok {
			break
		}
		p.calls++
		calls = append(calls, c)
	}
	if p.bracket() && p.balanced() {
		p.done = true
		plain, p.buffer = plain+p.buffer, ""
	}
	return calls, plain
}

// find is where the mark begins, or may begin at the end of the buffer.
func (p *ollamaTools) find() (at int, whole bool) {
	if at = strings.Index(p.buffer, p.tag); at >= 0 {
		return at, true
	}
	for n := min(len(p.tag)-1, len(p.buffer)); n > 0; n-- {
		if strings.HasSuffix(p.buffer, p.tag[:n]) {
			return len(p.buffer) - n, false
		}
	}
	return len(p.buffer), false
}

// call takes the first call that is whole out of the buffer.
func (p *ollamaTools) call() (ollamaCall, bool) {
	tool, end := p.named()
	if tool == nil {
		return ollamaCall{}, false
	}
	arguments, until := objectOf(tool, p.buffer)
	if arguments == nil {
		if len(tool.properties) > 0 || until < 0 {
			return ollamaCall{}, false
		}
		arguments = map[string]any{}
	}
	p.buffer = p.buffer[max(end, until):]
	return ollamaCall{tool.name, arguments}, true
}

// named finds the offered name that stands first, the longest of those. One that may still grow is
// waited for.
func (p *ollamaTools) named() (*ollamaOffer, int) {
	for i := range p.tools {
		name := p.tools[i].name
		for n := 1; n < len(name) && n <= len(p.buffer); n++ {
			if strings.HasSuffix(p.buffer, name[:n]) {
				return nil, -1
			}
		}
	}
	var best *ollamaOffer
	first := -1
	for i := range p.tools {
		at := strings.Index(p.buffer, p.tools[i].name)
		if at >= 0 && (best == nil || at < first || at == first && len(p.tools[i].name) > len(best.name)) {
			best, first = &p.tools[i], at
		}
	}
	if best == nil {
		return nil, -1
	}
	return best, first + len(best.name)
}

// objectOf finds the first whole object that holds, at any depth, arguments of the tool, and where
// it ends; if -1, none is whole yet.
func objectOf(tool *ollamaOffer, text string) (map[string]any, int) {
	depth, start, quoted := 0, -1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			if depth == 0 {
				start = i
			}
			depth++
		case c == '}' && depth > 0:
			if depth--; depth > 0 {
				continue
			}
			var object map[string]any
			if json.Unmarshal([]byte(text[start:i+1]), &object) != nil {
				continue
			}
			return argumentsIn(tool, object), i + 1
		}
	}
	return nil, -1
}

func argumentsIn(tool *ollamaOffer, value any) map[string]any {
	switch v := value.(type) {
	case map[string]any:
		for name := range tool.properties {
			if _, ok := v[name]; ok {
				return v
			}
		}
		for _, key := range []string{"arguments", "parameters"} { // what models write, before anything else
			if found := argumentsIn(tool, v[key]); found != nil {
				return found
			}
		}
	case []any:
		for _, item := range v {
			if found := argumentsIn(tool, item); found != nil {
				return found
			}
		}
	}
	return nil
}

// balanced reports that every bracket of the mark's kind is closed.
func (p *ollamaTools) balanced() bool {
	closing := map[string]string{"{": "}", "[": "]"}[p.tag]
	open := strings.Count(p.buffer, p.tag)
	return open == strings.Count(p.buffer, closing)
}

// rest is what is sent at the end: nothing of a call that was begun, unless a bracket began it.
func (p *ollamaTools) rest() string {
	if p.calls > 0 || !p.bracket() {
		return ""
	}
	return p.buffer
}

// ollamaThought takes what stands between <think> and </think> out of a text.
type ollamaThought struct {
	begun, over bool
	eaten       bool // white space behind the thought is over
}

func (t *ollamaThought) add(text string) (thinking, plain string) {
	switch {
	case t.over:
		if !t.eaten {
			text = strings.TrimLeft(text, " \n")
			t.eaten = text != ""
		}
		return "", text
	case !t.begun && strings.TrimSpace(text) == "":
		return "", ""
	case !t.begun && strings.Contains(text, "<think>"):
		t.begun = true
		_, text, _ = strings.Cut(text, "<think>")
		return t.add(text)
	case !t.begun:
		t.over, t.eaten = true, true
		return "", text
	}
	thinking, plain, t.over = strings.Cut(text, "</think>")
	if t.over {
		plain = strings.TrimLeft(plain, " \n")
		t.eaten = plain != ""
	}
	return thinking, plain
}
