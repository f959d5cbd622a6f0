package draw

// Style is the role of a piece of text. Panes name roles; only a Theme knows colours.
type Style uint8

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
	You     // what the person wrote
	Key     // a key in a hint
	Border
	styles // how many there are
)

// Theme turns styles into terminal attributes. It never changes after it is made. The zero value draws
// without any attribute.
type Theme struct {
	sgr [styles]string
}

// Color is the theme for terminals with colours. It uses the sixteen colours that the person's own
// terminal theme defines, so that contrast is what they chose.
func Color() *Theme {
	return &Theme{[styles]string{
		Dim: "\x1b[2m", Bold: "\x1b[1m", Italic: "\x1b[3m",
		Accent: "\x1b[36m", Good: "\x1b[32m", Bad: "\x1b[31m", Warn: "\x1b[33m",
		Heading: "\x1b[1;36m", Code: "\x1b[33m",
		Added: "\x1b[32m", Removed: "\x1b[31m", Hunk: "\x1b[36m",
		You: "\x1b[1m", Key: "\x1b[1m", Border: "\x1b[2m",
	}}
}

// Mono is the theme for NO_COLOR (no-color.org): attributes, no colours.
func Mono() *Theme {
	return &Theme{[styles]string{
		Dim: "\x1b[2m", Bold: "\x1b[1m", Italic: "\x1b[3m", Bad: "\x1b[1m", Warn: "\x1b[1m",
		Heading: "\x1b[1;4m", Added: "\x1b[1m", You: "\x1b[1m", Key: "\x1b[1m", Border: "\x1b[2m",
	}}
}

// Bare is the theme for terminals that understand no attributes.
func Bare() *Theme { return &Theme{} }

// ThemeFor chooses by the environment: NO_COLOR set to anything, TERM=dumb.
func ThemeFor(env func(string) string) *Theme {
	switch {
	case env("TERM") == "dumb":
		return Bare()
	case env("NO_COLOR") != "":
		return Mono()
	}
	return Color()
}
