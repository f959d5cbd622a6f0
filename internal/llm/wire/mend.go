package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"adze/session"
	"adze/tool"
)

// maxMends bounds how often one request is sent again, each time changed by what a server said of
// the last.
const maxMends = 8

// fit is how a model at a server wants requests, as its refusals say. It holds for every format.
type fit struct {
	most     int               // the longest answer; if 0, not known
	freely   bool              // takes no choice of tools
	simple   bool              // takes only simple schemas
	lacks    map[string]string // tools that were refused: what the server said, by name
	blind    bool              // takes no pictures
	unvoiced bool              // takes no thoughts of earlier answers
	alone    bool              // takes no calls of earlier answers where no tool is offered
	text     bool              // takes no calls of earlier answers: they become text
}

// fits are those that are known, by model. The zero value is ready; it is safe for concurrent use.
type fits struct {
	mu    sync.Mutex
	known map[string]fit
}

func (f *fits) of(model string) fit {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.known[model]
	known.lacks = maps.Clone(known.lacks)
	return known
}

func (f *fits) keep(model string, known fit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[string]fit{}
	}
	f.known[model] = known
}

// Ask makes a request by try, which sends it and reads the answer to its end. A request that the
// server refuses is changed by what the refusal says, and made again: for every format, this is the
// one place where that happens. The user is told of each change, and a finding about a model holds
// for its next requests once one went well.
func (a *Adapter) Ask(ctx context.Context, r session.Request, try func(*Out, session.Request) (session.Done, error)) iter.Seq[session.Chunk] {
	return Stream(ctx, func(out *Out) (session.Done, error) {
		m := mender{adapter: a, whole: r, fit: a.fits.of(r.Model)}
		for tries := 0; ; tries++ {
			asked, names := m.request()
			out.names, out.first = names, m.mended
			done, err := try(out, asked)
			if err == nil || out.begun {
				if tries > 0 {
					a.fits.keep(r.Model, m.fit)
				}
				return done, err
			}
			if refusal := refusalOf(err); tries == maxMends || ctx.Err() != nil || refusal == nil || !m.learn(refusal, asked) {
				return done, err
			}
		}
	})
}

// mender changes one request until its server takes it.
type mender struct {
	adapter *Adapter
	whole   session.Request
	fit     fit
	once    int             // the longest answer for this prompt; if 0, any
	parts   map[string]bool // ids of messages whose pictures and documents are left out
	mended  *session.Mended // to be told with the first piece of the answer
	all     bool            // no pictures at all
}

// learn changes what is asked next; if false, the refusal cannot be answered.
func (m *mender) learn(r *Refusal, asked session.Request) bool {
	f := &m.fit
	server := r.Status >= 500 || r.Status == 0
	switch {
	case r.aboutBound() && m.bounded(r):
		return true
	case r.says("tool_choice", "tool choice", "toolchoice") && asked.Choice != session.ChooseFreely && !f.freely:
		f.freely = true
		return true
	case len(asked.Tools) > 0 && NoTools(&session.ProviderError{Kind: session.RequestError, Err: r}):
		return false // whoever offers tools in words does
	case len(asked.Tools) > 0 && r.aboutSchema() && m.without(r, asked):
		return true
	case r.blind() && m.shows() && !f.blind:
		f.blind = true
		m.note("takes no pictures and documents: it gets a note in their place")
		return true
	case r.aboutPart() && m.leave(r):
		return true
	case r.aboutHistory() && !server || r.says("jinja", "template", "alternat", "rendering prompt"):
		if m.history(r, asked) {
			return true
		}
	}
	return r.vague() && m.leave(r)
}

// bounded takes the longest answer from the words of a refusal.
func (m *mender) bounded(r *Refusal) bool {
	most, once := r.bound()
	switch known := cmp.Or(m.once, m.fit.most); {
	case most < leastAnswer || known > 0 && most >= known:
		return false
	case once:
		m.once = most
	default:
		m.fit.most = most
		m.note(fmt.Sprintf("gives at most %d tokens of an answer, and is asked for no more", most))
	}
	return true
}

// without leaves out the tools that a refusal names. Where it names none, their schemas are made
// simple; then the tools of MCP servers are left out.
func (m *mender) without(r *Refusal, asked session.Request) bool {
	names := r.tools(asked.Tools)
	if len(names) == 0 && !m.fit.simple {
		m.fit.simple = true
		m.note("refuses the schema of a tool without saying of which: all are sent in a simple form")
		return true
	}
	if len(names) == 0 {
		for _, d := range asked.Tools {
			if serverOf(d) != "" {
				names = append(names, d.Name)
			}
		}
	}
	if m.fit.lacks == nil {
		m.fit.lacks = map[string]string{}
	}
	for _, d := range asked.Tools {
		if slices.Contains(names, d.Name) {
			m.fit.lacks[d.Name] = clip(r.Text, 200)
			m.note(fmt.Sprintf("refuses the schema of the tool %s%s, which is left out (%s)", d.Name, serverOf(d), clip(r.Text, 200)))
			m.mended.Tools = append(m.mended.Tools, d.Name)
		}
	}
	return len(names) > 0
}

// serverOf says which MCP server a tool is of; if empty, none.
func serverOf(d tool.Definition) string {
	if i := slices.Index(d.Tags, "mcp"); i >= 0 && i+1 < len(d.Tags) {
		return " of the MCP server " + d.Tags[i+1]
	}
	return ""
}

