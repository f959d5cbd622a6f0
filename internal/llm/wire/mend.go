package wire

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

// maxMends bounds how often one request is sent again, each time changed by what a server said of
// the last.
const maxMends = 16

// Quirk is a way in which a model or a server differs from its format, as its refusals show. The
// adapter says by Name what it then does otherwise.
type Quirk struct {
	Name string
	// When are words of refusals in lower case: one of each list stands in the text.
	When [][]string
	Once bool // it may be the fault of one conversation, and is forgotten with the process
}

// Quirks are those that are known of a model, by name.
type Quirks map[string]bool

// Quirks that models of every format have.
const (
	freely   = "Freely"   // takes no choice of tools
	simple   = "Simple"   // takes only simple schemas
	blind    = "Blind"    // takes no pictures
	alone    = "Alone"    // takes no calls of earlier answers where no tool is offered
	template = "Template" // its template knows no calls: those of earlier answers become text
	foreign  = "Foreign"  // takes no calls of conversations that another model began, up to its last
	unread   = "Unread"   // takes no calls of earlier answers; forgotten with the process
)

// fit is how a model at a server wants requests, as its refusals say. It holds for the next
// processes too, but for what may be the fault of one conversation.
type fit struct {
	Most   int               // the longest answer; if 0, not known
	Lacks  map[string]string // tools that were refused: what the server said, by toolKey
	Quirks Quirks
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

// lesson is a row of the table of refusals. The words are in lower case.
type lesson struct {
	about   string                           // an expression for the words that it is about
	except  string                           // one for words of something else; optional
	request bool                             // it does not hold for a server that failed
	learn   func(m *mender, r *Refusal) bool // if false, the next request would be the same
}

// lessons are the table, for all formats. The first row that changes something counts.
func lessons() []lesson {
	return []lesson{
		{about: aboutBound, except: `not supported with this model|unsupported parameter|unrecognized|unknown parameter|extra inputs`, learn: (*mender).bounded},
		{about: `tool[_ ]?choice`, learn: func(m *mender, _ *Refusal) bool {
			return m.asked.Choice != session.ChooseFreely && m.quirk(freely, "")
		}},
		{about: aboutSchema, learn: (*mender).without},
		{about: aboutSight, learn: func(m *mender, _ *Refusal) bool {
			return slices.ContainsFunc(m.whole.Messages, session.Message.Shows) && m.quirk(blind, "takes no pictures and documents: it gets a note in their place")
		}},
		{about: aboutPart, learn: (*mender).leave},
		{about: aboutTemplate, learn: func(m *mender, _ *Refusal) bool { return m.inWords(template) }},
		{about: aboutHistory, request: true, learn: func(m *mender, _ *Refusal) bool { return m.inWords(unread) }},
	}
}

// learn changes what is asked next; if false, the refusal cannot be answered.
func (m *mender) learn(r *Refusal) bool {
	if m.format(r) {
		return true
	}
	if len(m.asked.Tools) > 0 && r.noTools() {
		return false // whoever offers tools in words does
	}
	server := r.Status >= 500 || r.Status == 0
	for _, l := range lessons() {
		if r.about(l.about) && !(l.except != "" && r.about(l.except)) && !(l.request && server) && l.learn(m, r) {
			return true
		}
	}
	return r.vague() && m.leave(r)
}

// format learns the first quirk of the format that a refusal shows; if false, it shows none.
func (m *mender) format(r *Refusal) bool {
	if r.Failed != session.RequestError || r.Status != 400 && r.Status != 422 {
		return false
	}
	for _, q := range m.adapter.Quirks {
		missing := slices.ContainsFunc(q.When, func(words []string) bool { return !has(r.Text, words...) })
		if !missing && !m.adapter.Usual[q.Name] && m.quirk(q.Name, "") {
			return true
		}
	}
	return false
}

// quirk learns one, and tells the user where there is something to say; if false, it was known.
func (m *mender) quirk(name, note string) bool {
	if m.fit.Quirks[name] {
		return false
	}
	if m.fit.Quirks == nil {
		m.fit.Quirks = Quirks{}
	}
	m.fit.Quirks[name] = true
	if note != "" {
		m.note(note)
	}
	return true
}

// Ask makes a request by try, which sends it and reads the answer to its end. A request that the
// server refuses is changed by what the refusal says, and made again: for every format, this is the
// one place where that happens. The user is told of each change, and a finding about a model holds
// for its next requests once one went well.
func (a *Adapter) Ask(ctx context.Context, r session.Request, try func(*Out, session.Request, Quirks) (session.Done, error)) iter.Seq[session.Chunk] {
	return Stream(ctx, func(out *Out) (session.Done, error) {
		m := a.mender(r)
		var pictures []string // what is to be said of those that cannot be read
		for tries := 0; ; tries++ {
			m.request()
			out.first = m.mended
			quirks := maps.Clone(m.fit.Quirks)
			if quirks == nil {
				quirks = Quirks{}
			}
			maps.Copy(quirks, a.Usual)
			done, err := try(out, m.asked, quirks)
			pictures = append(pictures, a.Cache.unread()...)
			if err == nil {
				done.Notice = strings.Join(slices.DeleteFunc(append([]string{done.Notice}, pictures...), func(s string) bool { return s == "" }), "; ")
			}
			if err == nil && m.learned {
				a.know(r.Model, m.fit)
			}
			refusal := refusalOf(err)
			if err == nil || out.begun || tries == maxMends || ctx.Err() != nil || refusal == nil {
				return done, err
			}
			switch {
			case m.learn(refusal):
				m.learned = true
			case a.forget(r.Model): // what an earlier process learned may hold no longer
				m = &mender{adapter: a, whole: r}
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
	asked   session.Request // as it was sent last
	fit     fit
	once    int             // the longest answer for this prompt; if 0, any
	parts   map[string]bool // ids of messages whose pictures and documents are left out
	mended  *session.Mended // to be told with the first piece of the answer
	all     bool            // no pictures at all
	learned bool            // the fit is another one than was known
}

// mender begins with what is known of the model. The user is told once in a process which tools are
// left out for what an earlier one was answered.
func (a *Adapter) mender(r session.Request) *mender {
	known, first := a.recall(r.Model)
	m := &mender{adapter: a, whole: r, fit: known}
	for _, d := range r.Tools {
		if why := known.Lacks[toolKey(d)]; first && why != "" {
			m.lack(d, "refused the schema of the tool %s%s before, which is left out (%s)", why)
		}
	}
	return m
}

// lack tells the user of a tool that is left out.
func (m *mender) lack(d tool.Definition, format, why string) {
	of := ""
	if server := serverOf(d); server != "" {
		of = " of the MCP server " + server
	}
	m.note(fmt.Sprintf(format, d.Name, of, why))
	m.mended.Tools = append(m.mended.Tools, d.Name)
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
func (m *mender) without(r *Refusal) bool {
	names := r.tools(m.asked.Tools)
	if len(names) == 0 && len(m.asked.Tools) > 0 && m.quirk(simple, "refuses the schema of a tool without saying of which: all are sent in a simple form") {
		return true
	}
	if m.fit.Lacks == nil || len(m.fit.Lacks) > maxLacks {
		m.fit.Lacks = map[string]string{}
	}
	left := false
	for _, d := range m.asked.Tools {
		if slices.Contains(names, d.Name) || len(names) == 0 && serverOf(d) != "" {
			left, m.fit.Lacks[toolKey(d)] = true, clip(r.Text, 200)
			m.lack(d, "refuses the schema of the tool %s%s, which is left out (%s)", clip(r.Text, 200))
		}
	}
	return left
}

// maxLacks bounds the tools that are known to be refused.
const maxLacks = 256

// serverOf is the MCP server of a tool; if empty, it is of none.
func serverOf(d tool.Definition) string {
	if i := slices.Index(d.Tags, "mcp"); i >= 0 && i+1 < len(d.Tags) {
		return d.Tags[i+1]
	}
	return ""
}

// inWords has earlier calls, results and thoughts sent as text: those of a conversation that
// another model began, and all where a model refuses its own.
func (m *mender) inWords(all string) bool {
	q := m.fit.Quirks
	answered := slices.ContainsFunc(m.whole.Messages, func(msg session.Message) bool { return msg.Role == session.Assistant })
	called := slices.ContainsFunc(m.whole.Messages, func(msg session.Message) bool { return msg.Role == session.ToolRole })
	switch {
	case !answered || q[unread] || q[template]:
		return false
	case len(m.asked.Tools) == 0 && called && m.quirk(alone, "refuses earlier calls beside no tools: they are sent as text"):
		return true
	case all == unread && m.foreign() > 0 && m.quirk(foreign, "refuses earlier calls and their results as they were: they are sent as text"):
		return true
	}
	return m.quirk(all, "refuses earlier calls and their results as they were: they are sent as text")
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

// leave leaves out pictures and documents: those of the newest message that has any, then all.
func (m *mender) leave(r *Refusal) bool {
	if m.all || m.fit.Quirks[blind] {
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

// request makes the request as the server is known to take it.
func (m *mender) request() {
	r, q := m.whole, m.fit.Quirks
	r.MaxTokens = cmp.Or(r.MaxTokens, m.adapter.Options.MaxTokens)
	for _, most := range []int{m.fit.Most, m.once} {
		if most > 0 && (r.MaxTokens == 0 || r.MaxTokens > most) {
			r.MaxTokens = most
		}
	}
	if q[freely] {
		r.Choice = session.ChooseFreely
	}
	r = m.adapter.schemas.fit(r, &m.fit)
	if q[blind] || len(m.parts) > 0 {
		r.Messages = slices.Clone(r.Messages)
		for i, msg := range r.Messages {
			switch {
			case q[blind] && msg.Shows():
				r.Messages[i] = msg.WithoutPictures("[%s cannot be shown to you: you take no pictures]")
			case m.parts[msg.ID]:
				r.Messages[i] = msg.WithoutPictures(session.RefusedPart)
			}
		}
	}
	inWords := 0
	switch {
	case q[unread] || q[template] || q[alone] && len(r.Tools) == 0:
		inWords = len(r.Messages)
	case q[foreign]:
		inWords = m.foreign()
	}
	if inWords > 0 {
		r.Messages = append(Texts(r.Messages[:inWords]), r.Messages[inWords:]...)
	}
	m.asked = r
}
