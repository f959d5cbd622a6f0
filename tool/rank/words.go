package rank

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

func notWordRune(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// eachWord yields a text's words in lower case. It splits at all but letters and digits, and in
// camelCase, where it yields the whole too: GitHub is git, hub and github.
func eachWord(text string, yield func(word string)) {
	for len(text) > 0 {
		start := strings.IndexFunc(text, func(r rune) bool { return !notWordRune(r) })
		if start < 0 {
			return
		}
		end := strings.IndexFunc(text[start:], notWordRune)
		if end < 0 {
			end = len(text) - start
		}
		humps(text[start:start+end], yield)
		text = text[start+end:]
	}
}

// humps yields a word and its camelCase parts.
func humps(word string, yield func(string)) {
	from, parts := 0, 0
	for i := 1; i < len(word); i++ {
		if hump(word, i) {
			yield(strings.ToLower(word[from:i]))
			from = i
			parts++
		}
	}
	if parts > 0 {
		yield(strings.ToLower(word[from:]))
	}
	yield(strings.ToLower(word))
}

// hump reports whether a part begins at i: an upper-case letter after a lower-case one, or the last
// in a run of them before a lower-case one (HTTPServer), but not a plural (PRs).
func hump(word string, i int) bool {
	if !upper(word[i]) {
		return false
	}
	if !upper(word[i-1]) {
		return word[i-1] < utf8.RuneSelf
	}
	rest := word[i+1:]
	return rest != "" && lower(rest[0]) && rest != "s"
}

func upper(c byte) bool { return 'A' <= c && c <= 'Z' }
func lower(c byte) bool { return 'a' <= c && c <= 'z' }

// stem cuts endings from plurals, verbs and derived nouns, so that "created", "creating" and
// "creation" are equal. The stem need not be a word.
func stem(w string) string {
	if len(w) < 3 || !ascii(w) {
		return w
	}
	w = singular(w)
	w, cut := unverbed(w)
	if n, ok := cutTo(w, "ment", 4); ok {
		return n
	}
	if n, ok := cutTo(w, "e", 3); ok {
		w, cut = n, true
	}
	if n, ok := cutTo(w, "at", 3); ok && cut {
		return n // translat(e), translat(ing), translat(ion)
	}
	return w
}

func singular(w string) string {
	switch {
	case strings.HasSuffix(w, "ss"), strings.HasSuffix(w, "us"), strings.HasSuffix(w, "is"), !strings.HasSuffix(w, "s"):
		return w
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	}
	for _, hissing := range []string{"sses", "uses", "xes", "ches", "shes"} {
		if n, ok := cutTo(w, hissing, 2); ok {
			return n + hissing[:len(hissing)-2]
		}
	}
	return w[:len(w)-1]
}

// unverbed cuts -ing, -ed and -ion, and reports whether an e may have been lost.
func unverbed(w string) (string, bool) {
	if n, ok := cutTo(w, "ification", 2); ok {
		return n + "ify", false
	}
	if n, ok := cutTo(w, "ied", 2); ok {
		return n + "y", false
	}
	for _, ending := range []string{"ing", "ed"} {
		if n, ok := cutTo(w, ending, 3); ok && strings.ContainsAny(n, "aeiouy") && !strings.HasSuffix(w, "eed") {
			if single, doubled := undouble(n); doubled {
				return single, false
			}
			return n, true
		}
	}
	for _, ending := range []string{"tion", "sion"} {
		if n, ok := cutTo(w, ending, 3); ok {
			return n + ending[:1], true
		}
	}
	return w, false
}

// undouble turns stopp(ed) into stop; call(ed), miss(ed) and buzz(ed) keep theirs.
func undouble(w string) (string, bool) {
	n := len(w)
	if n < 4 || w[n-1] != w[n-2] || strings.IndexByte("lsz", w[n-1]) >= 0 {
		return w, false
	}
	return w[:n-1], true
}

// cutTo cuts an ending if at least least letters remain.
func cutTo(w, ending string, least int) (string, bool) {
	if len(w)-len(ending) < least || !strings.HasSuffix(w, ending) {
		return w, false
	}
	return w[:len(w)-len(ending)], true
}

func ascii(w string) bool {
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

var stopWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(`a an and any are as at be been but by can could did do does for from
		had has have he her his how i if im in into is isn it its just let like ll me my need needs no not of off on
		or our out over please re s she should so some t than that the their them then there these they this
		those to too us use using ve via want wanted was we were what when where which while who will with would
		you your d don doesn give got help here every each about after before only also both same thing things all
		thanks thank ok okay yes hello hi again`) {
		set[w] = true
	}
	return set
})
