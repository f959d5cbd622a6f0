package policy

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// checkBytes rejects text whose display differs from its content.
func checkBytes(text string) error {
	switch {
	case len(text) > maxCommand:
		return fmt.Errorf("the command has %d bytes, more than %d; put it in a file and run that", len(text), maxCommand)
	case !utf8.ValidString(text):
		return errors.New("the command is not valid UTF-8; write it again")
	}
	for i, r := range text {
		if what := hiddenRune(r); what != "" {
			return fmt.Errorf("the command has %s (U+%04X) at byte %d; write it without", what, r, i)
		}
	}
	if n := strings.Count(text, "(") + strings.Count(text, "{"); n > maxNestingIn {
		return fmt.Errorf("the command has %d opening brackets, more than %d; put it in a file and run that", n, maxNestingIn)
	}
	return nil
}

func hiddenRune(r rune) string {
	switch {
	case r == '\n' || r == '\t':
		return ""
	case r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0:
		return "a control character"
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return "a character that changes the direction of text"
	case r >= 0x200b && r <= 0x200d, r == 0x2060, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f:
		return "an invisible character"
	}
	return ""
}
