package match

import "regexp/syntax"

// byteKind is what an assertion has to know about a character.
type byteKind uint8

const (
	kindOther byteKind = iota
	kindWord
	kindBreak // of lines
	kindNone  // there is none: the line, or the text, begins or ends here
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

// assertions lists what holds between two characters.
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
