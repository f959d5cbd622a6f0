package search

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"adze/internal/text/braces"
)

// glob matches patterns one path element at a time. A walk carries the reached places into each
// folder and skips folders below which no pattern can match.
type glob struct {
	places []place // all patterns in sequence, each ended by placeEnd
	first  []int
	hidden bool // wildcards match names that begin with a dot
}

type place struct {
	kind placeKind
	text string
}

type placeKind uint8

const (
	placeName   placeKind = iota // exactly text
	placeSuffix                  // "*" followed by text
	placeGlob                    // any other pattern without slashes
	placeAny                     // "**": any number of folders
	placeEnd
)

// placeSet is a bit set for the places reached by a path.
type placeSet []uint64

func (r placeSet) has(i int) bool { return r[i>>6]&(1<<(i&63)) != 0 }

// Pattern limits, far above sensible use and low enough to be fast.
const (
	maxPattern   = 4096 // bytes
	maxExpansion = 512  // patterns after brace expansion
	maxPlaces    = 8192
)

// newGlob compiles patterns. A pattern without a slash matches at any depth if anyDepth is set.
func newGlob(patterns []string, anyDepth, hidden bool) (*glob, error) {
	g := &glob{hidden: hidden}
	for _, pattern := range patterns {
		if err := g.add(pattern, anyDepth); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *glob) add(pattern string, anyDepth bool) error {
	if err := checkPattern(pattern); err != nil {
		return err
	}
	alternatives, ok := braces.Alternatives(pattern, maxExpansion)
	if !ok {
		return invalid("the pattern %q has more than %d alternatives; use fewer braces", pattern, maxExpansion)
	}
	for _, alt := range alternatives {
		g.first = append(g.first, len(g.places))
		if anyDepth && !strings.Contains(strings.TrimSuffix(alt, "/"), "/") {
			alt = "**/" + alt
		}
		g.addPath(alt)
		g.places = append(g.places, place{kind: placeEnd})
		if len(g.places) > maxPlaces {
			return invalid("the pattern %q is too long; use a shorter one", pattern)
		}
	}
	return nil
}

func checkPattern(pattern string) error {
	switch {
	case pattern == "":
		return invalid("the pattern is empty; use ** for all files")
	case len(pattern) > maxPattern:
		return invalid("the pattern is longer than %d bytes; use a shorter one", maxPattern)
	case strings.HasPrefix(pattern, "/"):
		return invalid("the pattern %q is absolute; name the folder as path and make the pattern relative to it", pattern)
	case !doublestar.ValidatePattern(pattern):
		return invalid("the pattern %q is not a valid glob: a bracket, brace or backslash is left open; put a backslash before one that is meant as it is", pattern)
	}
	if slices.Contains(splitPath(pattern), "..") {
		return invalid("the pattern %q leads out of the folder; name the other folder as path", pattern)
	}
	return nil
}

func (g *glob) addPath(pattern string) {
	parts := splitPath(pattern)
	if n := len(parts) - 1; parts[n] == "" {
		parts[n] = "**" // "src/" matches everything in src
	}
	for _, part := range parts {
		switch {
		case part == "" || part == ".":
		case part == "**":
			g.places = append(g.places, place{kind: placeAny})
		case !strings.ContainsAny(part, `*?[\`):
			g.places = append(g.places, place{placeName, part})
		case part[0] == '*' && !strings.ContainsAny(part[1:], `*?[\`):
			g.places = append(g.places, place{placeSuffix, part[1:]})
		default:
			g.places = append(g.places, place{placeGlob, part})
		}
	}
}

// splitPath splits a pattern at slashes outside brackets.
func splitPath(pattern string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			i = braces.ClassEnd(pattern, i)
		case '/':
			parts = append(parts, pattern[start:i])
			start = i + 1
		}
	}
	return append(parts, pattern[start:])
}

// root returns the places before any element.
func (g *glob) root() placeSet {
	r := make(placeSet, len(g.places)/64+1)
	for _, i := range g.first {
		g.reach(r, i)
	}
	return r
}

// reach adds a place and those after it that need no element.
func (g *glob) reach(r placeSet, i int) {
	for {
		r[i>>6] |= 1 << (i & 63)
		if g.places[i].kind != placeAny {
			return
		}
		i++
	}
}

// enter returns the places reached in the folder name, whether the folder matches, and whether
// anything below it can match.
func (g *glob) enter(r placeSet, name string) (next placeSet, matches, open bool) {
	next = make(placeSet, len(r))
	for i, p := range g.places {
		if !r.has(i) || p.kind == placeEnd || !g.matches(p, name) {
			continue
		}
		if p.kind == placeAny {
			g.reach(next, i)
		} else {
			g.reach(next, i+1)
		}
	}
	for i, p := range g.places {
		if next.has(i) {
			matches = matches || p.kind == placeEnd
			open = open || p.kind != placeEnd
		}
	}
	return next, matches, open
}

func (g *glob) accepts(r placeSet, name string) bool {
	for i, p := range g.places {
		if !r.has(i) || p.kind == placeEnd {
			continue
		}
		if g.final(i) && g.matches(p, name) {
			return true
		}
	}
	return false
}

// final reports whether a file that matches place i ends a pattern. As in git and ripgrep, "a/**"
// matches files in a, not a file named a; so only "**" itself may be followed by further "**".
func (g *glob) final(i int) bool {
	if g.places[i].kind != placeAny {
		return g.places[i+1].kind == placeEnd
	}
	for ; g.places[i].kind == placeAny; i++ {
	}
	return g.places[i].kind == placeEnd
}

func (g *glob) matches(p place, name string) bool {
	if name[0] == '.' && !g.hidden && !strings.HasPrefix(strings.TrimPrefix(p.text, `\`), ".") {
		return false
	}
	switch p.kind {
	case placeAny:
		return true
	case placeName:
		return name == p.text
	case placeSuffix:
		return (g.hidden || name[0] != '.') && strings.HasSuffix(name, p.text)
	}
	ok, err := doublestar.Match(p.text, name)
	return ok && err == nil
}
