package toolselect

import (
	"context"
	"slices"

	"adze/session"
	"adze/tool"
	"adze/tool/rank"
	"adze/toolset"
)

// Joining adds tools during a session, from servers that were not known when it began. All fields
// may be nil.
type Joining struct {
	// Set returns the current tools, at an occasion when tools may join; nil means no change.
	Set func(context.Context, session.Occasion) *tool.Set
	// Search waits for the tools of unknown servers and returns all tools; nil means no more are
	// expected.
	Search func(context.Context) *tool.Set
}

// join adds new tools and chooses. Tools already shown keep their position.
func (s *Selector) join(ctx context.Context, o session.Occasion) *session.Offer {
	var set *tool.Set
	if s.Joining.Set != nil {
		set = s.Joining.Set(ctx, o)
	}
	if set == nil {
		return s.choose(o)
	}
	before := s.set
	set = s.Fill(set)
	next := s.choose(o)
	if o.Offered == nil {
		next.Set = set
		return next
	}
	if next == nil {
		next = &session.Offer{Tools: slices.Clone(o.Offered), Quiet: true}
	}
	next.Set, next.Reason = set, "tools of servers joined"
	for _, name := range set.Names() {
		if !before.Has(name) && (s.all == nil || name == "tool_search") && !slices.Contains(next.Tools, name) {
			next.Tools = append(next.Tools, name)
		}
	}
	return next
}

// choose returns an offer of the known tools.
func (s *Selector) choose(o session.Occasion) *session.Offer {
	var next *session.Offer
	if s.all != nil {
		next = s.offer(o)
	} else {
		next = s.Late.offer(s.set, o)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.offered = o.Offered; next != nil {
		s.offered = next.Tools
	}
	return next
}

// searched returns the tools for tool_search, including those that join with the next request.
func (s *Selector) searched(ctx context.Context) (*rank.Picker, int) {
	set, all := s.set, s.all
	if all == nil && set != nil && set.Has("tool_search") {
		all = s.picker(set)
	}
	if s.Joining.Search != nil {
		if more := s.Joining.Search(ctx); more != nil {
			set, all = more, s.picker(more)
		}
	}
	if all == nil {
		return nil, 0
	}
	of := len(set.Names())
	if set.Has("tool_search") {
		of--
	}
	return all, of
}

// picker selects among a set's tools, without tool_search itself.
func (s *Selector) picker(set *tool.Set) *rank.Picker {
	return rank.Of(set.Named(func(name string) bool { return name != "tool_search" }))
}

// Find implements the search of tool_search.
func (s *Selector) Find(ctx context.Context, query string, limit int) toolset.Finding {
	all, of := s.searched(ctx)
	if all == nil {
		return toolset.Finding{}
	}
	s.mu.Lock()
	offered := s.offered
	s.mu.Unlock()
	picks := all.Pick(query, rank.Options{MaxCandidates: limit, AllowUnsafe: true})
	out := toolset.Finding{Searched: of}
	for _, p := range picks {
		out.Tools = append(out.Tools, toolset.ToolMatch{
			Name: p.Definition.Name, Description: p.Definition.Description, Offered: slices.Contains(offered, p.Definition.Name),
		})
	}
	return out
}
