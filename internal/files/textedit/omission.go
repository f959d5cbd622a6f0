package textedit

import (
	"regexp"
	"strings"
	"sync"
)

const (
	restWord  = `(?:rest|remainder|remaining|other|existing|previous|original|unchanged|same)`
	thingWord = `(?:of )?(?:the |your |this )?(?:code|file|contents?|functions?|methods?|class|classes|implementation|imports?|lines|logic|text|body|sections?|document|fields|tests?|cases)`
	sameWord  = `(?:unchanged|(?:remains?|stays?|is|are) (?:the same|unchanged|here|as before|as is)|the same|same as before|as before|as is|untouched|omitted|goes here|continues?|here)`
)

// plainOmission matches a comment that marks omitted text by itself.
var plainOmission = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:the )?(?:` +
		`rest of .{0,40}|` +
		restWord + ` ` + thingWord + `(?: .{0,30}?)? ` + sameWord + `|` +
		`(?:keep|leave|insert|include) (?:the |your )?(?:rest|existing code)(?: .{0,30})?|` +
		`(?:.{0,30} )?omitted for brevity|unchanged(?: code)?|no changes (?:here|needed|below|above))$`)
})

// dottedOmission matches one that needs surrounding dots.
var dottedOmission = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:the )?(?:` + restWord + `(?: ` + thingWord + `)?(?: .{0,30})?|snip|omitted|truncated|etc|and so on)$`)
})

// Omission returns a line in next that marks omitted text ("// ... rest of the code unchanged"),
// unless before has the same line, or "".
func Omission(next, before string) string {
	for line := range strings.Lines(next) {
		line = strings.TrimSpace(line)
		if len(line) < 6 || len(line) > 120 {
			continue
		}
		if omits(line) && !strings.Contains(before, line) {
			return line
		}
	}
	return ""
}

func omits(line string) bool {
	core, comment := uncomment(strings.Join(strings.Fields(line), " "))
	bracket := strings.HasPrefix(core, "[") || strings.HasPrefix(core, "(") || strings.HasPrefix(core, "<")
	dots := dotted(core)
	bare := strings.TrimRight(strings.Trim(core, ".…[](){}<> "), ":")
	if (comment || bracket || dots == 2) && plainOmission().MatchString(bare) {
		return true
	}
	return (dots == 2 || dots == 1 && (comment || bracket)) && dottedOmission().MatchString(bare)
}

// dotted counts the ends of s with dots.
func dotted(s string) (ends int) {
	s = strings.ReplaceAll(strings.Trim(s, "[](){}<> "), "…", "...")
	if strings.HasPrefix(s, "...") {
		ends++
	}
	if strings.HasSuffix(s, "...") {
		ends++
	}
	return ends
}

func uncomment(line string) (core string, comment bool) {
	core = line
	for _, sign := range []string{"{/*", "/*", "//", "<!--", "#", "--", ";", "%", "\"\"\""} {
		if rest, ok := strings.CutPrefix(core, sign); ok {
			core, comment = strings.TrimSpace(rest), true
		}
	}
	for _, sign := range []string{"*/}", "*/", "-->", "\"\"\""} {
		core = strings.TrimSpace(strings.TrimSuffix(core, sign))
	}
	return core, comment
}
