// Package diff computes a minimal line diff and prints it like git.
//
// The one rule: git apply accepts the output of Unified. Start reading at Unified; myers.go has the
// algorithm.
//
// Known limits: a stretch with more than searchLimit differing lines gets a correct but not minimal
// result.
package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// Context is the number of equal lines printed around a change, as in git.
const Context = 3

// Change replaces the old lines [Old0, Old1) by the new lines [New0, New1), counted from 0.
type Change struct{ Old0, Old1, New0, New1 int }

// Diff is a printed diff with exact counts.
type Diff struct {
	Text    string
	Added   int
	Removed int
}

// Side is one of two texts to compare.
type Side struct {
	Name string // if empty, the file does not exist
	Text string
	Skip int // lines before Text, if it is only part of the file
}

// Lines splits s after each \n; the last line may lack it.
func Lines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// Unified compares two texts. It strips common lines at both ends first, so that a small change in
// a large text is cheap.
func Unified(from, to Side) Diff {
	from, to = middle(from, to)
	return Print(from, to, Compare(Lines(from.Text), Lines(to.Text)))
}

// middle cuts both sides to the differing lines with Context lines around them.
func middle(from, to Side) (Side, Side) {
	head := 0
	for short := min(len(from.Text), len(to.Text)); head < short && from.Text[head] == to.Text[head]; {
		head++
	}
	for range Context + 1 { // the first step goes to the start of the differing line
		head = strings.LastIndexByte(from.Text[:max(0, head-1)], '\n') + 1
	}
	skip := strings.Count(from.Text[:head], "\n")
	a, b := from.Text[head:], to.Text[head:]
	tail := 0
	for short := min(len(a), len(b)); tail < short && a[len(a)-1-tail] == b[len(b)-1-tail]; {
		tail++
	}
	keep := len(a) - tail
	for range Context + 1 {
		next := strings.IndexByte(a[keep:], '\n')
		if next < 0 {
			keep = len(a)
			break
		}
		keep += next + 1
	}
	tail = len(a) - keep
	from.Text, to.Text = a[:keep], b[:len(b)-tail]
	from.Skip, to.Skip = from.Skip+skip, to.Skip+skip
	return from, to
}

// Print is Unified with known changes, all or some of them.
func Print(from, to Side, changes []Change) Diff {
	a, b := Lines(from.Text), Lines(to.Text)
	d := Diff{}
	for _, c := range changes {
		d.Removed += c.Old1 - c.Old0
		d.Added += c.New1 - c.New0
	}
	if len(changes) == 0 {
		return d
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", header("a/", from.Name), header("b/", to.Name))
	for _, together := range hunks(changes) {
		hunk{&out, from.Skip, to.Skip}.print(a, b, together)
	}
	d.Text = out.String()
	return d
}

// header formats a file name like git, quoting special characters.
func header(prefix, name string) string {
	if name == "" {
		return "/dev/null"
	}
	name = prefix + name
	if strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == '"' || c == '\\' || c == 0x7f }) {
		return strconv.Quote(name)
	}
	if strings.Contains(name, " ") {
		return name + "\t" // ends the name for programs that expect a date after it
	}
	return name
}

type hunk struct {
	out          *strings.Builder
	skipA, skipB int
}

func (h hunk) print(a, b []string, changes []Change) {
	first, last := changes[0], changes[len(changes)-1]
	before := min(Context, first.Old0)
	after := min(Context, len(a)-last.Old1)
	fmt.Fprintf(h.out, "@@ -%s +%s @@\n",
		span(h.skipA+first.Old0-before, h.skipA+last.Old1+after), span(h.skipB+first.New0-before, h.skipB+last.New1+after))
	at := first.Old0 - before
	for _, c := range changes {
		lines(h.out, ' ', a[at:c.Old0])
		lines(h.out, '-', a[c.Old0:c.Old1])
		lines(h.out, '+', b[c.New0:c.New1])
		at = c.Old1
	}
	lines(h.out, ' ', a[at:last.Old1+after])
}

// span formats a range for a hunk header: an empty one names the preceding line.
func span(from, to int) string {
	switch n := to - from; n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return strconv.Itoa(from + 1)
	default:
		return fmt.Sprintf("%d,%d", from+1, n)
	}
}

func lines(out *strings.Builder, sign byte, list []string) {
	for _, line := range list {
		out.WriteByte(sign)
		out.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
