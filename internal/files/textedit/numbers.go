package textedit

import (
	"strconv"
	"strings"
)

// Number gives one line as read shows it: its number, right-aligned to width, two spaces, the text.
// unnumbered undoes this and what other assistants show.
func Number(n, width int, line string) string {
	number := strconv.Itoa(n)
	return strings.Repeat(" ", max(0, width-len(number))) + number + "  " + line
}

// Width is the width of the number column for lines up to last.
func Width(last int) int { return len(strconv.Itoa(last)) }
