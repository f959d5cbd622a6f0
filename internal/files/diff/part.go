package diff

import (
	"fmt"
	"slices"
	"strings"
)

// hunks groups changes whose context touches; each group is printed as one hunk.
func hunks(changes []Change) (out [][]Change) {
	for len(changes) > 0 {
		n := 1
		for n < len(changes) && changes[n].Old0-changes[n-1].Old1 <= 2*Context {
			n++
		}
		out = append(out, changes[:n])
		changes = changes[n:]
	}
	return out
}

// ApplyExcept applies the hunks printed by [Unified] to from, except those in left, counted from 1.
// It returns the text and the number of applied hunks.
func ApplyExcept(from, to string, left []int) (text string, kept int, err error) {
	before, after := middle(Side{Text: from}, Side{Text: to})
	a, b := Lines(before.Text), Lines(after.Text)
	together := hunks(Compare(a, b))
	for _, n := range left {
		if n < 1 || n > len(together) {
			return "", 0, fmt.Errorf("there is no hunk %d: the change has %d", n, len(together))
		}
	}
	head := lineStart(from, before.Skip)
	var out strings.Builder
	out.WriteString(from[:head])
	at := 0
	for i, changes := range together {
		if slices.Contains(left, i+1) {
			continue
		}
		kept++
		for _, c := range changes {
			writeAll(&out, a[at:c.Old0])
			writeAll(&out, b[c.New0:c.New1])
			at = c.Old1
		}
	}
	writeAll(&out, a[at:])
	out.WriteString(from[head+len(before.Text):])
	return out.String(), kept, nil
}

func lineStart(s string, lines int) (at int) {
	for range lines {
		at += strings.IndexByte(s[at:], '\n') + 1
	}
	return at
}

func writeAll(out *strings.Builder, list []string) {
	for _, line := range list {
		out.WriteString(line)
	}
}
