package workspace

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShownName quotes a name as a Go string if it could be confused with surrounding text: control
// characters, invalid UTF-8, invisible characters or ones that change the writing direction, so
// that gpj.exe displays as exe.jpg. Resolve accepts the quoted form.
func ShownName(name string) string {
	odd := func(r rune) bool {
		return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if strings.HasPrefix(name, `"`) || strings.IndexFunc(name, odd) >= 0 {
		return strconv.Quote(name)
	}
	return name
}

func plainName(shown string) string {
	name, err := strconv.Unquote(shown)
	if err != nil || ShownName(name) != shown {
		return shown
	}
	return name
}
