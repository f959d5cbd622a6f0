package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
const maxMends = 16

// fit is how a model at a server wants requests, as its refusals say. It holds for every format and
// for the next processes, but for what may be the fault of one conversation.
type fit struct {
	Most   int               // the longest answer; if 0, not known
	Freely bool              // takes no choice of tools
	Simple bool              // takes only simple schemas
	Lacks  map[string]string // tools that were refused: what the server said, by toolKey
	Blind  bool              // takes no pictures
	Alone  bool              // takes no calls of earlier answers where no tool is offered
	// Template says that its template knows no calls: those of earlier answers become text.
	Template bool
	// Foreign says the same of conversations that another model began, up to its last call, and
	// Muted that what stands there is sent without thoughts.
	Foreign, Muted bool
	Text           bool `json:"-"` // takes no calls of earlier answers
	Unvoiced       bool `json:"-"` // takes no thoughts of earlier answers
	Quirks         Quirks
}

func (f fit) clone() fit {
	f.Lacks, f.Quirks = maps.Clone(f.Lacks), maps.Clone(f.Quirks)
	return f
}

// toolKey names a tool with its schema: one that is mended is offered again.
func toolKey(d tool.Definition) string {
	sum := sha256.Sum256(d.Offered())
	return d.Name + " " + hex.EncodeToString(sum[:4])
}

