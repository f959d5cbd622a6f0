package live

import (
	"cmp"
	"slices"

	"adze/session"
)

// Standing is the group of an overview in which a session stands.
type Standing string

// The groups, in the order of every overview.
const (
	NeedsYou Standing = "needs you" // a question waits
	Busy     Standing = "working"   // a turn runs
	ToReview Standing = "to review" // it is done, and changed files that nobody has looked at
	Done     Standing = "done"      // everything else
)

// Standings are all groups in their order.
func Standings() []Standing { return []Standing{NeedsYou, Busy, ToReview, Done} }

// Tags by which every overview knows sessions. The user may set and take them like any other tag.
const (
	PinnedTag = "pinned"
	ReviewTag = "review" // it changed files while nobody need look
)

// Listing is where an overview lists a session, and what its tags say.
type Listing struct {
	Standing Standing
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
