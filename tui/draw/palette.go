package draw

import "strconv"

// ink is a role's color and attributes.
type ink struct {
	color rgb
	attr  string
}

// palette is a theme with its own colors. The background stays the terminal's; grounds lists those
// that the colors were checked against.
type palette struct {
	backgrounds []rgb
	// text and lineContrast are the lowest contrast for text and for lines between panes (WCAG 2.2,
	// 1.4.3, 1.4.6 and 1.4.11).
	text, lineContrast float64
	inks               [styles]ink
	// ink is the text color on fills for roles without one: the terminal's default was chosen for
	// its background.
	ink   rgb
	fills map[Style]rgb
}

// roles returns the roles that appear on a 256-color fill besides plain text. A diff has none.
func roles(ground Style) []Style {
	if ground == OnYou {
		return []Style{Accent, Dim}
	}
	return nil
}

// floor returns a role's lowest contrast.
func (p *palette) floor(s Style) float64 {
	if s == Border {
		return p.lineContrast
	}
	return p.text
}

// theme builds the escape sequences for a terminal of depth d.
func (p *palette) theme(d depth) *Theme {
	t := &Theme{attributes: true}
	for s, k := range p.inks {
		params := k.attr
		if k.color != 0 {
			if params != "" {
				params += ";"
			}
			params += k.color.parameters(d, p.backgrounds, p.floor(Style(s)))
		}
		if params != "" {
			t.sgr[s] = "\x1b[" + params + "m"
		}
	}
	t.tinted = d == colorsAll
	for s, c := range p.fills {
		if bg, ok := p.fill(s, c, d); ok {
			t.backgrounds[s.backgroundIndex()] = "\x1b[" + bg + ";" + p.ink.parameters(d, []rgb{c}, p.text) + "m"
		}
	}
	if added, removed := OnAdded.backgroundIndex(), OnRemoved.backgroundIndex(); t.backgrounds[added] == "" || t.backgrounds[removed] == "" {
		t.backgrounds[added], t.backgrounds[removed] = "", "" // one alone would mark the other as unchanged
	}
	return t
}

// fill returns SGR 48 parameters for a background. With 256 colors it picks the nearest one on
// which all its text is readable; ok is false if there is none.
func (p *palette) fill(s Style, c rgb, d depth) (sgr string, ok bool) {
	if d == colorsAll {
		return "4" + c.parameters(d, nil, 0)[1:], true
	}
	on := []rgb{p.ink}
	for _, r := range roles(s) {
		on = append(on, xterm(nearest(p.inks[r].color, p.backgrounds, p.floor(r))))
	}
	best, at := farFill, 0
	for i := 16; i < 256; i++ {
		x := xterm(i)
		grey := x>>16 == x&0xff && x>>8&0xff == x&0xff
		if d := distance(lab(x.linear()), lab(c.linear())); d < best && grey == (s == OnYou) && least(x, on) >= p.text {
			best, at = d, i
		}
	}
	return "48;5;" + strconv.Itoa(at), at > 0
}

// farFill is the CIE76 distance from which a background counts as a different color.
const farFill = 60.0

// darkFills and lightFills are tints. All roles are readable on them, because they are no further
// from black or white than the checked backgrounds.
func darkFills() map[Style]rgb {
	return map[Style]rgb{OnAdded: 0x0f4338, OnRemoved: 0x5a2820, OnYou: 0x2f3b50}
}

func lightFills() map[Style]rgb {
	return map[Style]rgb{OnAdded: 0xd3f4f1, OnRemoved: 0xffe6d6, OnYou: 0xe6effb}
}

// darkGrounds returns common dark backgrounds: black, VS Code, Ubuntu, Solarized, One Dark and
// Nord.
func darkGrounds() []rgb { return []rgb{0x000000, 0x1e1e1e, 0x300a24, 0x002b36, 0x282c34, 0x2e3440} }

// lightGrounds returns common light backgrounds: white, Solarized, and a light gray.
func lightGrounds() []rgb { return []rgb{0xffffff, 0xfdf6e3, 0xeeeeee} }

