package session

import (
	"slices"

	"adze/tool"
)

// Group sorts what fills a request.
type Group string

// Groups of sources, in the order in which requests hold them. What calls returned is a group of
// its own, since it is most of a long conversation.
const (
	SystemGroup   Group = "system"
	ToolsGroup    Group = "tools"
	MessagesGroup Group = "messages"
	ResultsGroup  Group = "results"
)

// Source is one thing that fills the next request: a piece of the system prompt, a tool, what the
// user wrote, what one tool returned.
type Source struct {
	Group  Group  `json:"group"`
	Kind   string `json:"kind,omitempty"` // of a piece of the prompt, or of a note: prompt, instructions, environment, hook, …
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"` // the file that it was read from, absolute; if empty, none, or it is not known
	Bytes  int    `json:"bytes"`          // a picture counts as those of PictureTokens
	Tokens int    `json:"tokens"`         // an estimate, corrected
}

// Piece is a part of the system prompt: the prompt itself, an instruction file.
type Piece struct {
	Kind  string // prompt, instructions, environment
	Name  string
	Path  string // absolute; if empty, it is no file, or it is not known which
	Bytes int
}

// Ledger tells what the next request holds, by source, and what the requests so far used. It is a
// copy: it does not change.
type Ledger struct {
	Model   string   `json:"model"` // provider/name
	Sources []Source `json:"sources"`
	// Estimate is the whole of the next request in tokens, Factor the correction that is in it, and
	// Corrected how many requests of this model it comes from; if 0, no provider has counted yet.
	Estimate  int     `json:"estimate_tokens"`
	Factor    float64 `json:"factor"`
	Corrected int     `json:"factor_requests"`
	// Window is how many tokens the model takes, the answer included; if 0, not known.
	Window int `json:"context_tokens,omitempty"`
	// Last is what the provider counted of the newest request; if nil, nothing yet.
	Last *Usage     `json:"last_usage,omitempty"`
	Used []ModelUse `json:"used"`
	// Cost is that of all requests in USD, those of subagents too; if nil, that of at least one is not
	// known, or there was none.
	Cost    *float64       `json:"cost_usd"`
	Changes []PrefixChange `json:"prefix_changes,omitempty"`
}

// ModelUse is what the requests to one model used, those of subagents too.
type ModelUse struct {
	Model    string   `json:"model"`    // provider/name
	Requests int      `json:"requests"` // if 0, how many there were is not known
	Usage    Usage    `json:"usage"`
	Cost     *float64 `json:"cost_usd"` // if nil, that of at least one request is not known
}

// Rules of the estimate. What is sent has other bytes too (names of fields, quotes), and no
// tokenizer is bytes/4: that is what the correction is for.
const (
	// bytesPerToken is the usual rule of thumb for English and code.
	bytesPerToken = 4
	// PictureTokens is about what providers charge for a picture at most, whatever its bytes.
	PictureTokens = 1500
	// documentStep is how many bytes of a PDF count as one picture: its pages are not counted.
	documentStep = 100 << 10
	// noteBytes is the line that stands for an attachment no model can read.
	noteBytes = 100
)

// ledger counts as the conversation goes: each message once, when it comes, and again when it is
// taken back.
type ledger struct {
	provider, model string

	fixed      []count // of system and tools
	fixedBytes int
	system     string
	digest     string
	sources    []count // of the conversation, in the order of their first appearance
	messages   []messageWeight
	synced     Grown
	shows      pictureMemory
	talk       int // bytes of messages
	window     int
	told       int // percent of the window that the user was told of

	correction correction
	asked      int // bytes of the request that is being answered
	last       *Usage
	account    account
	changes    []PrefixChange
}

// count is the bytes of one source; pictures count as the bytes of as many tokens.
type count struct {
	group            Group
	kind, name, path string
	bytes            int
}

// messageWeight is what one message adds, so that taking it back needs no counting.
type messageWeight struct {
	identity
	shares []share
}

type share struct{ source, bytes int }

// sync brings the ledger to a conversation. What it holds already is looked at, not counted again.
func (l *ledger) sync(history []Message) {
	n := min(l.synced.Since(history), len(l.messages))
	for n < len(l.messages) && n < len(history) && l.messages[n].is(&history[n]) {
		n++
	}
	for _, w := range l.messages[n:] {
		l.add(w.shares, -1)
	}
	l.messages = l.messages[:n]
	for _, m := range history[n:] {
		w := messageWeight{identityOf(&m), l.weigh(m)}
		l.add(w.shares, 1)
		l.messages = append(l.messages, w)
	}
}

func (l *ledger) add(shares []share, sign int) {
	for _, s := range shares {
		l.sources[s.source].bytes += sign * s.bytes
		l.talk += sign * s.bytes
	}
}

