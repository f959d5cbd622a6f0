package textedit

import (
	"strconv"
	"strings"
)

// Number gives one line as read shows it: its number, right-aligned to width, two spaces, the text. numbered undoes
// exactly this.
func Number(n, width int, line string) string {
	number := strconv.Itoa(n)
	return strings.Repeat(" ", max(0, width-len(number))) + number + "  " + line
}

// Width is the width of the number column for lines up to last.
func Width(last int) int { return len(strconv.Itoa(last)) }

// stripNumbers takes read's numbering off both texts of an edit. Every line of Old must carry a number, each one more
// than the one before; New may carry numbers on all lines or on none.
func stripNumbers(e Edit) (Edit, bool) {
	old, first, ok := unnumber(e.Old, true)
	if !ok {
		return e, false
	}
	e.Old = old
	if plain, start, ok := unnumber(e.New, false); ok && start <= first+1 && start >= first-1 {
		e.New = plain
	}
	return e, e.Old != ""
}

// unnumber strips the numbers of all lines; consecutive demands that they count up by one.
func unnumber(s string, consecutive bool) (plain string, first int, ok bool) {
	body, ended := strings.CutSuffix(s, "\n")
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		rest, n, ok := cutNumber(line)
		if !ok || consecutive && i > 0 && n != first+i {
			return "", 0, false
		}
		if i == 0 {
			first = n
		}
		lines[i] = rest
	}
	plain = strings.Join(lines, "\n")
	if ended {
		plain += "\n"
	}
	return plain, first, true
}

// cutNumber takes a number and two spaces off; models drop the spaces before an empty line, and some put a tab.
func cutNumber(line string) (rest string, n int, ok bool) {
	trimmed := strings.TrimLeft(line, " ")
	digits := 0
	for digits < len(trimmed) && trimmed[digits] >= '0' && trimmed[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(trimmed[:digits])
	if err != nil {
		return "", 0, false
	}
	rest = trimmed[digits:]
	for _, gap := range []string{"  ", "\t"} {
		if after, ok := strings.CutPrefix(rest, gap); ok {
			return after, n, true
		}
	}
	if strings.TrimRight(rest, " \r") == "" {
		return strings.TrimLeft(rest, " "), n, true
	}
	return "", 0, false
}
