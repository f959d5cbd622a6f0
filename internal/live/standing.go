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

// Standings returns all groups in order.
func Standings() []Group { return []Group{NeedsYou, Busy, ToReview, Done} }

// Tags with a meaning in overviews. The user may set and remove them like others.
const (
	PinnedTag = "pinned"
	ReviewTag = "review" // it changed files without a user watching
)

// A Listing is a session's place and tags in an overview.
type Listing struct {
	Standing Group
	Doing    string // its question or running call; empty if unknown
	Pinned   bool
	Tags     []string // the others
}

// ListingOf returns a session's listing. now is its owner's status, or nil without an owner.
func ListingOf(h session.Head, now *Status) Listing {
	p := Listing{Standing: Done, Pinned: slices.Contains(h.Tags, PinnedTag)}
	if slices.Contains(h.Tags, ReviewTag) {
		p.Standing = ToReview
	}
	for _, t := range h.Tags {
		if t != PinnedTag && t != ReviewTag {
			p.Tags = append(p.Tags, t)
		}
	}
	if now == nil {
		return p
	}
	p.Doing = now.Doing
	switch now.State {
	case Waiting:
		p.Standing, p.Doing = NeedsYou, "asks: "+cmp.Or(now.Doing, "a question")
	case Working:
		p.Standing, p.Doing = Busy, cmp.Or(now.Doing, "the model writes")
	}
	return p
}
