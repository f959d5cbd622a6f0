package match

import "regexp/syntax"

// byteKind classifies a character for assertions.
type byteKind uint8

const (
	kindOther byteKind = iota
	kindWord
	kindBreak
	kindNone // line or text boundary
)

func kindOf(r rune) byteKind {
	switch {
	case r == endOfLine:
		return kindNone
	case r == '\n':
		return kindBreak
	case isWord(r):
		return kindWord
	}
	return kindOther
}

func assertions(before, after byteKind) syntax.EmptyOp {
	var holds syntax.EmptyOp
	switch before {
	case kindNone:
		holds |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	case kindBreak:
		holds |= syntax.EmptyBeginLine
	}
	switch after {
	case kindNone:
		holds |= syntax.EmptyEndText | syntax.EmptyEndLine
	case kindBreak:
		holds |= syntax.EmptyEndLine
	}
	if (before == kindWord) != (after == kindWord) {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}
