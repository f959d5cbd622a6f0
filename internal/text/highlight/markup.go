package highlight

import "strings"

func markup(code string) []Token {
	var out []Token
	for code != "" {
		at := strings.IndexByte(code, '<')
		if at < 0 {
			return append(out, Token{Text, code})
		}
		if at > 0 {
			out = append(out, Token{Text, code[:at]})
			code = code[at:]
		}
		if strings.HasPrefix(code, "<!--") {
			n := len(code)
			if end := strings.Index(code, "-->"); end >= 0 {
				n = end + 3
			}
			out = append(out, Token{Comment, code[:n]})
			code = code[n:]
			continue
		}
		n := tagEnd(code)
		out = tagTokens(out, code[:n])
		code = code[n:]
	}
	return out
}

// tagEnd returns a tag's length, or 1 for a < that begins none.
func tagEnd(code string) int {
	if len(code) < 2 || !letter(code[1]) && strings.IndexByte("/!?", code[1]) < 0 {
		return 1
	}
	quote := byte(0)
	for i := 1; i < len(code); i++ {
		switch c := code[i]; {
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		case c == '<':
			return i
		}
	}
	return len(code)
}

func tagTokens(out []Token, tag string) []Token {
	n := 1
	for n < len(tag) && strings.IndexByte(" \t\r\n>", tag[n]) < 0 {
		n++
	}
	if n == 1 {
		return append(out, Token{Text, tag})
	}
	out = append(out, Token{Keyword, tag[:n]})
	for rest := tag[n:]; rest != ""; {
		kind, n := Text, 1
		switch c := rest[0]; {
		case c == '"' || c == '\'':
			kind, n = String, len(rest)
			if end := strings.IndexByte(rest[1:], c); end >= 0 {
				n = end + 2
			}
		case c == '>' || strings.HasPrefix(rest, "/>") || strings.HasPrefix(rest, "?>"):
			kind, n = Keyword, len(rest)
		case letter(c) || c == ':' || c == '@' || c == '_':
			kind = Property
			for n < len(rest) && strings.IndexByte(" \t\r\n=>\"'/", rest[n]) < 0 {
				n++
			}
		}
		out = append(out, Token{kind, rest[:n]})
		rest = rest[n:]
	}
	return out
}
