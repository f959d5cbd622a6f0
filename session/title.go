package session

import "strings"

// titleLength is how many characters of a prompt name its session.
const titleLength = 72

// titleOf is the first line of a prompt, cut to a length that fits a list.
func titleOf(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	runes := []rune(strings.TrimSpace(line))
	if len(runes) <= titleLength {
		return string(runes)
	}
	return string(runes[:titleLength-1]) + "…"
}
