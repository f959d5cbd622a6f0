package script

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxContinued bounds the comments that end in a backslash, each of which takes one more parse.
const maxContinued = 20

// parse reads a text as bash does. The parser goes on with the next line where a comment ends in a
// backslash, bash does not: there the line end is put back, and the text is read again.
func parse(text string) (*syntax.File, error) {
	for range maxContinued {
		parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
		file, err := parser.Parse(strings.NewReader(text), "")
		joined := continued(file)
		if joined < 0 || !strings.HasPrefix(text[joined:], "\\\n") {
			return file, err
		}
		text = text[:joined] + " \n" + text[joined+len("\\\n"):]
	}
	return nil, errors.New("too many of its comments end in a backslash")
}

// continued finds where the first comment ends in a backslash and a line end; -1 when there is
// none.
func continued(file *syntax.File) int {
	at := -1
	if file == nil {
		return at
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok && at < 0 && strings.HasSuffix(c.Text, "\\\n") {
			at = int(c.Pos().Offset()) + len("#") + len(c.Text) - len("\\\n")
		}
		return true
	})
	return at
}

// torn reports a word that the parser put together over a comment that it lost: between its parts
// stands more than a line that goes on.
func torn(w *syntax.Word, text string) bool {
	for i := 1; i < len(w.Parts); i++ {
		from, to := w.Parts[i-1].End().Offset(), w.Parts[i].Pos().Offset()
		if from < to && int(to) <= len(text) && strings.ReplaceAll(text[from:to], "\\\n", "") != "" {
			return true
		}
	}
	return false
}
