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

// Limit for repetitions of a request, each changed by the last refusal.
const maxMends = 16

// A Quirk is a difference between a model or server and its format, recognized by refusals.
// Adapters handle it by Name.
type Quirk struct {
	Name string
	// RefusalWords holds lower-case words of refusals: the text contains one from each list.
	RefusalWords    [][]string
	PerConversation bool // it may depend on one conversation, and is forgotten with the process
}

// Quirks holds a model's known quirks by name.
type Quirks map[string]bool

// Quirks common to all formats.
const (
	freely   = "Freely"   // takes no tool choice
	simple   = "Simple"   // takes only simple schemas
	blind    = "Blind"    // takes no pictures
	alone    = "Alone"    // takes no earlier calls if no tool is offered
	template = "Template" // its template has no calls: earlier ones become text
	foreign  = "Foreign"  // takes no calls up to the last one of another model
	unread   = "Unread"   // takes no earlier calls; forgotten with the process
)

// fit holds a model's requirements, learned from refusals. It is stored for later processes, except
// for parts that may depend on one conversation.
type fit struct {
	Most   int               // longest answer; 0 if unknown
	Lacks  map[string]string // refused tools and the server's reasons, by toolKey
	Quirks Quirks
}

func (f fit) clone() fit {
	f.Lacks, f.Quirks = maps.Clone(f.Lacks), maps.Clone(f.Quirks)
	return f
}

// toolKey identifies a tool and its schema: a corrected tool is offered again.
func toolKey(d tool.Definition) string {
	sum := sha256.Sum256(d.Offered())
	return d.Name + " " + hex.EncodeToString(sum[:4])
}

// lesson is a row of the refusal table, in lower case.
type lesson struct {
	matches string                           // matches the text
	except  string                           // excludes other texts; optional
	request bool                             // not for a failed server
	learn   func(m *mender, r *Refusal) bool // returns false if the next request would be the same
}

// lessons returns the table for all formats. The first row that changes something is used.
func lessons() []lesson {
	return []lesson{
		{matches: aboutBound, except: `not supported with this model|unsupported parameter|unrecognized|unknown parameter|extra inputs`, learn: (*mender).bounded},
		{matches: `tool[_ ]?choice`, learn: func(m *mender, _ *Refusal) bool {
			return m.asked.Choice != session.ChooseFreely && m.quirk(freely, "")
		}},
		{matches: aboutSchema, learn: (*mender).without},
		{matches: aboutSight, learn: func(m *mender, _ *Refusal) bool {
			return slices.ContainsFunc(m.full.Messages, session.Message.Shows) && m.quirk(blind, "takes no pictures and documents: it gets a note in their place")
		}},
		{matches: aboutPart, learn: (*mender).leave},
		{matches: aboutTemplate, learn: func(m *mender, _ *Refusal) bool { return m.inWords(template) }},
		{matches: aboutHistory, request: true, learn: func(m *mender, _ *Refusal) bool { return m.inWords(unread) }},
	}
}

// learn changes the next request. It returns false if there is no remedy.
func (m *mender) learn(r *Refusal) bool {
	if m.format(r) {
		return true
	}
	if len(m.asked.Tools) > 0 && r.noTools() {
		return false // handled by describing tools as text
	}
	server := r.Status >= 500 || r.Status == 0
	for _, l := range lessons() {
		if r.matches(l.matches) && !(l.except != "" && r.matches(l.except)) && !(l.request && server) && l.learn(m, r) {
			return true
		}
	}
	return r.vague() && m.leave(r)
}

// format learns the first of the format's quirks that matches. It returns false if none does.
func (m *mender) format(r *Refusal) bool {
	if r.Failed != session.RequestError || r.Status != 400 && r.Status != 422 {
		return false
	}
	for _, q := range m.adapter.Quirks {
		missing := slices.ContainsFunc(q.RefusalWords, func(words []string) bool { return !containsAny(r.Text, words...) })
		if !missing && !m.adapter.ServerQuirks[q.Name] && m.quirk(q.Name, "") {
			return true
		}
	}
	return false
}

// quirk learns a quirk and notes it for the user if note is set. It returns false if the quirk was
// known.
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

