package claims

import (
	"slices"
	"strings"

	"adze/session"
)

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
		if t.kind != word || !in("changing")[t.word] {
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

// byMe reports "I", with what may stand between it and its verb.
func byMe(before []token) bool {
	for _, t := range slices.Backward(before) {
		if t.kind != word {
			return false
		}
		if t.word == "i" || t.word == "i've" {
			return true
		}
		if !in("adverbs")[t.word] {
			return false
		}
	}
	return false
}

func passive(before []token) bool {
	return in("passive")[before[len(before)-1].word]
}

// history reports a passive about the work of others, or of another time.
func history(tokens []token) bool {
	return has(tokens, in("elsewhere")) || slices.ContainsFunc(tokens, func(t token) bool {
		return t.word == "by" || t.word == "commit" || len(t.word) == 4 && isNumber(t.word)
	})
}

// fileBefore is the file that a passive is about.
func fileBefore(before []token) (file, bool) {
	for _, t := range slices.Backward(before) {
		if f, ok := fileOf(t); ok {
			return f, true
		}
		if !in("about")[t.word] {
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
		if i <= 3 && allWords(after[:i], in("articles")) || i > 0 && placed(after[:i]) {
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

func allWords(tokens []token, in map[string]bool) bool {
	return !slices.ContainsFunc(tokens, func(t token) bool { return t.kind != word || !in[t.word] })
}

// placed reports "in", "to" or "into" at the end, where these tell the place of a change.
func placed(before []token) bool {
	for len(before) > 0 && in("articles")[before[len(before)-1].word] {
		before = before[:len(before)-1]
	}
	return len(before) > 1 && in("into")[before[len(before)-1].word] &&
		!slices.ContainsFunc(before, func(t token) bool { return t.kind == sign || t.word == "and" || in("notPlaces")[t.word] })
}
