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

// plainOmission matches a comment that by itself says that text was left out.
var plainOmission = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:the )?(?:` +
		`rest of .{0,40}|` +
		restWord + ` ` + thingWord + `(?: .{0,30}?)? ` + sameWord + `|` +
		`(?:keep|leave|insert|include) (?:the |your )?(?:rest|existing code)(?: .{0,30})?|` +
		`(?:.{0,30} )?omitted for brevity|unchanged(?: code)?|no changes (?:here|needed|below|above))$`)
})

// dottedOmission matches what does so when dots stand around it.
var dottedOmission = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:the )?(?:` + restWord + `(?: ` + thingWord + `)?(?: .{0,30})?|snip|omitted|truncated|etc|and so on)$`)
})

// Omission finds a line of next that stands for text left out ("// ... rest of the code
// unchanged"), unless the text before already had that line. It returns the line, or "".
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

// dotted counts the ends of s at which dots stand.
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

// uncomment takes the comment signs of the usual languages off.
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