// Ask makes a request by try, which sends it and reads the whole answer. A refused request is
// changed according to the refusal and sent again; this is the only place for that, for every
// format. The user sees each change, and a finding is stored after a successful request.
func (a *Adapter) Ask(ctx context.Context, r session.Request, try func(*ChunkSender, session.Request, Quirks) (session.Done, error)) iter.Seq[session.Chunk] {
	return Stream(ctx, func(out *ChunkSender) (session.Done, error) {
		m := a.mender(r)
		var pictures []string // notices about unreadable ones
		for tries := 0; ; tries++ {
			m.request()
			out.first = m.mended
			quirks := maps.Clone(m.fit.Quirks)
			if quirks == nil {
				quirks = Quirks{}
			}
			maps.Copy(quirks, a.ServerQuirks)
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
			case a.forget(r.Model): // knowledge from an earlier process may be outdated
				m = &mender{adapter: a, full: r}
			default:
				return done, err
			}
		}
	})
}

// mender changes one request until its server accepts it.
type mender struct {
	adapter *Adapter
	full    session.Request
	asked   session.Request // as last sent
	fit     fit
	once    int             // longest answer for this prompt; 0 for any
	parts   map[string]bool // ids of messages without their pictures and documents
	mended  *session.Mended // to be sent before the answer's first chunk
	all     bool            // no pictures at all
	learned bool            // fit has changed
}

// mender starts with the model's known requirements. The user sees once per process which tools are
// left out because of earlier refusals.
func (a *Adapter) mender(r session.Request) *mender {
	known, first := a.recall(r.Model)
	m := &mender{adapter: a, full: r, fit: known}
	for _, d := range r.Tools {
		if why := known.Lacks[toolKey(d)]; first && why != "" {
			m.lack(d, "refused the schema of the tool %s%s before, which is left out (%s)", why)
		}
	}
	return m
}

// lack notes a tool that is left out, for the user.
func (m *mender) lack(d tool.Definition, format, why string) {
	of := ""
	if server := serverOf(d); server != "" {
		of = " of the MCP server " + server
	}
	m.note(fmt.Sprintf(format, d.Name, of, why))
	m.mended.Tools = append(m.mended.Tools, d.Name)
}

// bounded learns the longest answer from a refusal.
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

// without leaves out the tools named in a refusal. If it names none, schemas are simplified first,
// then tools of MCP servers are left out.
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

// Limit for stored refused tools.
const maxLacks = 256

// serverOf returns a tool's MCP server, or "".
func serverOf(d tool.Definition) string {
	if i := slices.Index(d.Tags, "mcp"); i >= 0 && i+1 < len(d.Tags) {
		return d.Tags[i+1]
	}
	return ""
}

// inWords sends earlier calls, results and thoughts as text: those up to another model's last call,
// or all if a model refuses its own.
func (m *mender) inWords(all string) bool {
	q := m.fit.Quirks
	answered := slices.ContainsFunc(m.full.Messages, func(msg session.Message) bool { return msg.Role == session.Assistant })
	called := slices.ContainsFunc(m.full.Messages, func(msg session.Message) bool { return msg.Role == session.ToolRole })
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

// foreign returns the number of messages up to another model's last call, including results.
func (m *mender) foreign() (end int) {
	for i, msg := range m.full.Messages {
		own := msg.Model == m.full.Model && msg.Provider == m.adapter.Name()
		if msg.Role == session.Assistant && !own && len(msg.Calls()) > 0 || end == i && msg.Role == session.ToolRole {
			end = i + 1
		}
	}
	return end
}

// leave removes pictures and documents: first those in the newest message with any, then all.
func (m *mender) leave(r *Refusal) bool {
	if m.all || m.fit.Quirks[blind] {
		return false
	}
	m.all = m.parts != nil
	m.parts = map[string]bool{}
	for _, msg := range slices.Backward(m.full.Messages) {
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

// note adds a message for the user.
func (m *mender) note(what string) {
	if m.mended == nil {
		m.mended = &session.Mended{}
	}
	text := m.full.Model + " at " + m.adapter.Name() + " " + what
	if !slices.Contains(m.mended.Reasons, text) {
		m.mended.Reasons = append(m.mended.Reasons, text)
	}
}

// request applies the known requirements.
func (m *mender) request() {
	r, q := m.full, m.fit.Quirks
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
