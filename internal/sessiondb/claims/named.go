package claims

import (
	"path"
	"slices"
	"strings"

	"adze/session"
)

// named finds files that the model says it read and did not, whose lines it names without having
// seen them, or which are nowhere.
func named(w *work, s statement) []session.Claim {
	if denies(s.tokens) || w.partial || w.opaque() || !w.looked() {
		return nil
	}
	for i, t := range s.tokens {
		f, ok := fileOf(t)
		if !ok {
			continue
		}
		base := path.Base(f.name)
		switch known := strings.Contains(w.given, base); {
		case readBefore(s.tokens[:i]) && !w.contentSeen(f.name):
			return claim(session.FileClaim, "says that it read %s; no call did", f.name)
		case known || in("usual")[base] || w.turn.Exists == nil:
		case w.turn.Exists(f.name):
			if f.line {
				return claim(session.FileClaim, "names a line of %s, which was never read", f.name)
			}
		case !f.plain && asserted(s, i, f) && !slices.ContainsFunc(s.tokens, func(t token) bool { return t.kind == word && in("inventing")[t.word] }):
			return claim(session.FileClaim, "names %s, which does not exist and was never seen", f.name)
		}
	}
	return nil
}

// looked reports that the turn looked at files: an answer from what is known of the world names
// files of nowhere.
func (w *work) looked() bool {
	return slices.ContainsFunc(w.all, func(d deed) bool { return d.now && d.ran && len(d.read)+len(d.commands)+len(d.tried) > 0 })
}

// contentSeen reports that something of a file's content may have been seen.
func (w *work) contentSeen(name string) bool {
	base := path.Base(name)
	for _, d := range w.all {
		if anySame(d.read, name) || anySame(d.changed, name) || anySame(d.tried, name) || slices.ContainsFunc(d.commands, func(c string) bool {
			return strings.Contains(c, base) || strings.Contains(c, "*"+path.Ext(base)) || !strings.Contains(c, "ls") && strings.Contains(c, "*")
		}) {
			return true
		}
	}
	for rest := w.given; ; {
		at := strings.Index(rest, base)
		if at < 0 {
			return false
		}
		rest = rest[at+len(base):]
		// Behind the name in the result of a search, in a header of a diff, or where the user
		// attached the file.
		if rest != "" && strings.ContainsAny(rest[:1], ":-\"'>)=") || strings.Contains(w.asked, base) {
			return true
		}
	}
}

// readBefore reports "I read", "I looked at" and the like right before a file.
func readBefore(before []token) bool {
	for i, t := range slices.Backward(before) {
		switch {
		case t.kind == word && in("reading")[t.word]:
			return byMe(before[:i])
		case t.kind != word || !in("read")[t.word]:
			return false
		}
	}
	return false
}

// asserted reports a statement in which the file is a place or does something.
func asserted(s statement, at int, f file) bool {
	return f.line || at > 0 && in("places")[s.tokens[at-1].word] || at+1 < len(s.tokens) && in("does")[s.tokens[at+1].word]
}
