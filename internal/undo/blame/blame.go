// Package blame finds the call that wrote each line of a file, using the sessions' logs.
//
// The one rule: a line is attributed to a call only while the call's text is unchanged. Unknown
// origins are reported as unknown, and lines changed by the user belong to the user.
//
// Start reading at Lines: it starts at the present file and reverts change by change in memory.
// log.go reads changes from logs, hunk.go their diffs.
//
// Known limits: a line the user deleted and retyped is attributed to the call. A moved file starts
// anew. The log has only the first 600 lines of a long diff. Commands' diffs are not logged in
// full; Contents fills in what is still stored.
package blame

import (
	"slices"
	"time"

	"adze/internal/files/diff"
	"adze/session"
	"adze/tool"
)

// A Change is one call's change to one file.
type Change struct {
	Session session.ID
	Turn    int    // from 1; 0 if reverted or not started by a user
	Prompt  string // of the turn
	Message string
	Call    tool.CallID
	Tool    string
	Agent   string // the subagent that made it
	Command string // empty for a file tool
	Time    time.Time
	Diff    string // unified; empty if unknown
	// Before and After are hex hashes of the file's contents, empty if unknown. Created means the
	// file did not exist before.
	Before, After string
	Created       bool
	OtherWorktree bool // made in another worktree, and possibly copied here
}

// A Line holds a line's origin. By is an index into the changes, or -1. Perhaps lists further
// possible changes.
type Line struct {
	ChangeIndex int
	Perhaps     []int
}

// Contents returns a file's stored content by its hash. It may be nil.
type Contents func(sha256 string) (string, bool)

// line is a line of a version of the file. at is its index in the present file, or -1.
type line struct {
	text string
	at   int
}

// history is the file's version at one point in the past, going backward.
type history struct {
	lines  []line
	blamed []Line
}

// Lines returns each line's origin. The changes are sorted by time.
func Lines(text, sha256 string, changes []Change, kept Contents) []Line {
	h := &history{}
	for i, t := range diff.Lines(text) {
		h.lines = append(h.lines, line{bare(t), i})
		h.blamed = append(h.blamed, Line{ChangeIndex: -1})
	}
	var blind []int
	for k := len(changes) - 1; k >= 0; k-- {
		c := changes[k]
		if c.OtherWorktree {
			for _, u := range slices.Backward(parse(c.Diff)) {
				if _, there := h.find(u); there {
					h.takeBack(u, k)
				}
			}
			continue
		}
		if before, after, known := c.contents(kept); known {
			h.becomes(before, after, k)
			continue
		}
		hunks, known := parse(c.Diff), c.Diff != ""
		switch {
		case !known && c.Created && c.After != "" && c.After == sha256:
			h.all(k)
		case !known:
			blind = append(blind, k)
		default:
			for _, u := range slices.Backward(hunks) {
				h.takeBack(u, k)
			}
		}
	}
	for i := range h.blamed {
		if h.blamed[i].ChangeIndex < 0 && len(h.blamed[i].Perhaps) == 0 {
			h.blamed[i].Perhaps = slices.Sorted(slices.Values(blind))
		}
	}
	return h.blamed
}

// all attributes every line without an owner to a change.
func (h *history) all(k int) {
	for _, l := range h.lines {
		h.own(l, k)
	}
	h.lines = nil
}

func (h *history) own(l line, k int) {
	if l.at >= 0 && h.blamed[l.at].ChangeIndex < 0 {
		h.blamed[l.at].ChangeIndex = k
	}
}

// takeBack reverts one hunk: its added lines belong to the change, and its removed lines come back.
func (h *history) takeBack(u hunk, k int) {
	at, there := h.find(u)
	if !there {
		h.takeSome(u, k)
		return
	}
	var before []line
	for _, l := range u.lines {
		switch l.sign {
		case '+':
			h.own(h.lines[at], k)
			at++
		case '-':
			before = append(before, line{l.text, -1})
		default:
			before = append(before, h.lines[at])
			at++
		}
	}
	begin := at - len(u.text())
	for _, l := range h.lines[at:min(at+u.hidden, len(h.lines))] { // a truncated diff does not show which ones changed
		if l.at >= 0 && h.blamed[l.at].ChangeIndex < 0 {
			h.blamed[l.at].Perhaps = append(h.blamed[l.at].Perhaps, k)
		}
	}
	h.lines = slices.Concat(h.lines[:begin], before, h.lines[at:])
}

// find returns the hunk's present position: the expected one, or the nearest match.
func (h *history) find(u hunk) (at int, there bool) {
	want, should := u.text(), min(max(u.at, 0), len(h.lines))
	if len(want) == 0 {
		return should, true
	}
	for off := 0; off <= len(h.lines); off++ {
		for _, at := range []int{should - off, should + off} {
			if at >= 0 && at+len(want) <= len(h.lines) && slices.EqualFunc(want, h.lines[at:at+len(want)], func(t string, l line) bool { return t == l.text }) {
				return at, true
			}
		}
	}
	return 0, false
}

// becomes reverts a change whose contents are both known. It matches the present lines with the
// content after the change, and continues with those that came from the content before.
func (h *history) becomes(before, after string, k int) {
	a, b := texts(before), texts(after)
	stands := make([]int, len(b)) // present position of each line of after, from 1
	now := make([]string, len(h.lines))
	for i, l := range h.lines {
		now[i] = l.text
	}
	stayed(b, now, func(x, y int) { stands[x] = y + 1 })
	lines := make([]line, len(a))
	for i, text := range a {
		lines[i] = line{text, -1}
	}
	old := make([]bool, len(b))
	stayed(a, b, func(x, y int) {
		old[y] = true
		if stands[y] > 0 {
			lines[x].at = h.lines[stands[y]-1].at
		}
	})
	for y, at := range stands {
		if at > 0 && !old[y] {
			h.own(h.lines[at-1], k)
		}
	}
	h.lines = lines
}

// stayed calls pair for each line common to both texts.
func stayed(a, b []string, pair func(x, y int)) {
	x, y := 0, 0
	for _, c := range append(diff.Compare(a, b), diff.Change{Old0: len(a), Old1: len(a), New0: len(b), New1: len(b)}) {
		for ; x < c.Old0; x, y = x+1, y+1 {
			pair(x, y)
		}
		x, y = c.Old1, c.New1
	}
}

func texts(s string) []string {
	lines := diff.Lines(s)
	for i, t := range lines {
		lines[i] = bare(t)
	}
	return lines
}

// takeSome handles a hunk that the user partly changed since: its remaining new lines, in order,
// belong to the change.
func (h *history) takeSome(u hunk, k int) {
	want, now := u.text(), make([]string, len(h.lines))
	for i, l := range h.lines {
		now[i] = l.text
	}
	gone := map[int]bool{}
	stayed(want, now, func(x, y int) {
		if u.added(x) {
			h.own(h.lines[y], k)
			gone[y] = true
		}
	})
	var left []line
	for i, l := range h.lines {
		if !gone[i] {
			left = append(left, l)
		}
	}
	h.lines = left
}
