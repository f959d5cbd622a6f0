package ignore

import (
	"bytes"
	"strings"
)

// wildcards are the bytes that end a pattern's plain part.
const wildcards = `*?[\`

// add appends a cleaned pattern line's rule and indexes it.
func (r *Rules) add(pattern string) {
	n := int32(len(r.rules))
	rl := parseRule(pattern)
	r.rules = append(r.rules, rl)
	switch {
	case rl.base && rl.plain:
		r.byName = enter(r.byName, rl.prefix, n)
	case rl.base && strings.HasPrefix(rl.suffix, ".") && !strings.Contains(rl.suffix[1:], "."):
		r.byExt = enter(r.byExt, rl.suffix[1:], n)
	case rl.plain:
		r.byPath = enter(r.byPath, rl.prefix, n)
	default:
		r.otherRules = append(r.otherRules, n)
	}
}

func enter(index map[string][]int32, key string, n int32) map[string][]int32 {
	if index == nil {
		index = make(map[string][]int32)
	}
	index[key] = append(index[key], n)
	return index
}

// parseRule parses a pattern line: "!" negates, a final "/" restricts it to folders, any other "/"
// anchors it to the file's folder.
func parseRule(pattern string) rule {
	var rl rule
	pattern, rl.negated = strings.CutPrefix(pattern, "!")
	pattern, rl.onlyDirs = strings.CutSuffix(pattern, "/")
	rl.base = !strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok && rest != "" && !strings.Contains(rest, "/") {
		// "**/name" equals name alone, which is indexed.
		pattern, rl.base = rest, true
	}
	rl.split(pattern)
	return rl
}

// split cuts a pattern at its first wildcard. The rest is compiled separately, because git matches
// it separately: in "a**/b" the stars are at the start of the rest.
func (rl *rule) split(pattern string) {
	at := strings.IndexAny(pattern, wildcards)
	if at < 0 {
		rl.prefix, rl.plain = pattern, true
		return
	}
	if rl.base && pattern[0] == '*' && len(pattern) > 1 && !strings.ContainsAny(pattern[1:], wildcards) {
		rl.suffix = pattern[1:]
		return
	}
	rl.prefix = pattern[:at]
	rl.glob = compileWild(pattern[at:], !rl.base)
}

func (rl *rule) matches(path, name []byte, dir bool) bool {
	if rl.onlyDirs && !dir {
		return false
	}
	text := path
	if rl.base {
		text = name
	}
	if rl.suffix != "" {
		return bytes.HasSuffix(text, []byte(rl.suffix))
	}
	if len(text) < len(rl.prefix) || string(text[:len(rl.prefix)]) != rl.prefix {
		return false
	}
	if rl.plain {
		return len(text) == len(rl.prefix)
	}
	return rl.glob.match(text[len(rl.prefix):])
}