// since is the tokens of the messages from one on.
func (l *ledger) since(message int) int {
	bytes := 0
	for _, w := range l.messages[min(message, len(l.messages)):] {
		for _, s := range w.shares {
			bytes += s.bytes
		}
	}
	return l.tokens(bytes)
}

// weigh counts one message.
func (l *ledger) weigh(m Message) []share {
	var shares []share
	add := func(c count, bytes int) {
		if bytes == 0 {
			return
		}
		at := slices.IndexFunc(l.sources, func(old count) bool { return old.group == c.group && old.name == c.name && old.path == c.path })
		if at < 0 {
			at = len(l.sources)
			l.sources = append(l.sources, c)
		}
		shares = append(shares, share{at, bytes})
	}
	put := func(group Group, name string, bytes int) { add(count{group: group, name: name}, bytes) }
	texts := map[Role]string{User: "your messages", Assistant: "answers"}
	switch {
	case m.Summary:
		texts[User] = "summary"
	case m.Own != "":
		texts[User] = "your commands"
	case m.Note:
		texts[User] = "notes of adze"
	}
	for _, p := range m.Parts {
		switch {
		case p.Kind == TextPart && len(m.Notes) > 0: // each counts for where it comes from
			for i, text := range m.wrappedNotes() {
				n := m.Notes[i]
				add(count{group: MessagesGroup, kind: string(n.Kind), name: "note from " + n.From, path: n.Path}, len(text))
			}
		case p.Kind == TextPart:
			put(MessagesGroup, texts[m.Role], len(p.Text))
		case p.Kind == ReasoningPart && m.Provider == l.provider: // that of others is not sent
			put(MessagesGroup, "thoughts", len(p.Text)+len(p.Opaque))
		case p.Kind == CallPart && p.Call != nil:
			put(MessagesGroup, "calls", len(p.Call.Name)+len(p.Call.Arguments)+len(p.Call.Opaque))
		case p.Kind == AttachmentPart && p.Attachment != nil:
			put(MessagesGroup, attachedAs(*p.Attachment), attachedBytes(*p.Attachment))
		case p.Kind == OutcomePart && p.Outcome != nil:
			put(ResultsGroup, p.Outcome.Tool, len(p.Outcome.Output))
			for _, a := range p.Outcome.Attachments {
				put(ResultsGroup, attachedAs(a), attachedBytes(a))
			}
		}
	}
	return shares
}

// fix counts what every request holds beside the conversation, when it has changed.
func (l *ledger) fix(system, digest string, tools []tool.Definition, pieces func(string) []Piece) {
	if l.fixed != nil && l.system == system && l.digest == digest {
		return
	}
	l.system, l.digest = system, digest
	l.fixed, l.fixedBytes = []count{}, 0
	put := func(c count) {
		l.fixed = append(l.fixed, c)
		l.fixedBytes += c.bytes
	}
	rest := len(system)
	if pieces != nil {
		for _, p := range pieces(system) {
			put(count{SystemGroup, p.Kind, p.Name, p.Path, p.Bytes})
			rest -= p.Bytes
		}
	}
	if rest > 0 {
		put(count{SystemGroup, "prompt", "prompt", "", rest})
	}
	for _, d := range tools {
		put(count{ToolsGroup, "", d.Name, "", len(d.Name) + len(d.Description) + len(d.Offered())})
	}
}

// bytes is the size of the next request.
func (l *ledger) bytes() int { return l.fixedBytes + l.talk }

func (l *ledger) tokens(bytes int) int {
	return int(float64(bytes)/bytesPerToken*l.correction.factor(l.bytes()) + 0.5)
}

// snapshot is the ledger as others see it.
func (l *ledger) snapshot() Ledger {
	out := Ledger{
		Model: l.provider + "/" + l.model, Estimate: l.tokens(l.bytes()), Window: l.window,
		Factor: l.correction.factor(l.bytes()), Corrected: l.correction.requests,
		Last: l.last, Changes: slices.Clip(l.changes),
	}
	out.Sources = slices.Grow(out.Sources, len(l.fixed)+len(l.sources))
	for _, counts := range [][]count{l.fixed, l.sources} {
		for _, c := range counts {
			if c.bytes > 0 {
				out.Sources = append(out.Sources, Source{c.group, c.kind, c.name, c.path, c.bytes, l.tokens(c.bytes)})
			}
		}
	}
	slices.SortStableFunc(out.Sources, func(a, b Source) int { return a.Group.place() - b.Group.place() })
	out.Used, out.Cost = l.account.sum()
	return out
}

func (g Group) place() int {
	return slices.Index([]Group{SystemGroup, ToolsGroup, MessagesGroup, ResultsGroup}, g)
}
