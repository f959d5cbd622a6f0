package match

import (
	"regexp/syntax"
	"unicode"
	"unicode/utf8"

	"adze/internal/search/match/kern"
)

// Bounds of what is looked for instead of a literal.
const (
	// rareEnough is the share of places beyond which looking for them costs more than testing every line.
	rareEnough = 0.02
	// rareLiteral is the share below which a literal is good enough as it is.
	rareLiteral = 0.0001
	// rareWindow is the share below which a window is better than a long run of one class, whose bytes come together.
	rareWindow = 0.0005
	// longRun is from when on a run of one class is looked for, and maxRun the most that kern.Runs takes.
	longRun, maxRun = 8, 63
	// maxCopies bounds how often a repeated part is written out.
	maxCopies = 8
)

// windowFinder looks for windows of byte sets, or for a long run of one class, where that is better than the literals.
func windowFinder(re *syntax.Regexp, than need) *finder {
	odds := than.odds()
	if than.whole || odds < rareLiteral {
		return nil
	}
	windows := windowsOf(re)
	w := oddsOfAll(windows)
	if set, wide, least := runOf(re); least >= longRun && w > rareWindow {
		in := func(b byte) bool { return b != '\n' && set.has(b) }
		return &finder{class: kern.NewClass(in, wide), least: min(least, maxRun)}
	}
	if w >= min(rareEnough, odds) {
		return nil
	}
	f := &finder{window: &kern.Window{}}
	for k, one := range windows {
		one.addTo(f.window, k)
	}
	return f
}

// row is a part of a match: byte sets that follow one another. The zero value is of no use: every place has it.
type row []byteSet

func (r row) odds() float64 {
	odds := 1.0
	for i := range r {
		odds *= r[i].share()
	}
	return odds
}

func oddsOfAll(windows []row) float64 {
	if len(windows) == 0 {
		return 1
	}
	sum := 0.0
	for _, w := range windows {
		sum += w.odds()
	}
	return min(sum, 1)
}

func (r row) addTo(w *kern.Window, alternative int) {
	for position := range 3 {
		if position >= len(r) {
			w.Any(alternative, position)
			continue
		}
		for b := range 256 {
			if r[position].has(byte(b)) {
				w.Add(alternative, position, byte(b))
			}
		}
	}
}

// windowsOf returns windows of up to three sets, one of which every match has; none if nothing is known.
func windowsOf(re *syntax.Regexp) []row {
	switch re.Op {
	case syntax.OpCapture:
		return windowsOf(re.Sub[0])
	case syntax.OpAlternate:
		var all []row
		for _, sub := range re.Sub {
			w := windowsOf(sub)
			if len(w) == 0 || len(all)+len(w) > maxAlternatives {
				return nil
			}
			all = append(all, w...)
		}
		return all
	}
	g := gatherer{odds: 1}
	g.walk(re)
	var best []row
	if g.odds < 1 {
		best = []row{g.best}
	}
	for re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Min > 0 {
		re = re.Sub[0]
	}
	if re.Op == syntax.OpConcat || re.Op == syntax.OpAlternate || re.Op == syntax.OpCapture {
		for _, sub := range re.Sub {
			if w := alternatives(sub); oddsOfAll(w) < oddsOfAll(best) {
				best = w
			}
		}
	}
	return best
}

// alternatives is windowsOf a part that a gatherer does not look into.
func alternatives(re *syntax.Regexp) []row {
	for re.Op == syntax.OpCapture || re.Op == syntax.OpPlus {
		re = re.Sub[0]
	}
	if re.Op == syntax.OpAlternate {
		return windowsOf(re)
	}
	return nil
}

// gatherer goes through an expression and keeps the rarest sets that follow one another in every match.
type gatherer struct {
	now  row
	best row
	odds float64
}

// put adds the set of the next byte.
func (g *gatherer) put(s byteSet) {
	g.now = append(g.now, s)
	if n := len(g.now); n > 3 {
		g.now = g.now[n-3:]
	}
	if o := g.now.odds(); o < g.odds {
		g.best, g.odds = append(row(nil), g.now...), o
	}
}

// part tells that what comes next does not follow directly.
func (g *gatherer) part() { g.now = nil }

func (g *gatherer) walk(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			g.rune(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		g.class(re.Rune)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			g.walk(sub)
		}
	case syntax.OpCapture:
		g.walk(re.Sub[0])
	case syntax.OpPlus:
		g.times(re.Sub[0], 1, false)
	case syntax.OpRepeat:
		g.times(re.Sub[0], min(re.Min, maxCopies), re.Max == re.Min && re.Min <= maxCopies)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	default:
		g.part()
	}
}

// times writes a repeated part out: as often as it is there at least, in front and, where there may be more, at the end.
func (g *gatherer) times(re *syntax.Regexp, n int, exactly bool) {
	for range n {
		g.walk(re)
	}
	if exactly {
		return
	}
	g.part()
	for range n {
		g.walk(re)
	}
}

// rune adds one character of a literal.
func (g *gatherer) rune(r rune, fold bool) {
	runes := []rune{r, r}
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			runes = append(runes, f, f)
		}
	}
	if len(runes) == 2 && r >= utf8.RuneSelf && r != utf8.RuneError {
		for _, b := range []byte(string(r)) {
			var s byteSet
			s.add(b)
			g.put(s)
		}
		return
	}
	g.class(runes)
}

// class adds one character of a class, given as pairs of first and last. One that has several bytes ends a row with the first of
// them and begins the next with the last.
func (g *gatherer) class(ranges []rune) {
	set, wide := setOf(ranges)
	if !wide {
		g.put(set)
		return
	}
	first, last := set, set
	first.addRange(utf8.RuneSelf, 0xff)
	last.addRange(utf8.RuneSelf, 0xff)
	g.put(first)
	g.part()
	g.put(last)
}

// setOf returns the part of a class that is ASCII, and whether there is more.
func setOf(ranges []rune) (set byteSet, wide bool) {
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] < utf8.RuneSelf {
			set.addRange(byte(ranges[i]), byte(min(ranges[i+1], utf8.RuneSelf-1)))
		}
		wide = wide || ranges[i+1] >= utf8.RuneSelf
	}
	return set, wide
}

// runOf returns the longest run of one class that every match has, in characters, each of a byte at least.
func runOf(re *syntax.Regexp) (set byteSet, wide bool, least int) {
	switch re.Op {
	case syntax.OpCapture:
		return runOf(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if s, w, n := runOf(sub); n > least {
				set, wide, least = s, w, n
			}
		}
	case syntax.OpRepeat:
		if sub := re.Sub[0]; sub.Op == syntax.OpCharClass {
			set, wide = setOf(sub.Rune)
			return set, wide, re.Min
		}
	}
	return set, wide, least
}
