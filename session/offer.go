package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// An Offer selects the tools in requests from now on. Calls of the session's other tools stay
// valid. The session fills in Added and Removed.
type Offer struct {
	Tools    []string    `json:"tools"` // in request order
	Added    []string    `json:"added,omitempty"`
	Removed  []string    `json:"removed,omitempty"`
	Reason   string      `json:"reason"` // for the user: lower case, no period
	Excluded []Exclusion `json:"excluded,omitempty"`
	Quiet    bool        `json:"quiet,omitempty"` // not shown to the user, since there was no real choice
	// Set replaces the session's set of all tools, shown or not, when others joined; may be nil.
	Set *tool.Set `json:"-"`
}

// An Exclusion is the reason why some tools are not offered.
type Exclusion struct {
	Reason string   `json:"reason"`
	Tools  []string `json:"tools"`
}

// An Occasion is a moment at which the offer may change: a prompt, or the outcomes of a message's
// calls. Between two of them all requests have the same bytes of tools.
type Occasion struct {
	Prompt   string
	Outcomes []tool.Outcome // nil at a prompt
	Offered  []string       // the last offer; nil before the first
}

// Offerer chooses the tools in requests. Contract:
//   - nil leaves the offer as it is, and before the first offer all tools are shown;
//   - every result but nil is stored with its exclusions, whether or not the tools change;
//   - it runs no tool, and ends soon after ctx does.
//
// A changed offer drops the provider's cached prefix, so it should be rare and worth it.
type Offerer func(ctx context.Context, o Occasion) *Offer

// consider asks for an offer at a prompt. It returns the entries to store and a function to call
// once they are.
func (s *Session) consider(ctx context.Context, prompt string) (entries []Entry, then func()) {
	o := s.askOffer(ctx, Occasion{Prompt: prompt})
	if o == nil {
		return nil, func() {}
	}
	return []Entry{s.entry(OfferEntry, o)}, func() { s.show(*o) }
}

// reconsider asks for an offer after the calls of a message; a tool may have found others.
func (s *Session) reconsider(t *turn, outcomes Message) error {
	var list []tool.Outcome
	for _, p := range outcomes.Parts {
		list = append(list, *p.Outcome)
	}
	o := s.askOffer(t.ctx, Occasion{Outcomes: list})
	if o == nil {
		return nil
	}
	if err := s.store(t.ctx, s.entry(OfferEntry, o)); err != nil {
		return err
	}
	s.show(*o)
	return nil
}

func (s *Session) askOffer(ctx context.Context, occasion Occasion) *Offer {
	if s.config.Offer == nil {
		return nil
	}
	occasion.Offered = slices.Clone(s.offered)
	o := s.config.Offer(ctx, occasion)
	if o == nil {
		return nil
	}
	if o.Set != nil {
		s.config.Tools = o.Set
	}
	o.Tools = slices.DeleteFunc(slices.Clone(o.Tools), func(name string) bool {
		return !s.config.Tools.Has(name)
	})
	o.Added, o.Removed = without(o.Tools, s.offered), without(s.offered, o.Tools)
	return o
}

// without returns the names in a but not in b.
func without(a, b []string) (out []string) {
	for _, name := range a {
		if !slices.Contains(b, name) {
			out = append(out, name)
		}
	}
	return out
}

// show applies a stored offer from the next request on and reports the change.
func (s *Session) show(o Offer) {
	first := s.offered == nil
	if s.adopt(o.Tools); o.Quiet {
		return
	}
	var changes []string
	for _, name := range o.Added {
		changes = append(changes, "+"+name)
	}
	for _, name := range o.Removed {
		changes = append(changes, "-"+name)
	}
	switch {
	case first:
		s.emit(Notice{Text: fmt.Sprintf("%d of %d tools are offered: %s", len(o.Tools), len(s.config.Tools.Names()), o.Reason), Kind: Detail})
	case len(changes) > 0:
		s.emit(Notice{Text: fmt.Sprintf("the offer of tools changed: %s (%s)", strings.Join(changes, " "), o.Reason), Kind: Detail})
	}
}

func (s *Session) adopt(names []string) {
	s.tools, s.digest = s.choose(names)
	if s.tools == nil {
		s.tools = []tool.Definition{} // an offer without tools
	}
	s.offered = []string{}
	for _, d := range s.tools {
		s.offered = append(s.offered, d.Name)
	}
}

// offeredTools returns the tools in requests. It reads the definitions of all tools only if there
// was no offer.
func (s *Session) offeredTools() []tool.Definition {
	if s.tools == nil {
		s.tools = s.config.Tools.Definitions()
	}
	return s.tools
}

// choose finds the tools of an offer. The same names give the same digest.
func (s *Session) choose(names []string) (tools []tool.Definition, digest string) {
	sum := sha256.New()
	for _, name := range names {
		d, ok := s.config.Tools.Get(name)
		if !ok || slices.ContainsFunc(tools, func(t tool.Definition) bool { return t.Name == name }) {
			continue // removed since the log was written, or duplicate
		}
		tools = append(tools, d)
		fmt.Fprintln(sum, d.Digest)
	}
	return tools, hex.EncodeToString(sum.Sum(nil))
}
