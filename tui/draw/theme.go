package draw

// Style is the role of a piece of text, and with | attributes that it has beside its role. Panes
// name roles; only a Theme knows colours.
type Style uint16

// The roles.
const (
	Plain Style = iota
	Dim
	Bold
	Italic
	Accent // our own marks: the prompt sign, a running call
	Good
	Bad
	Warn
	Heading
	Code    // code in prose and blocks
	Added   // diff
	Removed // diff
	Hunk    // diff
	You     // what the user wrote
	Key     // a key in a hint
	Border
	Link     // what a link shows
	Keyword  // highlighted code, here and below
	String   // text, character, pattern
	Comment  //
	Number   // number, or a constant such as true
	Function // name that is called or defined
	Type     //
	Property // key, attribute, variable of a shell
	styles   // how many there are
)

// The attributes. They nest, as emphasis in a heading does.
const (
	Strong Style = 1 << (8 + iota)
	Slanted
	Struck
	Underlined
)

// The grounds: what a row stands on, at most one, where the theme has it.
const (
	OnAdded   Style = 1 << (12 + iota) // diff
	OnRemoved                          // diff
	OnYou                              // what the user wrote
)

// grounds are those bits.
const grounds = OnAdded | OnRemoved | OnYou

// ground is the place of a style's ground in Theme.on; if 0, it has none.
func (s Style) ground() int { return int(s&grounds) >> 12 }

// role takes the attributes away.
func (s Style) role() Style { return s & 0xff }

// Theme turns styles into terminal attributes. All panes hold the same one; see Become. The zero
// value draws without any attribute.
type Theme struct {
	sgr [styles]string
	// attributes: Strong and the others mean something. They are the terminal's own and know no
	// colour.
	attributes bool
	// on are the grounds with the colour of text on them; if empty, the theme has none.
	on     [5]string
	counts Cells // by which rows are as wide as on the screen
	// tinted says that the grounds tell what came and went, so that changed lines keep the colours
	// of their language.
	tinted bool
}

// Become makes the theme that panes hold look like another one. Rows that were drawn before keep
// their old look: whoever keeps some drops them.
func (t *Theme) Become(other *Theme) {
	counts := t.counts
	*t = *other
	t.counts = counts
}

// start is the sequence that begins a style.
func (t *Theme) start(s Style) string {
	sgr := t.sgr[s.role()]
	if s>>8 == 0 || !t.attributes {
		return sgr
	}
	if g := s & grounds; g != 0 {
		sgr = t.on[g.ground()] + sgr
	}
	for i, code := range [...]string{"\x1b[1m", "\x1b[3m", "\x1b[9m", "\x1b[4m"} {
		if s&(Strong<<i) != 0 {
			sgr += code
		}
	}
	return sgr
}

// bare reports that the theme draws without any attribute: its rows may be read out or go to a
// file, so they are made of words instead of lines.
func (t *Theme) bare() bool { return !t.attributes && t.sgr == [styles]string{} }

// Color is the theme for terminals with colours. It uses the sixteen colours that the user's own
// terminal theme defines, so that contrast is what they chose.
func Color() *Theme {
	return &Theme{attributes: true, sgr: [styles]string{
		Dim: "\x1b[2m", Bold: "\x1b[1m", Italic: "\x1b[3m",
		Accent: "\x1b[36m", Good: "\x1b[32m", Bad: "\x1b[31m", Warn: "\x1b[33m",
		Heading: "\x1b[1;36m", Code: "\x1b[33m",
		Added: "\x1b[32m", Removed: "\x1b[31m", Hunk: "\x1b[2m",
		You: "\x1b[1m", Key: "\x1b[1m", Border: "\x1b[2m", Link: "\x1b[4;34m",
		Keyword: "\x1b[35m", String: "\x1b[32m", Comment: "\x1b[2m", Number: "\x1b[36m",
		Function: "\x1b[34m", Type: "\x1b[33m", Property: "\x1b[36m",
	}}
}

// Mono is the theme for NO_COLOR (no-color.org): attributes, no colours.
func Mono() *Theme {
	return &Theme{attributes: true, sgr: [styles]string{
		Dim: "\x1b[2m", Bold: "\x1b[1m", Italic: "\x1b[3m", Bad: "\x1b[1m", Warn: "\x1b[1m",
		Heading: "\x1b[1;4m", Added: "\x1b[1m", You: "\x1b[1m", Key: "\x1b[1m", Border: "\x1b[2m",
		Link: "\x1b[4m", Keyword: "\x1b[1m", Comment: "\x1b[2m",
	}}
}

// Bare is the theme for terminals that understand no attributes.
func Bare() *Theme { return &Theme{} }
