package session

import (
	"slices"

	"adze/tool"
)

// A Group is a category in a request.
type Group string

// Source groups, in request order. Outcomes have their own group, since they are the largest part
// in a long conversation.
const (
	SystemGroup   Group = "system"
	ToolsGroup    Group = "tools"
	MessagesGroup Group = "messages"
	ResultsGroup  Group = "results"
)

// A Source is one part in the next request: a system prompt piece, a tool, the user's text, one
// tool's results.
type Source struct {
	Group  Group  `json:"group"`
	Kind   string `json:"kind,omitempty"` // of a prompt piece or note: prompt, instructions, environment, hook, …
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"` // absolute path to its file, or "" if there is none or it is unknown
	Bytes  int    `json:"bytes"`          // an image counts as PictureTokens
	Tokens int    `json:"tokens"`         // a corrected estimate
}

// A Piece is a part in the system prompt: the prompt itself, an instruction file.
type Piece struct {
	Kind  string // prompt, instructions, environment
	Name  string
	Path  string // absolute; "" for no file or an unknown one
	Bytes int
}

// Ledger lists the next request's content by source and the usage so far. It is a copy.
type Ledger struct {
	Model   string   `json:"model"` // provider/name
	Sources []Source `json:"sources"`
	// Estimate is the next request's size in tokens, including the correction Factor. Corrected
	// counts this model's requests that Factor is based on; 0 if no provider has counted yet.
	Estimate  int     `json:"estimate_tokens"`
	Factor    float64 `json:"factor"`
	Corrected int     `json:"factor_requests"`
	// Window is the model's context size in tokens including the answer; 0 if unknown.
	Window int `json:"context_tokens,omitempty"`
	// Last is the provider's usage for the newest request; may be nil.
	Last *Usage     `json:"last_usage,omitempty"`
	Used []ModelUse `json:"used"`
	// Cost is the total in USD, including subagents; nil if one is unknown or there was none.
	Cost    *float64       `json:"cost_usd"`
	Changes []PrefixChange `json:"prefix_changes,omitempty"`
}

// ModelUse is the usage by one model, including subagents.
type ModelUse struct {
	Model    string   `json:"model"`    // provider/name
	Requests int      `json:"requests"` // 0 if unknown
	Usage    Usage    `json:"usage"`
	Cost     *float64 `json:"cost_usd"` // nil if one request's cost is unknown
}

// Estimate rules. Requests also hold field names and quotes, and no tokenizer uses exactly 4 bytes
// a token; the correction accounts for both.
const (
	// bytesPerToken is the usual estimate for English and code.
	bytesPerToken = 4
	// PictureTokens is about the most that providers charge for an image, whatever its bytes.
	PictureTokens = 1500
	// documentStep is how many PDF bytes count as one image; pages are not counted.
	documentStep = 100 << 10
	// noteBytes is the line's size in place of an unreadable attachment.
	noteBytes = 100
)

// ledger counts each message once as it arrives, and again when it is taken back.
type ledger struct {
	provider, model string

	fixed      []count // system prompt and tools
	fixedBytes int
	system     string
	digest     string
	sources    []count // of the conversation, by first appearance
	messages   []messageWeight
	synced     ReadMark
	shows      pictureMemory
	talk       int // messages, in bytes
	window     int
	told       int // last fill warning, in percent

	correction correction
	asked      int // current request's bytes
	last       *Usage
	account    account
	changes    []PrefixChange
}

// count is one source's bytes; images count with their tokens' bytes.
type count struct {
	group            Group
	kind, name, path string
	bytes            int
}

// messageWeight holds one message's share, for taking it back.
type messageWeight struct {
	identity
	shares []share
}

type share struct{ source, bytes int }

// sync updates the ledger to a conversation, counting only new messages.
func (l *ledger) sync(history []Message) {
	n := min(l.synced.Advance(history), len(l.messages))
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

// tokensSince returns the messages' tokens from an index.
func (l *ledger) tokensSince(message int) int {
	bytes := 0
	for _, w := range l.messages[min(message, len(l.messages)):] {
		for _, s := range w.shares {
			bytes += s.bytes
		}
	}
	return l.tokens(bytes)
}

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
	case m.OwnCall != "":
		texts[User] = "your commands"
	case m.Note:
		texts[User] = "notes of adze"
	}
	for _, p := range m.Parts {
		switch {
		case p.Kind == TextPart && len(m.Notes) > 0: // each counts for its own source
			for i, text := range m.wrappedNotes() {
				n := m.Notes[i]
				add(count{group: MessagesGroup, kind: string(n.Kind), name: "note from " + n.Source, path: n.Path}, len(text))
			}
		case p.Kind == TextPart:
			put(MessagesGroup, texts[m.Role], len(p.Text))
		case p.Kind == ReasoningPart && m.Provider == l.provider: // other providers' reasoning is not sent
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

// fix counts the request parts beside the conversation, if they changed.
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

func (l *ledger) bytes() int { return l.fixedBytes + l.talk }

func (l *ledger) tokens(bytes int) int {
	return int(float64(bytes)/bytesPerToken*l.correction.factor(l.bytes()) + 0.5)
}

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
