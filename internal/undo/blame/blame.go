// Package blame tells which call wrote a line of a file, by the logs of sessions.
//
// The one rule: a line is a call's only where the text that the call wrote still stands. What
// nobody knows is said to be unknown, and what the user changed is theirs.
//
// Start reading at Lines: it goes back from the file as it is, change by change, and takes each one
// back in its mind. log.go reads changes from logs, hunk.go the differences that they hold.
//
// Known limits: a line that the user took away and typed again looks like the call's. A file that
// was moved begins anew. Of a long difference the log has the first 600 lines; the calls of
// commands have none, but for what Content still gives.
package blame

import (
	"slices"
	"time"

	"adze/internal/files/diff"
	"adze/session"
	"adze/tool"
)

// Change is what one call did to one file.
type Change struct {
	Session session.ID
	Turn    int    // from 1; if 0, it was taken back, or nobody began it
	Prompt  string // of that turn
	Message string
	Call    tool.CallID
	Tool    string
	Agent   string // the subagent that made it
	Command string // that ran; if empty, a file tool
	Time    time.Time
	Diff    string // unified; if empty, not known
	// Before and After are the hashes of the file's contents, in hexadecimal; if empty, not known.
	// Created says that there was no file before.
	Before, After string
	Created       bool
	Elsewhere     bool // in another work tree, from which it may have come here
}

// Line is what is known of a line. By is an index into the changes, -1 for none. Perhaps are
// changes that may have written it.
type Line struct {
	By      int
	Perhaps []int
}

// Contents gives the content of a file by its hash, where it is still kept. If nil, nothing is.
type Contents func(sha256 string) (string, bool)

// line is one of a version of the file: its text, and which one of the file as it is now, -1 when
// it is gone.
type line struct {
	text string
	at   int
}

// history goes back from the file as it is.
type history struct {
	lines []line
	found []Line
}

// Lines tells for each line of a file by which of the changes it was written. Changes are in the
// order of their time.
func Lines(text, sha256 string, changes []Change, kept Contents) []Line {
	h := &history{}
	for i, t := range diff.Lines(text) {
		h.lines = append(h.lines, line{bare(t), i})
		h.found = append(h.found, Line{By: -1})
	}
	var blind []int
	for k := len(changes) - 1; k >= 0; k-- {
		c := changes[k]
		if c.Elsewhere {
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
	for i := range h.found {
		if h.found[i].By < 0 && len(h.found[i].Perhaps) == 0 {
			h.found[i].Perhaps = slices.Sorted(slices.Values(blind))
		}
	}
	return h.found
}

// all gives every line that has no owner to a change.
func (h *history) all(k int) {
	for _, l := range h.lines {
		h.own(l, k)
	}
	h.lines = nil
}

func (h *history) own(l line, k int) {
	if l.at >= 0 && h.found[l.at].By < 0 {
		h.found[l.at].By = k
	}
}

// takeBack undoes one part of a change: where its lines stand they are the change's, and what it
// took away comes back.
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
	for _, l := range h.lines[at:min(at+u.hidden, len(h.lines))] { // of a difference that was cut nobody knows which they are
		if l.at >= 0 && h.found[l.at].By < 0 {
			h.found[l.at].Perhaps = append(h.found[l.at].Perhaps, k)
		}
	}
	h.lines = slices.Concat(h.lines[:begin], before, h.lines[at:])
}

// find looks where a hunk's lines stand now: where they should, else as near to that as there is.
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

// becomes goes back behind a change of which both contents are known: the lines that stand now are
// found in the one after, and those that it had from the one before go on.
func (h *history) becomes(before, after string, k int) {
	a, b := texts(before), texts(after)
	stands := make([]int, len(b)) // where a line of the content after stands now, from 1
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

// stayed calls pair for the lines that two texts have in common.
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

// takeSome is for a hunk of which the user changed a part since: those of its new lines that
// still stand, in its order, are the change's.
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
