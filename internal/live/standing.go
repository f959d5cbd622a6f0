package live

import (
	"cmp"
	"slices"

	"adze/session"
)

// Group is the group of an overview in which a session stands.
type Group string

// The groups, in the order of every overview.
const (
	NeedsYou Group = "needs you" // a question waits
	Busy     Group = "working"   // a turn runs
	ToReview Group = "to review" // it is done, and changed files that nobody has looked at
	Done     Group = "done"      // everything else
)

// Standings are all groups in their order.
func Standings() []Group { return []Group{NeedsYou, Busy, ToReview, Done} }

// Tags by which every overview knows sessions. The user may set and take them like any other tag.
const (
	PinnedTag = "pinned"
	ReviewTag = "review" // it changed files while nobody need look
)

// Listing is where an overview lists a session, and what its tags say.
type Listing struct {
	Standing Group
	Doing    string // what it asks, or its running call; if empty, nothing is known
	Pinned   bool
	Tags     []string // the others
}

// ListingOf tells where a session stands. Now is what its owner tells; if nil, nobody has it.
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
