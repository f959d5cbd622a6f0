package claims

import (
	"adze/session"
)

// done finds a statement that all is done while todos of the turn are open.
func done(w *work, s statement) []session.Claim {
	if len(w.open) == 0 || !w.fresh || !saysDone(s) || denies(s.tokens) || has(s.tokens, in("rests")) {
		return nil
	}
	for _, other := range statements(w.turn.Text) {
		if has(other.tokens, in("rests")) { // the answer tells what is left
			return nil
		}
	}
	what := "todos are"
	if len(w.open) == 1 {
		what = "todo is"
	}
	return claim(session.TodosClaim, "says that it is done; %d %s open, first: %s", len(w.open), what, w.open[0])
}

func saysDone(s statement) bool {
	words := make([]string, 0, len(s.tokens))
	for _, t := range s.tokens {
		if t.kind == word && !in("fillers")[t.word] {
			words = append(words, t.word)
		}
	}
	if len(words) == 0 || len(words) > 12 {
		return false
	}
	if len(words) <= 2 && in("ended")[words[len(words)-1]] {
		return len(words) == 1 || words[0] == "everything" || words[0] == "task" || words[0] == "tasks" || words[0] == "work" || words[0] == "implementation"
	}
	for i, t := range words[:len(words)-1] {
		next := words[i+1]
		if (t == "everything" || in("wholes")[t]) && in("ended")[next] && (i == 0 || i == 1) {
			return true
		}
		if in("ended")[t] && (i == 0 || words[0] == "i" || words[0] == "i've") && (next == "everything" || in("wholes")[next]) {
			return true
		}
	}
	return false
}
