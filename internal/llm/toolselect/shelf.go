// Package toolselect chooses the tools that a session's requests show: the core, tools that match
// the prompt, and those found by tool_search or called by the model.
//
// The one rule: an offer changes only for a named reason, because a change invalidates the
// provider's cache.
//
// Start reading at Selector.Fill, then Selector.offer; late.go delays tools until their occasion if
// all fit, join.go adds tools during a session. Known limits: the numbers were measured on one
// labeled set.
package toolselect

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"adze/session"
	"adze/tool"
	"adze/tool/rank"
	"adze/toolset"
)

// Pre-selection parameters. Recall and precision were measured on the dev half of testdata/pick.
const (
	// Up to this number, all tools are offered; configurable.
	offerAbove = 22
	// Offered beside the core from the first prompt on: ten picks hold the right tool in three out
	// of four cases, three picks in not quite two out of three.
	firstPicks = 10
	// A later prompt changes the offer, and so invalidates the provider's cache, only for a pick
	// that is more often right than wrong: three in five are at this score.
	laterPicks    = 3
	laterMinScore = 0.25
	// Limit for the first picks' JSON.
	pickedBytes = 8 << 10
	// Limit for the tools beside the core; a prompt's next change removes the oldest.
	mostPicked = 24
)

// A Shelf chooses the tools for a session's requests.
type Selector struct {
	core   []string
	budget int // bytes of all tools together; 0 limits their number instead
	above  int

	// Late delays tools until their occasion, if all are offered.
	Late Late
	// Joining adds tools during the session.
	Joining Joining

	set *tool.Set
	all *rank.Picker // nil if all tools are offered

	mu      sync.Mutex
	offered []string
}

// New returns a shelf with the tools that are always offered. All tools together may take budget
// bytes; with a budget of 0, up to all tools are shown (0 means the default number).
func New(core []string, budget, all int) *Selector {
	return &Selector{core: core, budget: budget, above: cmp.Or(all, offerAbove)}
}

// Fill sets a run's tools and returns those that a model may call, without tool_search if it has
// nothing to find.
func (s *Selector) Fill(set *tool.Set) *tool.Set {
	without := set.Named(func(name string) bool { return name != "tool_search" })
	if !s.tooMany(without) {
		if !s.Late.holds(without) {
			set = without
		}
		s.set, s.all = set, nil
		return set
	}
	s.set, s.all = set, rank.Of(without)
	return set
}

func (s *Selector) tooMany(set *tool.Set) bool {
	if s.budget == 0 {
		return len(set.Names()) > s.above
	}
	bytes := 0
	for _, name := range set.Names() {
		d, _ := set.Get(name)
		if bytes += rank.OfferSize(d); bytes > s.budget {
			return true
		}
	}
	return false
}

func (s *Selector) size(defs []tool.Definition) (bytes int) {
	for _, d := range defs {
		bytes += rank.OfferSize(d)
	}
	return bytes
}

// Offerer returns the session's offerer, or nil if all tools are offered.
func (s *Selector) Offerer() session.Offerer {
	switch {
	case s.Joining.Set != nil:
		return s.join
	case s.all != nil, len(s.Late.Occasions) > 0:
		return func(_ context.Context, o session.Occasion) *session.Offer { return s.choose(o) }
	}
	return nil
}

func (s *Selector) offer(o session.Occasion) *session.Offer {
	switch {
	case o.Offered == nil:
		return s.first(o.Prompt)
	case o.Outcomes == nil:
		return s.later(o)
	default:
		return s.found(o)
	}
}

// first offers the core and the tools that match the first prompt.
func (s *Selector) first(prompt string) *session.Offer {
	always := s.set.Named(func(name string) bool { return name == "tool_search" || slices.Contains(s.core, name) })
	budget := pickedBytes
	if s.budget > 0 {
		budget = max(1, s.budget-s.size(always.Definitions())) // 0 would mean no limit
	}
	picks := s.all.Choose(prompt, rank.Options{
		MaxCandidates: firstPicks, Budget: budget, Except: s.core, AllowUnsafe: true,
	})
	next := &session.Offer{Tools: always.Names(), Reason: "the core and what fits the prompt; tool_search finds the others"}
	return s.add(next, picks)
}

// later adds tools that clearly match a later prompt.
func (s *Selector) later(o session.Occasion) *session.Offer {
	picks := s.all.Choose(o.Prompt, rank.Options{
		MaxCandidates: laterPicks, MinScore: laterMinScore, Except: s.core, AllowUnsafe: true,
	})
	news := slices.ContainsFunc(picks, func(p rank.Choice) bool { return !p.Excluded && !slices.Contains(o.Offered, p.Name) })
	if !news {
		return nil
	}
	return s.add(&session.Offer{Tools: s.newest(o.Offered), Reason: "they fit the prompt"}, picks)
}

// newest drops the oldest picks above the limit; the core stays.
func (s *Selector) newest(offered []string) []string {
	over := len(offered) - len(s.core) - 1 - mostPicked
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool {
		if over <= 0 || name == "tool_search" || slices.Contains(s.core, name) {
			return false
		}
		over--
		return true
	})
}

// add appends picks to an offer, and groups the excluded tools by reason.
func (s *Selector) add(next *session.Offer, picks []rank.Choice) *session.Offer {
	for _, p := range picks {
		if !p.Excluded && !slices.Contains(next.Tools, p.Name) {
			next.Tools = append(next.Tools, p.Name)
		}
	}
	for _, p := range picks {
		if p.Excluded && !slices.Contains(next.Tools, p.Name) {
			next.Excluded = exclude(next.Excluded, p.Reason, p.Name)
		}
	}
	return next
}

func exclude(list []session.Exclusion, reason, name string) []session.Exclusion {
	at := slices.IndexFunc(list, func(e session.Exclusion) bool { return e.Reason == reason })
	if at < 0 {
		return append(list, session.Exclusion{Reason: reason, Tools: []string{name}})
	}
	list[at].Tools = append(list[at].Tools, name)
	return list
}

// found adds the tools that tool_search found or the model called.
func (s *Selector) found(o session.Occasion) *session.Offer {
	next := &session.Offer{Tools: slices.Clone(o.Offered), Reason: "found by tool_search, or called"}
	for _, outcome := range o.Outcomes {
		for _, name := range append(toolset.FoundBy(outcome), outcome.Tool) {
			if s.set.Has(name) && !slices.Contains(next.Tools, name) {
				next.Tools = append(next.Tools, name)
			}
		}
	}
	if len(next.Tools) == len(o.Offered) {
		return nil
	}
	return next
}
