package workspace

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShownName quotes a name that could not be told from the text around it, as Go quotes a string:
// one with a line break or other control characters, with bytes that are not UTF-8, or with
// characters that nobody sees or that turn the direction of writing, so that gpj.exe is read as
// exe.jpg. Resolve takes it back.
func ShownName(name string) string {
	odd := func(r rune) bool {
		return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if strings.HasPrefix(name, `"`) || strings.IndexFunc(name, odd) >= 0 {
		return strconv.Quote(name)
	}
	return name
}

// plainName is the name that ShownName shows so; any other stays as it is.
func plainName(shown string) string {
	name, err := strconv.Unquote(shown)
	if err != nil || ShownName(name) != shown {
		return shown
	}
	return name
}
