package match

import (
	"regexp/syntax"
	"slices"
	"unicode"

	"adze/internal/text/kern"
)

// Bounds for windows and runs, the alternatives to a literal.
const (
	// rareEnough is the frequency above which searching costs more than testing every line.
	rareEnough = 0.02
	// rareLiteral is the frequency below which a literal needs no alternative.
	rareLiteral = 0.0001
	// rareWindow is the frequency below which a window is better than a long run of one class,
	// whose bytes occur together.
	rareWindow = 0.0005
	// longRun is the minimum length for a run, maxRun the limit in kern.Runs.
	longRun, maxRun = 8, 63
	// maxSteps bounds the visited subexpressions; nested repetitions multiply them.
	maxSteps = 4000
	// maxCopies bounds how far a repetition is expanded.
	maxCopies = 8
)

// windowFinder returns a finder for byte set windows or for a long run of one class, or nil if the
// literals are better.
func windowFinder(re *syntax.Regexp, than literalSet) *finder {
	odds := than.odds()
	if than.isMatch || odds < rareLiteral {
		return nil
	}
	budget := maxSteps
	windows := windowsOf(re, &budget)
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

// row is a sequence of byte sets in a match. The empty row matches everywhere and is useless.
type row []cell

type cell struct {
	byteSet
	share float64
}

func (r row) odds() float64 {
	odds := 1.0
	for i := range r {
		odds *= r[i].share
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

// windowsOf returns windows of up to three sets, at least one of which is in every match, or nil if
// none is known.
func windowsOf(re *syntax.Regexp, budget *int) []row {
	g := gatherer{rows: []row{nil}, odds: 1, budget: budget}
	g.walk(re)
	best := g.best
	for re.Op == syntax.OpCapture || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Min > 0 {
		re = re.Sub[0]
	}
	switch re.Op {
	case syntax.OpAlternate:
		// The branches may have their windows at different offsets.
		if all := eachOf(re.Sub, budget); len(all) > 0 && oddsOfAll(all) < oddsOfAll(best) {
			best = all
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op != syntax.OpCapture && sub.Op != syntax.OpPlus && sub.Op != syntax.OpAlternate {
				continue
			}
			if w := windowsOf(sub, budget); oddsOfAll(w) < oddsOfAll(best) {
				best = w
			}
		}
	}
	return best
}

// eachOf returns windows from all branches, or none if there are too many.
func eachOf(branches []*syntax.Regexp, budget *int) (all []row) {
	for _, sub := range branches {
		w := windowsOf(sub, budget)
		if len(w) == 0 || len(all)+len(w) > maxAlternatives {
			return nil
		}
		all = append(all, w...)
	}
	return all
}

// gatherer walks an expression and keeps the rarest consecutive sets in every match.
type gatherer struct {
	rows   []row // rows before the current position, one for each branch that leads there
	best   []row
	odds   float64
	within int  // branch depth: their sets are not in every match
	budget *int // remaining parts to visit
}

func (g *gatherer) addSet(s byteSet) {
	g.extend(s)
	g.weigh()
}

func (g *gatherer) extend(s byteSet) {
	c := cell{s, s.share()}
	for i, r := range g.rows {
		r = append(r[:len(r):len(r)], c)
		g.rows[i] = r[max(0, len(r)-3):]
	}
}

func distinct(rows []row) []row {
	var kept []row
	for _, r := range rows {
		if !slices.ContainsFunc(kept, func(k row) bool { return slices.Equal(k, r) }) {
			kept = append(kept, r)
		}
	}
	return kept
}

func longest(rows []row) (n int) {
	for _, r := range rows {
		n = max(n, len(r))
	}
	return n
}

// weigh keeps the rows if they are the best so far.
func (g *gatherer) weigh() {
	if g.within > 0 {
		return
	}
	if o := oddsOfAll(g.rows); o < g.odds {
		g.best, g.odds = slices.Clone(g.rows), o
	}
}

// part starts new rows, since the next byte does not follow directly.
func (g *gatherer) part() { g.rows = []row{nil} }

func (g *gatherer) walk(re *syntax.Regexp) {
	if *g.budget--; *g.budget < 0 {
		g.part()
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			g.rune(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		g.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL: // a line has no break
		g.class([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune})
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			g.walk(sub)
		}
	case syntax.OpCapture:
		g.walk(re.Sub[0])
	case syntax.OpAlternate:
		g.branches(re.Sub)
	case syntax.OpQuest:
		g.branches([]*syntax.Regexp{re.Sub[0], {Op: syntax.OpEmptyMatch}})
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

// branches continues every row through every branch.
func (g *gatherer) branches(branches []*syntax.Regexp) {
	before, after := g.rows, []row(nil)
	g.within++
	for _, sub := range branches {
		g.rows = slices.Clone(before)
		g.walk(sub)
		after = append(after, g.rows...)
		if len(after) > maxAlternatives {
			break
		}
	}
	g.within--
	if g.rows = after; len(after) > maxAlternatives {
		g.part()
		return
	}
	g.weigh()
}

// times expands a repetition: the minimum count at the front and, if there may be more, at the end.
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
