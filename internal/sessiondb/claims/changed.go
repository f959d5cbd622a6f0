package claims

import (
	"slices"
	"strings"
	"sync"

	"adze/session"
)

var changing = sync.OnceValue(func() map[string]bool {
	return set(`created added updated modified changed edited wrote rewrote fixed implemented refactored removed deleted introduced extended adjusted corrected patched`)
})

// changed finds files that the model says it changed and no call changed: "I updated `a.go`",
// "Fixed the check in a.go", and, where a change of that file was tried in the turn, "a.go has been
// updated" and "- a.go: added …".
func changed(w *work, s statement) (out []session.Claim) {
	if denies(s.tokens) || w.partial || w.opaque() || w.mayHaveWritten() {
		return nil
	}
	for _, name := range saysChanged(w, s) {
		touched := slices.ContainsFunc(w.all, func(d deed) bool { return anySame(d.changed, name) })
		if !touched {
			out = append(out, claim(session.ChangeClaim, "says that %s was changed; no call changed it", name)...)
		}
	}
	return out
}

func (w *work) mayHaveWritten() bool {
	return slices.ContainsFunc(w.all, func(d deed) bool { return slices.ContainsFunc(d.commands, mayWrite) })
}

// retells reports a turn about changes of others: a diff, a log.
func (w *work) retells() bool {
	for _, mark := range []string{"diff --git", "\n+++ ", "\n@@ "} {
		if strings.Contains(w.asked, mark) {
			return true
		}
	}
	return slices.ContainsFunc(w.all, func(d deed) bool {
		return d.now && (strings.Contains(d.tool, "git") || slices.ContainsFunc(d.commands, func(c string) bool { return strings.Contains(c, "git") }))
	})
}

// tried reports that a call of the turn was to change the file.
func (w *work) tried(name string) bool {
	return slices.ContainsFunc(w.all, func(d deed) bool { return d.now && anySame(d.tried, name) })
}

func saysChanged(w *work, s statement) (names []string) {
	for i, t := range s.tokens {
		if t.kind != word || !changing()[t.word] {
			continue
		}
		switch {
		case byMe(s.tokens[:i]), i == 0 && !w.retells():
			names = append(names, objects(s.tokens[i+1:])...)
		case i > 0 && passive(s.tokens[:i]) && !history(s.tokens):
			if f, ok := fileBefore(s.tokens[:i]); ok && w.tried(f.name) {
				names = append(names, f.name)
			}
		case s.item && i > 1 && s.tokens[i-1].kind == sign:
			if f, ok := fileOf(s.tokens[0]); ok && i == 2 && w.tried(f.name) {
				names = append(names, f.name)
			}
		}
	}
	return names
}

var adverbs = sync.OnceValue(func() map[string]bool {
	return set("also now then just have had successfully already first finally simply therefore so")
})

// byMe reports "I", with what may stand between it and its verb.
func byMe(before []token) bool {
	for _, t := range slices.Backward(before) {
		if t.kind != word {
			return false
		}
		if t.word == "i" || t.word == "i've" {
			return true
		}
		if !adverbs()[t.word] {
			return false
		}
	}
	return false
}

func passive(before []token) bool {
	switch before[len(before)-1].word {
	case "been", "was", "were", "now", "successfully":
		return true
	}
	return false
}

// history reports a passive about the work of others, or of another time.
func history(tokens []token) bool {
	return has(tokens, elsewhere()) || slices.ContainsFunc(tokens, func(t token) bool {
		return t.word == "by" || t.word == "commit" || len(t.word) == 4 && isNumber(t.word)
	})
}

// fileBefore is the file that a passive is about.
func fileBefore(before []token) (file, bool) {
	for _, t := range slices.Backward(before) {
		if f, ok := fileOf(t); ok {
			return f, true
		}
		switch t.word {
		case "been", "was", "were", "now", "successfully", "has", "have", "is", "are", "file":
		default:
			return file{}, false
		}
	}
	return file{}, false
}

// objects are the files that a verb is about: its direct object, with those listed beside it, or
// the place of a change.
func objects(after []token) (names []string) {
	for i, t := range after {
		f, ok := fileOf(t)
		if !ok {
			continue
		}
		if i <= 3 && allWords(after[:i], articles()) || i > 0 && placed(after[:i]) {
			names = append(names, f.name)
			for j := i + 1; j+1 < len(after) && (after[j].word == "," || after[j].word == "and"); j++ {
				next, ok := fileOf(after[j+1])
				if ok {
					names = append(names, next.name)
					j++
				} else if after[j+1].word != "and" {
					break
				}
			}
		}
		return names
	}
	return names
}

var articles = sync.OnceValue(func() map[string]bool { return set("the a new file files both my our existing") })

func allWords(tokens []token, in map[string]bool) bool {
	return !slices.ContainsFunc(tokens, func(t token) bool { return t.kind != word || !in[t.word] })
}

// placed reports "in", "to" or "into" at the end, where these tell the place of a change.
func placed(before []token) bool {
	for len(before) > 0 && articles()[before[len(before)-1].word] {
		before = before[:len(before)-1]
	}
	if len(before) == 0 {
		return false
	}
	switch before[len(before)-1].word {
	case "in", "to", "into", "inside":
	default:
		return false
	}
	if slices.ContainsFunc(before, func(t token) bool { return t.kind == sign || t.word == "and" || notPlaces()[t.word] }) {
		return false
	}
	return len(before) > 1
}

// notPlaces are words after which a file is named for another reason.
var notPlaces = sync.OnceValue(func() map[string]bool {
	return set(`similar addition according compared next identical used defined found called declared documented described shown seen mentioned
		listed as like just reference references referenced link links due related thanks matching match from for exists existing located stored
		import imports imported respect contrast response relation which that comment`)
})
