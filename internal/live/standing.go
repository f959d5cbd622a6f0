package live

import (
	"cmp"
	"slices"

	"adze/session"
)

// A Group is a session's group in overviews.
type Group string

// The groups in display order.
const (
	NeedsYou Group = "needs you" // a question waits
	Busy     Group = "working"   // a turn runs
	ToReview Group = "to review" // done, with changed files not yet reviewed
	Done     Group = "done"      // all others
)

// Groups returns all groups in order.
func Groups() []Group { return []Group{NeedsYou, Busy, ToReview, Done} }

// Tags with a meaning in overviews. The user may set and remove them like others.
const (
	PinnedTag = "pinned"
	ReviewTag = "review" // it changed files without a user watching
)

// A Listing is a session's place and tags in an overview.
type Listing struct {
	Group    Group
	Activity string // its question or running call; empty if unknown
	Pinned   bool
	Tags     []string // the others
}

// ListingOf returns a session's listing. now is its owner's status, or nil without an owner.
func ListingOf(h session.Head, now *Status) Listing {
	p := Listing{Group: Done, Pinned: slices.Contains(h.Tags, PinnedTag)}
	if slices.Contains(h.Tags, ReviewTag) {
		p.Group = ToReview
	}
	for _, t := range h.Tags {
		if t != PinnedTag && t != ReviewTag {
			p.Tags = append(p.Tags, t)
		}
	}
	if now == nil {
		return p
	}
	p.Activity = now.Activity
	switch now.State {
	case Waiting:
		p.Group, p.Activity = NeedsYou, "asks: "+cmp.Or(now.Activity, "a question")
	case Working:
		p.Group, p.Activity = Busy, cmp.Or(now.Activity, "the model writes")
	}
	return p
}
