package live

import (
	"slices"
	"testing"

	"adze/session"
)

func TestListingOf(t *testing.T) {
	marked := session.Head{Tags: []string{"keep", PinnedTag, ReviewTag}}
	for name, c := range map[string]struct {
		head  session.Head
		now   *Status
		want  Group
		doing string
	}{
		"nobody has it":            {session.Head{}, nil, Done, ""},
		"ended, changed files":     {marked, nil, ToReview, ""},
		"lives, changed files":     {marked, &Status{State: Idle}, ToReview, ""},
		"works, changed files":     {marked, &Status{State: Working, Activity: "edit a.go"}, Busy, "edit a.go"},
		"thinks":                   {session.Head{}, &Status{State: Working}, Busy, "the model writes"},
		"asks":                     {marked, &Status{State: Waiting, Activity: "run make?", Questions: 1}, NeedsYou, "asks: run make?"},
		"asks and does not say":    {session.Head{}, &Status{State: Waiting, Questions: 1}, NeedsYou, "asks: a question"},
		"lives, and failed before": {session.Head{}, &Status{State: Idle, Activity: "it broke"}, Done, "it broke"},
	} {
		p := ListingOf(c.head, c.now)
		if p.Group != c.want || p.Activity != c.doing {
			t.Errorf("%s: %+v", name, p)
		}
		if is := len(c.head.Tags) > 0; p.Pinned != is || is && !slices.Equal(p.Tags, []string{"keep"}) {
			t.Errorf("%s: tags %q, pinned %v", name, p.Tags, p.Pinned)
		}
	}
}
