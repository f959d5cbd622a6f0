package highlight

import "strings"

// lines returns a language with one kind per line; begin returns a classifier for one text.
func lines(begin func() func(line string) Kind) func(code string) []Token {
	return func(code string) []Token {
		var out []Token
		kind := begin()
		for code != "" {
			n := strings.IndexByte(code, '\n') + 1
			if n == 0 {
				n = len(code)
			}
			out = append(out, Token{kind(code[:n]), code[:n]})
			code = code[n:]
		}
		return out
	}
}

func diffLine() func(line string) Kind { return diffKind }

func diffKind(line string) Kind {
	switch {
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return Hunk
	case strings.HasPrefix(line, "+"):
		return Added
	case strings.HasPrefix(line, "-"):
		return Removed
	}
	return Text
}

// markdownLine classifies headings, quotes and code; it tracks the open fence.
func markdownLine() func(line string) Kind {
	fence := ""
	return func(line string) Kind {
		body := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(body, fence) {
				fence = ""
			}
			return String
		case strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~"):
			fence = body[:3]
			return String
		case strings.HasPrefix(body, "#"):
			return Heading
		case strings.HasPrefix(body, ">"):
			return Comment
		}
		return Text
	}
}
