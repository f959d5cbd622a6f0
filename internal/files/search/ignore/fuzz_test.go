package ignore

import (
	"strings"
	"testing"
)

// FuzzMatch compares the indexed rules with the plainest reading of them: every rule in turn, the
// last match wins, wildcards by recursion.
func FuzzMatch(f *testing.F) {
	f.Add("*.log\n!keep.log\n/a/**/b\n[a-c]?\\*", "a/x/b", false)
	f.Add("a**/b\n**\\/x", "axx/b", true)
	f.Add("[[:alpha:]-z]\n[]!]\n**/\n!/", "]", false)
	f.Fuzz(func(t *testing.T, rules, path string, dir bool) {
		if len(rules) > 300 || len(path) > 60 || !sane(path) {
			return
		}
		r := Parse([]byte(rules))
		want := None
		for i := len(r.rules) - 1; i >= 0 && want == None; i-- {
			if naive(&r.rules[i], path, dir) {
				want = Ignored
				if r.rules[i].negated {
					want = Included
				}
			}
		}
		if got := ask(r, path, dir); got != want {
			t.Errorf("Match(%q) of %q = %v, want %v", path, rules, got, want)
		}
	})
}

// sane says whether a path can come from a walk.
func sane(path string) bool {
	for _, part := range strings.Split(path, "/") {
		if part == "" {
			return false
		}
	}
	return !strings.Contains(path, "\x00")
}

func naive(rl *rule, path string, dir bool) bool {
	text := path
	if rl.base {
		text = path[strings.LastIndexByte(path, '/')+1:]
	}
	if rl.onlyDirs && !dir {
		return false
	}
	if rl.suffix != "" {
		return strings.HasSuffix(text, rl.suffix)
	}
	rest, ok := strings.CutPrefix(text, rl.prefix)
	if !ok || rl.plain {
		return ok && rest == ""
	}
	steps := 0
	return !rl.glob.broken && naiveOps(rl.glob.ops, rest, &steps)
}

// naiveOps tries everything; it gives up, as no match, only beyond any size the fuzzer reaches.
func naiveOps(ops []op, text string, steps *int) bool {
	if *steps++; *steps > 5_000_000 {
		return false
	}
	if len(ops) == 0 {
		return text == ""
	}
	o := ops[0]
	for n := 0; n <= len(text); n++ {
		if fits(o, text[:n]) && naiveOps(ops[1:], text[n:], steps) {
			return true
		}
	}
	return false
}

func fits(o op, part string) bool {
	switch o.kind {
	case opStar:
		return !strings.Contains(part, "/")
	case opAll:
		return true
	case opFolders:
		return part == "" || strings.HasSuffix(part, "/")
	}
	return len(part) == 1 && o.accepts(part[0])
}