func dark() *palette {
	return &palette{backgrounds: darkGrounds(), fills: darkFills(), ink: 0xe8ebf0, text: 4.5, lineContrast: 3, inks: [styles]ink{
		Dim: {0xa9b0bd, ""}, Bold: {0, "1"}, Italic: {0, "3"}, UserText: {0, "1"}, Key: {0, "1"}, Border: {0x858d9a, ""},
		Accent: {0x5fd3e0, ""}, Good: {0x7fd88f, ""}, Bad: {0xff928a, ""}, Warn: {0xe9c46a, ""},
		Heading: {0x5fd3e0, "1"}, Code: {0xe6b58a, ""}, Link: {0x8ab8ff, "4"},
		Added: {0x63d8c0, ""}, Removed: {0xff9a70, ""}, Hunk: {0xa9b0bd, ""},
		Keyword: {0xd8a6f2, ""}, String: {0xa8d98c, ""}, Comment: {0xa9b0bd, ""}, Number: {0xf2b279, ""},
		Function: {0x8cc0ff, ""}, Type: {0xe8d08c, ""}, Property: {0x86d6dc, ""},
	}}
}

func light() *palette {
	return &palette{backgrounds: lightGrounds(), fills: lightFills(), ink: 0x1b1f26, text: 4.5, lineContrast: 3, inks: [styles]ink{
		Dim: {0x59616d, ""}, Bold: {0, "1"}, Italic: {0, "3"}, UserText: {0, "1"}, Key: {0, "1"}, Border: {0x7a828e, ""},
		Accent: {0x006773, ""}, Good: {0x1d6b2c, ""}, Bad: {0xb3261e, ""}, Warn: {0x7a5000, ""},
		Heading: {0x006773, "1"}, Code: {0x8a3b00, ""}, Link: {0x0a56a6, "4"},
		Added: {0x00676b, ""}, Removed: {0xb5360a, ""}, Hunk: {0x59616d, ""},
		Keyword: {0x7a2aa0, ""}, String: {0x1e692a, ""}, Comment: {0x59616d, ""}, Number: {0x8a4700, ""},
		Function: {0x1d4fb8, ""}, Type: {0x6b5200, ""}, Property: {0x00636d, ""},
	}}
}

func contrastDark() *palette {
	return &palette{backgrounds: darkGrounds(), fills: darkFills(), ink: 0xe8ebf0, text: 7, lineContrast: 4.5, inks: [styles]ink{
		Dim: {0xd0d5dc, ""}, Bold: {0, "1"}, Italic: {0, "3"}, UserText: {0, "1"}, Key: {0, "1"}, Border: {0xb4bac4, ""},
		Accent: {0x8ff2ff, "1"}, Good: {0xa6f5b0, ""}, Bad: {0xffc4be, "1"}, Warn: {0xffe08a, ""},
		Heading: {0x8ff2ff, "1"}, Code: {0xffd2a8, ""}, Link: {0xbcdcff, "4"},
		Added: {0x8cf5ea, ""}, Removed: {0xffc69c, ""}, Hunk: {0xd0d5dc, ""},
		Keyword: {0xecccff, ""}, String: {0xc8f0b0, ""}, Comment: {0xd0d5dc, ""}, Number: {0xffcfa0, ""},
		Function: {0xb8dcff, ""}, Type: {0xf5e2a4, ""}, Property: {0xb0ecf0, ""},
	}}
}

func contrastLight() *palette {
	return &palette{backgrounds: lightGrounds(), fills: lightFills(), ink: 0x1b1f26, text: 7, lineContrast: 4.5, inks: [styles]ink{
		Dim: {0x3c434d, ""}, Bold: {0, "1"}, Italic: {0, "3"}, UserText: {0, "1"}, Key: {0, "1"}, Border: {0x565e69, ""},
		Accent: {0x004a54, "1"}, Good: {0x0e4a1b, ""}, Bad: {0x86130d, "1"}, Warn: {0x553700, ""},
		Heading: {0x004a54, "1"}, Code: {0x632900, ""}, Link: {0x063f7d, "4"},
		Added: {0x00494e, ""}, Removed: {0x842200, ""}, Hunk: {0x3c434d, ""},
		Keyword: {0x5a1580, ""}, String: {0x10491a, ""}, Comment: {0x3c434d, ""}, Number: {0x633200, ""},
		Function: {0x123a8c, ""}, Type: {0x4b3900, ""}, Property: {0x00474f, ""},
	}}
}

// strong returns the high-contrast theme for terminals with unknown colors: the default foreground
// and no faint text.
func strong() *Theme {
	return &Theme{attributes: true, sgr: [styles]string{
		Bold: "\x1b[1m", Italic: "\x1b[3m", Accent: "\x1b[1m", Bad: "\x1b[1m", Warn: "\x1b[1m", Heading: "\x1b[1;4m",
		Added: "\x1b[1m", UserText: "\x1b[1m", Key: "\x1b[1m", Link: "\x1b[4m", Keyword: "\x1b[1m",
	}}
}
