// Package toolselect decides which of many tools the requests of a session show: the core always,
// what fits the prompt, and what tool_search or the model's own calls brought up since.
//
// The one rule: an offer changes only with a named reason, because a change drops the provider's
// cache.
//
// Start reading at Shelf.Fill, then Shelf.offer; late.go has tools wait for their occasion where
// all fit, join.go takes those that come while a session runs. Known limits: the numbers were
// measured on one labelled set.
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

// Numbers of pre-selection. Recall and precision were measured on the dev half of testdata/pick.
const (
	// offerAbove is how many tools are all offered; the configuration may say otherwise.
	offerAbove = 22
	// firstPicks are offered beside the core from the first prompt on: of ten picks three in four
	// hold the right tool, of three not quite two in three.
	firstPicks = 10
	// A later prompt changes the offer, which drops the provider's cache, only for a pick that is
	// more often right than wrong: three in five are at this score.
	laterPicks    = 3
	laterMinScore = 0.25
	// pickedBytes bounds the JSON of the first picks.
	pickedBytes = 8 << 10
	// mostPicked is how many tools beside the core stay offered; the oldest leave at the next
	// change that a prompt makes.
	mostPicked = 24
)

// Shelf decides which of many tools requests show: the core always, what fits the first prompt, and
// what tool_search or the model's own calls brought up since.
type Shelf struct {
	core   []string
	budget int // bytes of all tools together; if 0, they are counted instead
	above  int

	// Late are tools that wait for their occasion, where all are offered.
	Late Late
	// Joining are tools that come while the session runs.
	Joining Joining

	set *tool.Set
	all *rank.Picker // if nil, all tools are offered

	mu      sync.Mutex
	offered []string
}

// New makes a shelf with the tools that are always offered. All tools together may take budget
// bytes; where that is 0 they are counted, and up to all of them are shown (0: the usual number).
func New(core []string, budget, all int) *Shelf {
	return &Shelf{core: core, budget: budget, above: cmp.Or(all, offerAbove)}
}

// Fill takes the tools of a run, and returns those that a model may call: tool_search goes when it
// has nothing to find.
func (s *Shelf) Fill(set *tool.Set) *tool.Set {
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

func (s *Shelf) tooMany(set *tool.Set) bool {
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

func (s *Shelf) size(defs []tool.Definition) (bytes int) {
	for _, d := range defs {
		bytes += rank.OfferSize(d)
	}
	return bytes
}

// Offerer is the session's port; nil where all tools are offered.
func (s *Shelf) Offerer() session.Offerer {
	switch {
	case s.Joining.Set != nil:
		return s.join
	case s.all != nil, len(s.Late.At) > 0:
		return func(_ context.Context, o session.Occasion) *session.Offer { return s.choose(o) }
	}
	return nil
}

func (s *Shelf) offer(o session.Occasion) *session.Offer {
	switch {
	case o.Offered == nil:
		return s.first(o.Prompt)
	case o.Outcomes == nil:
		return s.later(o)
	default:
		return s.found(o)
	}
}

// first offers the core and what fits the first prompt.
func (s *Shelf) first(prompt string) *session.Offer {
	always := s.set.Named(func(name string) bool { return name == "tool_search" || slices.Contains(s.core, name) })
	budget := pickedBytes
	if s.budget > 0 {
		budget = max(1, s.budget-s.size(always.Definitions())) // 0 would be no bound
	}
	picks := s.all.Pick(prompt, rank.Options{
		MaxCandidates: firstPicks, Budget: budget, Except: s.core, AllowUnsafe: true, Debug: true,
	})
	next := &session.Offer{Tools: always.Names(), Reason: "the core and what fits the prompt; tool_search finds the others"}
	return s.add(next, picks)
}

// later adds what clearly fits a later prompt.
func (s *Shelf) later(o session.Occasion) *session.Offer {
	picks := s.all.Pick(o.Prompt, rank.Options{
		MaxCandidates: laterPicks, MinScore: laterMinScore, Except: s.core, AllowUnsafe: true, Debug: true,
	})
	news := slices.ContainsFunc(picks, func(p rank.Result) bool { return !p.Excluded && !slices.Contains(o.Offered, p.Definition.Name) })
	if !news {
		return nil
	}
	return s.add(&session.Offer{Tools: s.newest(o.Offered), Reason: "they fit the prompt"}, picks)
}

// newest lets the oldest picks go when there are many; the core stays.
func (s *Shelf) newest(offered []string) []string {
	over := len(offered) - len(s.core) - 1 - mostPicked
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool {
		if over <= 0 || name == "tool_search" || slices.Contains(s.core, name) {
			return false
		}
		over--
		return true
	})
}

// add puts picks behind the tools of an offer, and groups what was excluded by reason.
func (s *Shelf) add(next *session.Offer, picks []rank.Result) *session.Offer {
	for _, p := range picks {
		if !p.Excluded && !slices.Contains(next.Tools, p.Definition.Name) {
			next.Tools = append(next.Tools, p.Definition.Name)
		}
	}
	for _, p := range picks {
		if p.Excluded && !slices.Contains(next.Tools, p.Definition.Name) {
			next.Excluded = exclude(next.Excluded, p.Reason, p.Definition.Name)
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

// found adds what tool_search found, and what the model called without having been shown it.
func (s *Shelf) found(o session.Occasion) *session.Offer {
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
