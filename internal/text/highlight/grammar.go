package highlight

import "strings"

// grammar describes a language made of words. Words in a field are separated by spaces.
type grammar struct {
	keywords, types, constants string
	fold                       bool // keywords in capitals count too

	line       []string    // begin a line comment
	block      [][2]string // begin and end a block comment
	needsSpace bool        // a line comment needs the line start or a space before it
	nests      bool        // block comments nest

	quotes   []quote
	letters  string // word characters besides letters, digits and _
	calls    bool   // a word before ( is a function
	capitals bool   // a capitalized word is a type
	macros   bool   // a word before ! is a function
	marks    string // prefixes for variables: $ @ &
	lead     string // prefixes for keywords at a line start: # in C, @ in CSS
	keys     byte   // follows keys: : or =; 0 for no keys
	keyWords bool   // keys start lines and may contain other characters
	heads    bool   // [names] at a line start
	regexp   bool   // /…/ is a string where a value may stand
	ticks    bool   // 'a is a name, 'a' is a character
}

// starts reports whether a line start needs special handling.
func (g *grammar) starts() bool { return g.lead != "" || g.keyWords || g.heads }

type quote struct {
	open, end string
	escape    bool // \ escapes the next character
	lines     bool // may span lines
}

func common() []quote {
	return []quote{{`"`, `"`, true, false}, {`'`, `'`, true, false}}
}

type dictionary map[string]Kind

func (g *grammar) dictionary() dictionary {
	d := dictionary{}
	for kind, list := range map[Kind]string{Keyword: g.keywords, Type: g.types, Number: g.constants} {
		for word := range strings.FieldsSeq(list) {
			d[word] = kind
		}
	}
	return d
}