// history has earlier answers sent otherwise, with each refusal less of what they were made of.
func (m *mender) history(r *Refusal, asked session.Request) bool {
	f := &m.fit
	answered := slices.ContainsFunc(m.whole.Messages, func(msg session.Message) bool { return msg.Role == session.Assistant })
	switch {
	case !answered || f.text:
		return false
	case r.aboutThoughts() && !f.unvoiced:
		f.unvoiced = true
		m.note("refuses the thoughts of earlier answers, which are left out")
	case len(asked.Tools) == 0 && !f.alone && called(m.whole.Messages):
		f.alone = true
		m.note("refuses earlier calls beside no tools: they are sent as text")
	default:
		f.text = true
		m.note("refuses earlier calls and their results as they were: they are sent as text")
	}
	return true
}

func called(messages []session.Message) bool {
	return slices.ContainsFunc(messages, func(m session.Message) bool { return m.Role == session.ToolRole })
}

// leave leaves out pictures and documents: those of the newest message that has any, then all.
func (m *mender) leave(r *Refusal) bool {
	if m.all || m.fit.blind {
		return false
	}
	m.all = m.parts != nil
	m.parts = map[string]bool{}
	for _, msg := range slices.Backward(m.whole.Messages) {
		if msg.Shows() && (m.all || len(m.parts) == 0) {
			m.parts[msg.ID] = true
		}
	}
	if len(m.parts) == 0 {
		return false
	}
	m.note("refuses a picture or document, which is left out of the conversation (" + clip(r.Text, 200) + ")")
	m.mended.Messages = slices.Sorted(maps.Keys(m.parts))
	return true
}

func (m *mender) shows() bool {
	return slices.ContainsFunc(m.whole.Messages, func(msg session.Message) bool { return msg.Shows() })
}

// note adds what the user is told.
func (m *mender) note(what string) {
	if m.mended == nil {
		m.mended = &session.Mended{}
	}
	text := m.whole.Model + " at " + m.adapter.Name() + " " + what
	if !slices.Contains(m.mended.Why, text) {
		m.mended.Why = append(m.mended.Why, text)
	}
}

// request is the request as the server is known to take it, and the real names of arguments.
func (m *mender) request() (session.Request, map[string]map[string]string) {
	r, f := m.whole, &m.fit
	own := cmp.Or(r.MaxTokens, m.adapter.Options.MaxTokens)
	for _, most := range []int{f.most, m.once} {
		if most > 0 && (own == 0 || own > most) {
			own, r.MaxTokens = most, most
		}
	}
	if f.freely {
		r.Choice = session.ChooseFreely
	}
	var names map[string]map[string]string
	r, names = m.adapter.schemas.fit(r, f)
	if f.blind || len(m.parts) > 0 || f.unvoiced {
		r.Messages = slices.Clone(r.Messages)
		for i, msg := range r.Messages {
			switch {
			case f.blind && msg.Shows():
				msg = msg.WithoutPictures("[%s cannot be shown to you: you take no pictures]")
			case m.parts[msg.ID]:
				msg = msg.WithoutPictures(session.RefusedPart)
			}
			if f.unvoiced {
				msg = silenced(msg)
			}
			r.Messages[i] = msg
		}
	}
	if f.text || f.alone && len(r.Tools) == 0 {
		r.Messages = Texts(r.Messages)
	}
	return r, names
}

// silenced is an answer without its thoughts and what belongs to them.
func silenced(m session.Message) session.Message {
	if m.Role != session.Assistant || !slices.ContainsFunc(m.Parts, func(p session.Part) bool { return p.Kind == session.ReasoningPart }) {
		return m
	}
	m.ID += "-said"
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p session.Part) bool { return p.Kind == session.ReasoningPart })
	return m
}

// Texts is a conversation whose calls and results are text, and whose sides alternate. The same
// messages give the same bytes, however often they are sent.
func Texts(messages []session.Message) (out []session.Message) {
	for _, m := range History(messages) {
		m = inText(m)
		if last := len(out) - 1; last >= 0 && out[last].Role == m.Role {
			out[last] = joined(out[last], m)
			continue
		}
		out = append(out, m)
	}
	return out
}

// inText writes the calls and results of a message as text, without thoughts. A message that has
// none of these stays as it is.
func inText(m session.Message) session.Message {
	if !slices.ContainsFunc(m.Parts, func(p session.Part) bool { return p.Call != nil || p.Outcome != nil }) {
		return silenced(m)
	}
	out := m
	out.ID, out.Parts = m.ID+"-text", nil
	if m.Role == session.ToolRole {
		out.Role = session.User
	}
	for _, part := range m.Parts {
		switch {
		case part.Call != nil:
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: callText(*part.Call)})
		case part.Outcome != nil:
			out.Parts = append(out.Parts, session.Part{Kind: session.TextPart, Text: outcomeText(*part.Outcome)})
			for _, a := range part.Outcome.Attachments {
				out.Parts = append(out.Parts, session.Part{Kind: session.AttachmentPart, Attachment: &a})
			}
		case part.Kind != session.ReasoningPart:
			out.Parts = append(out.Parts, part)
		}
	}
	return out
}

func callText(c tool.RawCall) string {
	arguments := json.RawMessage(c.Arguments)
	switch {
	case strings.TrimSpace(c.Arguments) == "":
		arguments = json.RawMessage("{}")
	case !json.Valid(arguments):
		arguments = JSON(c.Arguments) // as the model wrote them
	}
	return "\n<tool_call>\n" + string(JSON(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}{c.Name, arguments})) + "\n</tool_call>"
}

func outcomeText(o tool.Outcome) string {
	return "<tool_response name=" + string(JSON(o.Tool)) + ">\n" + o.Output + "\n</tool_response>\n"
}

func joined(a, b session.Message) session.Message {
	a.ID += "+" + b.ID
	a.Parts = append(append(slices.Clip(slices.Clone(a.Parts)), session.Part{Kind: session.TextPart, Text: "\n"}), b.Parts...)
	return a
}