// Ask makes a request by try, which sends it and reads the answer to its end. A request that the
// server refuses is changed by what the refusal says, and made again: for every format, this is the
// one place where that happens. The user is told of each change, and a finding about a model holds
// for its next requests once one went well.
func (a *Adapter) Ask(ctx context.Context, r session.Request, try func(*Out, session.Request, Quirks) (session.Done, error)) iter.Seq[session.Chunk] {
	return Stream(ctx, func(out *Out) (session.Done, error) {
		m := mender{adapter: a, whole: r, fit: a.recall(r.Model)}
		m.remind()
		unread := "" // what is to be said of pictures
		for tries := 0; ; tries++ {
			asked, names := m.request()
			out.names, out.first = names, m.mended
			done, err := try(out, asked, m.quirks())
			if text := a.Cache.unread(); text != "" {
				unread = strings.TrimPrefix(unread+"; "+text, "; ")
			}
			if unread != "" && err == nil {
				done.Notice = strings.TrimPrefix(done.Notice+"; "+unread, "; ")
			}
			if err == nil || out.begun {
				if m.learned && err == nil {
					a.know(r.Model, m.fit)
				}
				return done, err
			}
			refusal := refusalOf(err)
			if tries == maxMends || ctx.Err() != nil || refusal == nil {
				return done, err
			}
			switch {
			case m.quirk(refusal), m.learn(refusal, asked):
				m.learned = true
			case a.forget(r.Model): // what an earlier process learned may hold no longer
				m = mender{adapter: a, whole: r}
			default:
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
	learned bool            // the fit is another one than was known
}

// learn changes what is asked next; if false, the refusal cannot be answered.
func (m *mender) learn(r *Refusal, asked session.Request) bool {
	f := &m.fit
	server := r.Status >= 500 || r.Status == 0
	switch {
	case r.aboutBound() && m.bounded(r):
		return true
	case r.says("tool_choice", "tool choice", "toolchoice") && asked.Choice != session.ChooseFreely && !f.Freely:
		f.Freely = true
		return true
	case len(asked.Tools) > 0 && NoTools(&session.ProviderError{Kind: session.RequestError, Err: r}):
		return false // whoever offers tools in words does
	case len(asked.Tools) > 0 && r.aboutSchema() && m.without(r, asked):
		return true
	case r.blind() && m.shows() && !f.Blind:
		f.Blind = true
		m.note("takes no pictures and documents: it gets a note in their place")
		return true
	case r.aboutPart() && m.leave(r):
		return true
	case r.aboutHistory() && !server || r.aboutTemplate():
		if m.history(r, asked) {
			return true
		}
	}
	return r.vague() && m.leave(r)
}

// bounded takes the longest answer from the words of a refusal.
func (m *mender) bounded(r *Refusal) bool {
	most, once := r.bound()
	switch known := cmp.Or(m.once, m.fit.Most); {
	case most < leastAnswer || known > 0 && most >= known:
		return false
	case once:
		m.once = most
	default:
		m.fit.Most = most
		m.note(fmt.Sprintf("gives at most %d tokens of an answer, and is asked for no more", most))
	}
	return true
}

// without leaves out the tools that a refusal names. Where it names none, their schemas are made
// simple; then the tools of MCP servers are left out.
func (m *mender) without(r *Refusal, asked session.Request) bool {
	names := r.tools(asked.Tools)
	if len(names) == 0 && !m.fit.Simple {
		m.fit.Simple = true
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
	if m.fit.Lacks == nil || len(m.fit.Lacks) > maxLacks {
		m.fit.Lacks = map[string]string{}
	}
	for _, d := range asked.Tools {
		if slices.Contains(names, d.Name) {
			m.fit.Lacks[toolKey(d)] = clip(r.Text, 200)
			m.note(fmt.Sprintf("refuses the schema of the tool %s%s, which is left out (%s)", d.Name, serverOf(d), clip(r.Text, 200)))
			m.mended.Tools = append(m.mended.Tools, d.Name)
		}
	}
	return len(names) > 0
}

// maxLacks bounds the tools that are known to be refused.
const maxLacks = 256

// once remembers for which models something was said.
type once struct{ said sync.Map }

// first reports that nothing of this kind was said of a model before.
func (o *once) first(model string) bool {
	_, before := o.said.LoadOrStore(model, true)
	return !before
}

// remind tells once in a process which tools are left out for what an earlier one was answered.
func (m *mender) remind() {
	if len(m.fit.Lacks) == 0 || !m.adapter.reminded.first(m.whole.Model) {
		return
	}
	for _, d := range m.whole.Tools {
		if why, lacks := m.fit.Lacks[toolKey(d)]; lacks {
			m.note(fmt.Sprintf("refused the schema of the tool %s%s before, which is left out (%s)", d.Name, serverOf(d), why))
			m.mended.Tools = append(m.mended.Tools, d.Name)
		}
	}
}

// serverOf says which MCP server a tool is of; if empty, none.
func serverOf(d tool.Definition) string {
	if i := slices.Index(d.Tags, "mcp"); i >= 0 && i+1 < len(d.Tags) {
		return " of the MCP server " + d.Tags[i+1]
	}
	return ""
}

// history has earlier answers sent otherwise, with each refusal less of what they were made of:
// those of a conversation that another model began, and all where a model refuses its own.
func (m *mender) history(r *Refusal, asked session.Request) bool {
	f := &m.fit
	answered := slices.ContainsFunc(m.whole.Messages, func(msg session.Message) bool { return msg.Role == session.Assistant })
	foreign := m.foreign() > 0
	switch {
	case !answered || f.Text || f.Template:
		return false
	case r.aboutThoughts() && !f.Unvoiced && !(foreign && f.Muted):
		f.Muted, f.Unvoiced = f.Muted || foreign, !foreign
		m.note("refuses the thoughts of earlier answers, which are left out")
	case len(asked.Tools) == 0 && !f.Alone && called(m.whole.Messages):
		f.Alone = true
		m.note("refuses earlier calls beside no tools: they are sent as text")
	default:
		f.Template = r.aboutTemplate()
		f.Text, f.Foreign = !foreign || f.Foreign, f.Foreign || foreign
		m.note("refuses earlier calls and their results as they were: they are sent as text")
	}
	return true
}

// foreign is how many messages there are up to the last call of another model, with its results.
func (m *mender) foreign() (end int) {
	for i, msg := range m.whole.Messages {
		own := msg.Model == m.whole.Model && msg.Provider == m.adapter.Name()
		if msg.Role == session.Assistant && !own && len(msg.Calls()) > 0 || end == i && msg.Role == session.ToolRole {
			end = i + 1
		}
	}
	return end
}

func called(messages []session.Message) bool {
	return slices.ContainsFunc(messages, func(m session.Message) bool { return m.Role == session.ToolRole })
}

// leave leaves out pictures and documents: those of the newest message that has any, then all.
func (m *mender) leave(r *Refusal) bool {
	if m.all || m.fit.Blind {
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
	r.MaxTokens = cmp.Or(r.MaxTokens, m.adapter.Options.MaxTokens)
	for _, most := range []int{f.Most, m.once} {
		if most > 0 && (r.MaxTokens == 0 || r.MaxTokens > most) {
			r.MaxTokens = most
		}
	}
	if f.Freely {
		r.Choice = session.ChooseFreely
	}
	var names map[string]map[string]string
	r, names = m.adapter.schemas.fit(r, f)
	inText, silent := 0, 0
	if f.Foreign || f.Muted {
		silent = m.foreign()
	}
	if f.Foreign {
		inText = silent
	}
	if f.Blind || len(m.parts) > 0 || f.Unvoiced || silent > 0 {
		r.Messages = slices.Clone(r.Messages)
		for i, msg := range r.Messages {
			switch {
			case f.Blind && msg.Shows():
				msg = msg.WithoutPictures("[%s cannot be shown to you: you take no pictures]")
			case m.parts[msg.ID]:
				msg = msg.WithoutPictures(session.RefusedPart)
			}
			if f.Unvoiced || i < silent {
				msg = silenced(msg)
			}
			r.Messages[i] = msg
		}
	}
	if f.Text || f.Template || f.Alone && len(r.Tools) == 0 {
		inText = len(r.Messages)
	}
	if inText > 0 {
		r.Messages = append(Texts(r.Messages[:inText]), r.Messages[inText:]...)
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
