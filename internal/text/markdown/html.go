package markdown

import (
	"slices"
	"strings"
)

// htmlEnd determines the line that ends an HTML block: one containing this text, or an empty line.
type htmlEnd string

func (e htmlEnd) blank() bool      { return e == "" }
func (e htmlEnd) in(s string) bool { return e != "" && strings.Contains(strings.ToLower(s), string(e)) }

// startHTML reports whether a line begins an HTML block, and its end condition (CommonMark 0.31
// §4.6).
func startHTML(s string, paragraph bool) (end htmlEnd, ok bool) {
	if s[0] != '<' {
		return "", false
	}
	switch {
	case strings.HasPrefix(s, "<!--"):
		return "-->", true
	case strings.HasPrefix(s, "<?"):
		return "?>", true
	case strings.HasPrefix(s, "<![CDATA["):
		return "]]>", true
	case len(s) > 2 && s[1] == '!' && letter(s[2]):
		return ">", true
	}
	closing := strings.HasPrefix(s, "</")
	name := strings.ToLower(tagName(strings.TrimPrefix(s[1:], "/")))
	rest := strings.TrimPrefix(s[1:], "/")[len(name):]
	ends := rest == "" || strings.IndexByte(" \t>", rest[0]) >= 0
	switch {
	case name == "":
		return "", false
	case !closing && ends && slices.Contains([]string{"pre", "script", "style", "textarea"}, name):
		return htmlEnd("</" + name + ">"), true
	case (ends || strings.HasPrefix(rest, "/>")) && blockTag(name):
		return "", true
	}
	n := tag(s)
	return "", !paragraph && n > 0 && strings.Trim(s[n:], " \t") == ""
}

func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func tagName(s string) string {
	n := 0
	for n < len(s) && (letter(s[n]) || n > 0 && (s[n] >= '0' && s[n] <= '9' || s[n] == '-')) {
		n++
	}
	return s[:n]
}

// tag returns the length of a tag at the start of s, or 0.
func tag(s string) int {
	i := 1
	if i < len(s) && s[i] == '/' {
		i++
	}
	name := tagName(s[i:])
	i += len(name)
	if name == "" || i < len(s) && strings.IndexByte(" \t\n/>", s[i]) < 0 {
		return 0
	}
	quote := byte(0)
	for ; i < min(len(s), maxTag); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '>':
			return i + 1
		case c == '<':
			return 0
		case c == '"' || c == '\'':
			quote = c
		}
	}
	return 0
}

const maxTag = 1000

// blockTag reports the tags that CommonMark lists as block starts.
func blockTag(name string) bool {
	switch name {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col",
		"colgroup", "dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure",
		"footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr",
		"html", "iframe", "legend", "li", "link", "main", "menu", "menuitem", "nav", "noframes", "ol",
		"optgroup", "option", "p", "param", "search", "section", "summary", "table", "tbody", "td", "tfoot",
		"th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}
