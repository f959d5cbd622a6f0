package draw

// Style is a text's role, combined by | with attributes. Panes name roles; only a Theme knows
// colors.
type Style uint16

// Roles.
const (
	Plain Style = iota
	Dim
	Bold
	Italic
	Accent // adze's marks: the prompt sign, a running call
	Good
	Bad
	Warn
	Heading
	Code     // code in prose and blocks
	Added    // diff
	Removed  // diff
	Hunk     // diff
	UserText // the user's text
	Key      // a key in a hint
	Border
	Link    // a link's text
	Keyword // highlighted code, here and below
	String  // text, character, pattern
	Comment
	Number   // number, or a constant such as true
	Function // called or defined name
	Type
	Property // key, attribute, shell variable
	styles   // count
)

// Attributes. They nest, as in emphasis within a heading.
const (
	Strong Style = 1 << (8 + iota)
	Slanted
	Struck
	Underlined
)

// Backgrounds; a style has at most one.
const (
	OnAdded   Style = 1 << (12 + iota) // diff
	OnRemoved                          // diff
	OnYou                              // the user's text
)

const grounds = OnAdded | OnRemoved | OnYou

// backgroundIndex returns the style's index in Theme.backgrounds, or 0 without a background.
func (s Style) backgroundIndex() int { return int(s&grounds) >> 12 }

// role returns s without attributes.
func (s Style) role() Style { return s & 0xff }

// Theme maps styles to terminal attributes. All panes share one; see CopyFrom. The zero value draws
// without attributes.
type Theme struct {
	sgr [styles]string
	// attributes enables Strong and the others, which do not depend on colors.
	attributes bool
	// backgrounds holds the background sequences with their text color; "" if the theme has none.
	backgrounds [5]string
	counts      Cells // method that matches the terminal
	// tinted means that backgrounds mark changed lines, so their text keeps its highlighting.
	tinted bool
}

// CopyFrom copies other into the theme that panes share. Existing rows keep their look, so callers
// must drop cached rows.
func (t *Theme) CopyFrom(other *Theme) {
	counts := t.counts
	*t = *other
	t.counts = counts
}

// start returns the sequence that begins a style.
func (t *Theme) start(s Style) string {
	sgr := t.sgr[s.role()]
	if s>>8 == 0 || !t.attributes {
		return sgr
	}
	if g := s & grounds; g != 0 {
		sgr = t.backgrounds[g.backgroundIndex()] + sgr
	}
	for i, code := range [...]string{"\x1b[1m", "\x1b[3m", "\x1b[9m", "\x1b[4m"} {
		if s&(Strong<<i) != 0 {
			sgr += code
		}
	}
	return sgr
}

// bare reports whether the theme draws without attributes: rows may be read aloud or written to a
// file, so they replace lines by words.
func (t *Theme) bare() bool { return !t.attributes && t.sgr == [styles]string{} }

// Color returns the theme for terminals with colors. It uses the sixteen colors that the user's
// terminal theme defines, and so the user's contrast.
func Color() *Theme {
	return &Theme{attributes: true, sgr: [styles]string{
		Dim: "\x1b[2m", Bold: "\x1b[1m", Italic: "\x1b[3m",
		Accent: "\x1b[36m", Good: "\x1b[32m", Bad: "\x1b[31m", Warn: "\x1b[33m",
		Heading: "\x1b[1;36m", Code: "\x1b[33m",
		Added: "\x1b[32m", Removed: "\x1b[31m", Hunk: "\x1b[2m",
		UserText: "\x1b[1m", Key: "\x1b[1m", Border: "\x1b[2m", Link: "\x1b[4;34m",
		Keyword: "\x1b[35m", String: "\x1b[32m", Comment: "\x1b[2m", Number: "\x1b[36m",
		Function: "\x1b[34m", Type: "\x1b[33m", Property: "\x1b[36m",
	}}
}

// Mono returns the theme for NO_COLOR (no-color.org): attributes without colors.
func Mono() *Theme {
	return &Theme{attributes: true, sgr: [styles]string{
		Dim: "\x1b[2m", Bold: "\x1b[1m", Italic: "\x1b[3m", Bad: "\x1b[1m", Warn: "\x1b[1m",
		Heading: "\x1b[1;4m", Added: "\x1b[1m", UserText: "\x1b[1m", Key: "\x1b[1m", Border: "\x1b[2m",
		Link: "\x1b[4m", Keyword: "\x1b[1m", Comment: "\x1b[2m",
	}}
}

// Bare returns the theme for terminals without attributes.
func Bare() *Theme { return &Theme{} }
