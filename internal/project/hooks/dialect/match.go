package dialect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// matcher matches names: all, a list, or an unanchored regular expression.
type matcher struct {
	names []string       // exact; nil if it is no list
	re    *regexp.Regexp // nil if it is no expression
}

// in bytes
const maxMatcher = 1 << 10

// compile parses a matcher: letters, digits, _ - , | and blanks form a list of names, "" and *
// match all, anything else is an expression. Other assistants use JavaScript's; parts that Go
// lacks, such as (?!…), are errors.
func compile(text string) (matcher, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "" || text == "*":
		return matcher{}, nil
	case len(text) > maxMatcher:
		return matcher{}, fmt.Errorf("its matcher has more than %d bytes", maxMatcher)
	case strings.IndexFunc(text, func(r rune) bool { return !listed(r) }) < 0:
		return matcher{names: strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",| ", r) })}, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return matcher{}, errors.New("its matcher " + text + " cannot be translated: " + strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return matcher{re: re}, nil
}

func listed(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-,| ", r)
}

func (m matcher) any(name string) bool {
	switch {
	case m.names != nil:
		return slices.Contains(m.names, name)
	case m.re != nil:
		return m.re.MatchString(name)
	}
	return true
}

// first returns the first of a tool's names that matches.
func (m matcher) first(names []string) (string, bool) {
	for _, name := range names {
		if m.any(name) {
			return name, true
		}
	}
	return "", false
}
