package highlight

import "strings"

// grammar is what a language of words is made of. Words are separated by spaces.
type grammar struct {
	keywords, types, constants string
	fold                       bool // keywords in capitals are keywords too

	line  []string    // begin a comment that ends with its line
	block [][2]string // begin and end a comment
	apart bool        // a comment of a line begins at the line's start or behind a space
	nests bool        // comments nest

	quotes   []quote
	letters  string // what is part of a word beside letters, digits and _
	calls    bool   // a word before ( is a function
	capitals bool   // a word that begins with a capital and goes on otherwise is a type
	macros   bool   // a word before ! is a function
	marks    string // begin a word that is a variable or the like: $ @ &
	lead     string // begins a keyword at a line's start: # of C, @ of CSS
	keys     byte   // stands behind keys: : or =; if 0, there are none
	keyWords bool   // keys stand at a line's start and may hold other characters
	heads    bool   // [names] at a line's start
	regexp   bool   // /…/ is text where a value may stand
	ticks    bool   // 'a is a name, 'a' is a character
}

// starts reports that a line's start can hold what nothing else can.
func (g *grammar) starts() bool { return g.lead != "" || g.keyWords || g.heads }

// quote is a kind of text.
type quote struct {
	open, end string
	escape    bool // \ keeps what follows from ending it
	lines     bool // it may go on over lines
}

// common are the quotes of most languages.
func common() []quote {
	return []quote{{`"`, `"`, true, false}, {`'`, `'`, true, false}}
}

// dictionary says what the words of a language are.
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
