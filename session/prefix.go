package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"adze/tool"
)

// PrefixChange reports a request that does not start with the previous one of the same run.
// Providers cache a request, and continuing from there is cheaper and on a local model much faster.
type PrefixChange struct {
	Time    time.Time `json:"time"`
	Message string    `json:"message"` // id of the answer to the request
	Causes  []string  `json:"causes"`  // for the user: lower case, no period
	// Expected is true for an intended cause: another model, other tools, a rewind.
	Expected bool `json:"expected"`
	// Lost estimates the tokens that the provider reads again; 0 if unknown.
	Lost int `json:"lost_tokens,omitempty"`
}

// String formats the change for the user.
func (c PrefixChange) String() string {
	text := strings.Join(c.Causes, "; ")
	if c.Lost > 0 {
		text += fmt.Sprintf(" (about %d tokens are read again without the cache)", c.Lost)
	}
	return text
}

// prefixGuard remembers the last request; the fingerprints hold its message hashes.
type prefixGuard struct {
	last     *sentRequest // nil before the first request
	foreseen []foreseen
}

type sentRequest struct {
	provider, model, system, digest string
	tools                           []tool.Definition
	tokens                          int
}

// foreseen is an intended change of the conversation, with its cost.
type foreseen struct {
	cause string
	lost  int
}

// foresee records why the next request will not repeat the messages from an index on. Call it
// before changing the conversation.
func (s *Session) foresee(message int, cause string) {
	s.recount()
	s.prefix.foreseen = append(s.prefix.foreseen, foreseen{cause, s.ledger.tokensSince(message)})
}

// inspect checks the next request before it is sent: its size, and whether it starts with the last
// one.
func (s *Session) inspect(ctx context.Context, answer string) error {
	r := s.request()
	change, changed := s.compare(r)
	s.recount()
	l := &s.ledger
	l.asked = l.bytes()
	s.prefix = prefixGuard{last: &sentRequest{
		provider: l.provider, model: l.model, system: r.System, digest: r.ToolsDigest, tools: r.Tools, tokens: l.tokens(l.asked),
	}}
	if changed {
		change.Time, change.Message = s.config.Now(), answer
		if err := s.store(ctx, s.entry(PrefixEntry, change)); err != nil {
			return err
		}
		l.changes = append(l.changes, change)
		s.emit(PrefixChanged{change})
	}
	if text := l.warning(); text != "" {
		s.emit(Notice{Text: text})
	}
	s.emitLedger("")
	return nil
}

// compare finds the parts of the last request that the next one changes.
func (s *Session) compare(r Request) (PrefixChange, bool) {
	last := s.prefix.last
	if last == nil {
		return PrefixChange{}, false
	}
	c := PrefixChange{Expected: true}
	whole := last.system != r.System || last.digest != r.ToolsDigest
	if provider := s.config.Provider.Name(); provider != last.provider || r.Model != last.model {
		whole = true
		c.Causes = append(c.Causes, fmt.Sprintf("the model changed from %s/%s to %s/%s", last.provider, last.model, provider, r.Model))
		if provider != last.provider {
			c.Causes = append(c.Causes, "messages were converted for another provider")
		}
	}
	renewed := len(c.Causes) > 0 // another model gets its own system prompt
	if last.system != r.System {
		c.unexpected(!renewed, "the system prompt changed")
	}
	if last.digest != r.ToolsDigest {
		cause, wanted := toolsChanged(*last, r.Tools)
		c.unexpected(!renewed && !wanted, cause)
	}
	if at := s.prints.kept(r.Messages); at < len(s.prints.last) {
		c.Lost = s.ledger.tokensSince(at)
		s.messagesChanged(&c, r.Messages, at)
	}
	if whole {
		c.Lost = last.tokens
	}
	return c, len(c.Causes) > 0
}

// unexpected adds a cause, if is, and clears Expected.
func (c *PrefixChange) unexpected(is bool, cause string) {
	c.Causes = append(c.Causes, cause)
	c.Expected = c.Expected && !is
}

func (s *Session) messagesChanged(c *PrefixChange, messages []Message, at int) {
	for _, f := range s.prefix.foreseen {
		c.Causes = append(c.Causes, f.cause)
		c.Lost = max(c.Lost, f.lost)
	}
	if len(s.prefix.foreseen) > 0 {
		return
	}
	was := s.prints.last[at].id
	if at < len(messages) && messages[at].ID == was {
		c.unexpected(true, "message "+was+" changed")
		return
	}
	c.unexpected(true, "message "+was+" is not there any more")
}

// toolsChanged describes the difference between two requests' tools. wanted reports whether it is
// just another selection.
func toolsChanged(last sentRequest, now []tool.Definition) (cause string, wanted bool) {
	before := map[string]string{}
	for _, d := range last.tools {
		before[d.Name] = d.Digest
	}
	var names, other []string
	for _, d := range now {
		digest, known := before[d.Name]
		switch {
		case !known:
			names = append(names, "+"+d.Name)
		case digest != d.Digest:
			other = append(other, d.Name)
		}
		delete(before, d.Name)
	}
	for _, d := range last.tools {
		if _, gone := before[d.Name]; gone {
			names = append(names, "-"+d.Name)
		}
	}
	switch {
	case len(names) > 0:
		return "the tool offer changed: " + strings.Join(names, " "), len(other) == 0
	case len(other) > 0:
		return "the definition changed of " + strings.Join(other, ", "), false
	}
	return "the tools are in another order", false
}

func (s *Session) recount() {
	l := &s.ledger
	l.fix(s.config.Start.System, s.digest, s.offeredTools(), s.config.Pieces)
	l.sync(s.history)
	if l.window == 0 && s.config.Window != nil { // a local server reports it with the first request
		l.window = s.config.Window(l.provider, l.model)
	}
}

// Ledger returns the content of the next request and the usage so far.
func (s *Session) Ledger() Ledger {
	s.recount()
	return s.ledger.snapshot()
}

// Expect returns the content of the request for a prompt and its tool selection; a nil Offer means
// all tools. Nothing is stored, but the prompt joins the conversation, so use the session for
// nothing else.
func (s *Session) Expect(ctx context.Context, in Input) (Ledger, *Offer) {
	offer := s.askOffer(ctx, Occasion{Prompt: in.Text})
	if offer != nil {
		s.adopt(offer.Tools)
	}
	if notes, any := s.gatherNotes(ctx, &in); any {
		s.history = append(s.history, notes)
	}
	if in.Text != "" {
		s.history = append(s.history, in.message(s.nextID()))
	}
	return s.Ledger(), offer
}

// emitLedger emits the ledger after a request, or before one if answer is "".
func (s *Session) emitLedger(answer string) {
	if s.config.Observe != nil {
		s.emit(Counted{Message: answer, Ledger: s.Ledger()})
	}
}

// Spend counts a request made outside of the session's turns, such as one for its title.
func (s *Session) Spend(provider, model string, u Usage) {
	s.ledger.account.add(provider+"/"+model, 1, u, s.config.costOf(provider, model, u))
}
