package markdown

import (
	"html"
	"strings"
	"unicode/utf8"
)

type bracket struct {
	node  int
	runs  int // number of delimiters before it
	image bool
	dead  bool // inside a link's text: links do not nest
}

func (r *reader) bracket(image bool) {
	r.flush()
	r.opens = append(r.opens, bracket{node: len(r.nodes), runs: len(r.runs), image: image})
	n := 1
	if image {
		n = 2
	}
	r.emit(n, Span{Text: r.s[r.pos : r.pos+n], Exact: true})
}

func (r *reader) closeBracket() {
	if len(r.opens) == 0 {
		r.pos++
		return
	}
	b := r.opens[len(r.opens)-1]
	r.opens = r.opens[:len(r.opens)-1]
	n, address := target(r.s[r.pos+1:])
	if b.dead || n == 0 {
		if rest := r.s[r.pos+1:]; !b.dead && (rest == "" || rest[0] == '(') {
			r.unsettle(r.nodes[b.node].Offset)
		}
		r.pos++
		return
	}
	r.emit(1+n, Span{}) // end of the link's text
	r.emphasis(b.runs)
	end := len(r.nodes) - 1
	shown := r.nodes[b.node+1 : end]
	r.nodes[b.node].Text = ""
	if b.image {
		r.nodes[b.node].Span = Span{Text: "image: ", Form: Hint, Offset: r.nodes[b.node].Offset}
	} else {
		for i := range r.opens {
			r.opens[i].dead = r.opens[i].dead || !r.opens[i].image
		}
	}
	r.mark(b.node+1, end, '[', 1)
	if address == "" || says(shown, address) {
		return
	}
	text := " (" + address + ")"
	if len(shown) == 0 {
		text = address
	}
	r.nodes = append(r.nodes, node{Span: Span{Text: text, Form: Address, Offset: r.pos}})
}

// says reports whether a link's text is its address.
func says(shown []node, address string) bool {
	var text strings.Builder
	for _, n := range shown {
		text.WriteString(n.Text)
	}
	t := text.String()
	for _, prefix := range []string{"", "mailto:", "https://", "http://"} {
		if rest, ok := strings.CutPrefix(address, prefix); ok && strings.TrimSuffix(rest, "/") == strings.TrimSuffix(t, "/") {
			return t != ""
		}
	}
	return false
}

// target parses "(address "title")" after a link's text; n is 0 if there is none.
func target(s string) (n int, address string) {
	if s == "" || s[0] != '(' {
		return 0, ""
	}
	i := spaces(s, 1)
	from := i
	if i < len(s) && s[i] == '<' {
		end := strings.IndexAny(s[i+1:], ">\n<")
		if end < 0 || s[i+1+end] != '>' {
			return 0, ""
		}
		address, i = s[i+1:i+1+end], i+end+2
	} else {
		i = bare(s, i)
		if i < 0 {
			return 0, ""
		}
		address = s[from:i]
	}
	after := spaces(s, i)
	if after > i && after < len(s) && strings.IndexByte(`"'(`, s[after]) >= 0 {
		after = title(s, after)
		if after < 0 {
			return 0, ""
		}
	}
	if after >= len(s) || s[after] != ')' {
		return 0, ""
	}
	return after + 1, strings.Map(flat, html.UnescapeString(unescape(address)))
}

func spaces(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t') {
		i++
	}
	return i
}

// bare returns the end of an address without < and >, with balanced brackets.
func bare(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '(':
			if depth++; depth > 32 {
				return -1
			}
		case c == ')':
			if depth--; depth < 0 {
				return i
			}
		case c <= ' ':
			if depth > 0 {
				return -1
			}
			return i
		}
	}
	return -1
}

func title(s string, i int) int {
	end := s[i]
	if end == '(' {
		end = ')'
	}
	for i++; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case end:
			return spaces(s, i+1)
		}
	}
	return -1
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && punctuation(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// address returns the length of a bare address at pos, or 0.
func (r *reader) address() int {
	rest := r.s[r.pos:]
	if !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") && !strings.HasPrefix(rest, "www.") {
		return 0
	}
	if r.pos > 0 && r.s[r.pos-1] < utf8.RuneSelf && strings.IndexByte(" \n\t(*_~\"'[|>:,", r.s[r.pos-1]) < 0 {
		return 0
	}
	ends := " \n\t<>`\""
	if len(r.opens) > 0 {
		ends += "]"
	}
	n := strings.IndexAny(rest, ends)
	if n < 0 {
		n = len(rest)
	}
	for n > 0 {
		last := rest[n-1]
		if last == ')' && strings.Count(rest[:n], ")") <= strings.Count(rest[:n], "(") {
			break
		}
		if strings.IndexByte("?!.,:;*_~')]|", last) < 0 {
			break
		}
		n--
	}
	if body := rest[:n]; strings.HasSuffix(body, "://") || body == "www" {
		return 0
	}
	return n
}
