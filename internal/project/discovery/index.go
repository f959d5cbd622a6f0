package discovery

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// in bytes
const maxDescribed = 200

// A Line is an entry of an index.
type Line struct{ Name, Description string }

// Short shortens a description to one line for an index.
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

// Index lists items for a model below a head, in at most room bytes. Items first in order keep
// their descriptions if there is room, others only their names, and the rest is counted, with finds
// as the way to find it. The result is the same in every session of a folder, so that a provider's
// cache applies.
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
		if described > 0 { // names come before descriptions
			return b.String() + namesOf(names, math.MaxInt, finds)
		}
		return b.String() + namesOf(names, room-b.Len(), finds)
	}
	return text(sort.Search(len(order), func(described int) bool { return len(text(described+1)) > room }))
}

// namesOf joins names on one line, and counts those that do not fit into room bytes.
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

// Indexed describes a name's entry in an index, in a word and a reason: with its description, its
// name only, or not listed.
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
