package discovery

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// maxDescribed bounds a description in an index, in bytes.
const maxDescribed = 200

// Line is an entry of an index.
type Line struct{ Name, Description string }

// Short is a description on one line, cut to what a line of an index has room for.
func Short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxDescribed {
		return text
	}
	text = strings.ToValidUTF8(text[:maxDescribed-3], "")
	if at := strings.LastIndexByte(text, ' '); at > maxDescribed/2 {
		text = text[:at]
	}
	return text + " …"
}

// Index tells a model which things there are, below a head and in at most room bytes. Those that
// come first in order keep their descriptions as far as there is room, the others their names, and
// the rest is counted, with what finds it. It is the same in each session of a folder, so that a
// provider's cache holds.
func Index(head string, lines []Line, order []int, room int, finds string) string {
	text := func(described int) string {
		var b strings.Builder
		b.WriteString(head + "\n")
		var names []string
		for n, i := range lines {
			switch {
			case !slices.Contains(order[:described], n):
				names = append(names, i.Name)
			case i.Description == "":
				fmt.Fprintf(&b, "- %s\n", i.Name)
			default:
				fmt.Fprintf(&b, "- %s: %s\n", i.Name, Short(i.Description))
			}
		}
		if described > 0 { // a name comes before a description
			return b.String() + namesOf(names, math.MaxInt, finds)
		}
		return b.String() + namesOf(names, room-b.Len(), finds)
	}
	return text(sort.Search(len(order), func(described int) bool { return len(text(described+1)) > room }))
}

// namesOf are names on one line, and how many others there are where room bytes do not hold all.
func namesOf(names []string, room int, finds string) string {
	for left := len(names); left > 0; left-- {
		line := "- " + strings.Join(names[:left], ", ") + "\n"
		if rest := len(names) - left; rest > 0 {
			line += fmt.Sprintf("+%d: %s\n", rest, finds)
		}
		if len(line) <= room {
			return line
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("+%d: %s\n", len(names), finds)
}

// Indexed says what an index has of a name, in a word and a reason: a line with its description,
// its name alone, or nothing that the model sees unasked.
func Indexed(index, name string) (state, why string) {
	for line := range strings.SplitSeq(index, "\n") {
		entry, listed := strings.CutPrefix(line, "- ")
		switch before, _, described := strings.Cut(entry, ": "); {
		case !listed:
		case described && before == name:
			return "described", "in the index"
		case !described && slices.Contains(strings.Split(entry, ", "), name):
			return "named", "in the index, without its description: it has none, or there is no room"
		}
	}
	return "narrowed", "the index has no room"
}
