package sign

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The parts of a file hold each line with a needed text as a whole, and tell how many lines lie in
// front of them.
func TestPartsHoldTheLinesThatMayMatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	smaller := 0
	for i := range 60 {
		text := longText(rng, []int{3, 80, 600, 20_000, 100_000}[i%5])
		table := tableOf(t, text)
		for _, pattern := range []string{"needle7", "needle7|thread2", "needle7.*thread2", "(needle7|needle8)thread", "qqxqqx"} {
			n := Needed(pattern)
			r := &Rejects{t: table, need: n, held: table.held(n), out: make([]uint64, 1)}
			parts := r.Parts(stateOf(0, text))
			if parts == nil {
				continue
			}
			smaller++
			covered(t, text, parts)
			for at, line := 0, ""; at < len(text); at += len(line) {
				line, _, _ = strings.Cut(text[at:], "\n")
				line = text[at:min(len(text), at+len(line)+1)]
				if found(pattern, line) && !within(parts, int64(at), int64(at+len(line))) {
					t.Fatalf("%s: the line at %d..%d of %d is in none of %v", pattern, at, at+len(line), len(text), parts)
				}
			}
		}
	}
	if smaller < 60 {
		t.Errorf("parts were told %d times: this shows little", smaller)
	}
}

// longText is some blocks of lines that are about as long as that.
func longText(rng *rand.Rand, length int) string {
	var b strings.Builder
	for size := blockSize + rng.IntN(8*blockSize); b.Len() < size; {
		for line := rng.IntN(2 * length); line > 0; line -= 8 {
			b.WriteString([]string{"fill ", "pad  ", "x = y; "}[rng.IntN(3)])
			if rng.IntN(600) == 0 {
				b.WriteString([]string{"needle7", "needle7 thread2", "thread2", "needle8thread"}[rng.IntN(4)])
			}
		}
		if rng.IntN(8) == 0 { // so that lines end where blocks do
			b.WriteString(strings.Repeat("-", (2*blockSize-1-b.Len()%blockSize)%blockSize))
		}
		b.WriteByte('\n')
	}
	return b.String()[:b.Len()-rng.IntN(2)]
}

func found(pattern, line string) bool {
	has := func(s string) bool { return strings.Contains(line, s) }
	switch pattern {
	case "needle7":
		return has("needle7")
	case "needle7|thread2":
		return has("needle7") || has("thread2")
	case "needle7.*thread2":
		_, rest, ok := strings.Cut(line, "needle7")
		return ok && strings.Contains(rest, "thread2")
	}
	return pattern != "qqxqqx" && (has("needle7thread") || has("needle8thread"))
}

// covered checks that parts are in order, apart from each other and of whole lines that are
// counted.
func covered(t *testing.T, text string, parts []Part) {
	t.Helper()
	end := int64(-1)
	for _, p := range parts {
		switch {
		case p.From <= end || p.To <= p.From || p.To > int64(len(text)):
			t.Fatalf("of %d bytes: %v", len(text), parts)
		case p.From > 0 && text[p.From-1] != '\n' || p.To < int64(len(text)) && text[p.To-1] != '\n':
			t.Fatalf("%v are no whole lines", parts)
		case strings.Count(text[:p.From], "\n") != p.Lines:
			t.Fatalf("%v: %d lines lie in front of %d", parts, strings.Count(text[:p.From], "\n"), p.From)
		}
		end = p.To
	}
}

func within(parts []Part, from, to int64) bool {
	for _, p := range parts {
		if p.From <= from && to <= p.To {
			return true
		}
	}
	return false
}

// Of a file in another state nothing is told.
func TestPartsOfAnotherStateAreNotTold(t *testing.T) {
	text := longText(rand.New(rand.NewPCG(1, 1)), 80) + "needle9\n" + longText(rand.New(rand.NewPCG(2, 1)), 80)
	table := tableOf(t, text)
	n := Needed("needle9")
	r := &Rejects{t: table, need: n, held: table.held(n), out: make([]uint64, 1)}
	state := stateOf(0, text)
	if r.Parts(state) == nil {
		t.Error("no parts of the file as it was signed")
	}
	if state.Changed = state.Changed.Add(1); r.Parts(state) != nil {
		t.Error("parts of a file that has changed")
	}
}
