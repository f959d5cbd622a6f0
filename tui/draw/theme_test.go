package draw

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"adze/tool"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// palettes are the themes with colours of our own, as they are at each depth.
func palettes() map[string]*palette {
	return map[string]*palette{"dark": dark(), "light": light(), "contrast on dark": contrastDark(), "contrast on light": contrastLight()}
}

// colorOf reads the text colour that a sequence selects; if 0, it selects none.
func colorOf(t *testing.T, sgr string) rgb {
	t.Helper()
	params := strings.Split(strings.TrimSuffix(strings.TrimPrefix(sgr, "\x1b["), "m"), ";")
	number := func(i int) rgb {
		n, err := strconv.Atoi(params[i])
		if err != nil || n < 0 || n > 255 {
			t.Fatalf("%q: %v", sgr, err)
		}
		return rgb(n)
	}
	for i, p := range params {
		if p != "38" {
			continue
		}
		if params[i+1] == "5" {
			return xterm(int(number(i + 2)))
		}
		return number(i+2)<<16 | number(i+3)<<8 | number(i+4)
	}
	return 0
}

// tooFaint lists the roles of a theme that cannot be read on a background: text below 4.5 (7 where
// contrast is promised), lines below 3 (4.5).
func tooFaint(t *testing.T, theme *Theme, p *palette) []string {
	var out []string
	for s := range styles {
		c := colorOf(t, theme.sgr[s])
		if c == 0 {
			continue // the terminal's own foreground
		}
		for _, g := range p.backgrounds {
			if got := contrast(c, g); got < p.floor(s) {
				out = append(out, fmt.Sprintf("role %d: %06x on %06x has %.2f, needs %.1f", s, c, g, got, p.floor(s)))
			}
		}
	}
	return out
}

func TestEveryRoleCanBeRead(t *testing.T) {
	for name, p := range palettes() {
		for _, d := range []depth{colors256, colorsAll} {
			for _, fault := range tooFaint(t, p.theme(d), p) {
				t.Errorf("%s, depth %d: %s", name, d, fault)
			}
		}
		colored := 0
		for s := range styles {
			if p.inks[s].color != 0 {
				colored++
			}
		}
		if colored < int(styles)-5 {
			t.Errorf("%s: only %d of %d roles have a colour", name, colored, styles)
		}
	}
	if p := contrastDark(); p.text < 7 || p.lineContrast < 4.5 || dark().text < 4.5 || light().lineContrast < 3 {
		t.Error("the promises were lowered")
	}
}

// TestFaintTextIsFound shows that the test above can fail.
func TestFaintTextIsFound(t *testing.T) {
	p := light()
	p.inks[Dim].color = 0x9aa0a8
	if got := tooFaint(t, p.theme(colorsAll), p); len(got) == 0 {
		t.Error("light grey on white was not found")
	}
	if got := contrast(0xffffff, 0x000000); got < 20.99 || got > 21.01 {
		t.Errorf("white on black is %.2f, WCAG says 21", got)
	}
	if got := contrast(0x777777, 0xffffff); got < 4.47 || got > 4.49 {
		t.Errorf("#777 on white is %.3f, known to be 4.48", got)
	}
}

// blindness are the matrices of Machado, Oliveira and Fernandes (2009, severity 1.0) for linear
// sRGB.
func blindness() map[string][3][3]float64 {
	return map[string][3][3]float64{
		"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	}
}

func seenBy(m [3][3]float64, c rgb) [3]float64 {
	l := c.linear()
	var out [3]float64
	for i := range out {
		out[i] = min(max(m[i][0]*l[0]+m[i][1]*l[1]+m[i][2]*l[2], 0), 1)
	}
	return lab(out)
}

// apart is how different added and removed lines must look, in CIE76 units: 2.3 is just noticeable
// side by side, ten times as much is another colour at a glance.
const apart = 23

// TestAddedAndRemovedDifferForEveryone simulates the common kinds of colour blindness.
func TestAddedAndRemovedDifferForEveryone(t *testing.T) {
	for name, p := range palettes() {
		for _, d := range []depth{colors256, colorsAll} {
			theme := p.theme(d)
			added, removed := colorOf(t, theme.sgr[Added]), colorOf(t, theme.sgr[Removed])
			if got := distance(lab(added.linear()), lab(removed.linear())); got < apart {
				t.Errorf("%s, depth %d: %.0f apart", name, d, got)
			}
			for kind, m := range blindness() {
				if got := distance(seenBy(m, added), seenBy(m, removed)); got < apart {
					t.Errorf("%s, depth %d, %s: %06x and %06x are %.0f apart, need %d", name, d, kind, added, removed, got, apart)
				}
			}
		}
	}
	deuteranopia := blindness()["deuteranopia"]
	if got := distance(seenBy(deuteranopia, 0x8cb45a), seenBy(deuteranopia, 0xd09a5f)); got >= apart {
		t.Errorf("a green and an orange that are known to be confused are %.0f apart: the check cannot fail", got)
	}
}

// TestDiffsNeedNoColor: added and removed lines are marked.
func TestDiffsNeedNoColor(t *testing.T) {
	diff := func(line string) tool.Block { return tool.Diff("a.go", "@@ -1 +1 @@\n"+line+"\n")[0] }
	for _, w := range []int{40, 120} {
		added, removed := plain(Bare().Block(nil, diff("+x"), w, Show{})), plain(Bare().Block(nil, diff("-x"), w, Show{}))
		if added == removed {
			t.Errorf("both are drawn as %q", added)
		}
		added, removed = plain(split(Bare(), diff("+x"), w)), plain(split(Bare(), diff("-x"), w))
		if !strings.Contains(added, "+") || !strings.Contains(removed, "-") {
			t.Errorf("split: %q and %q", added, removed)
		}
	}
}

func TestChoose(t *testing.T) {
	full := []string{"TERM", "xterm-256color", "COLORTERM", "truecolor"}
	with := func(pairs ...string) func(string) string { return env(append(pairs, full...)...) }
	for _, c := range []struct {
		what, name string
		env        func(string) string
		ground     Background
		want       *Theme
	}{
		{"nothing known", "", env(), UnknownGround, Color()},
		{"auto before the answer", "auto", with(), UnknownGround, Color()},
		{"auto on dark", "auto", with(), DarkGround, dark().theme(colorsAll)},
		{"auto on light", "", with(), LightGround, light().theme(colorsAll)},
		{"auto with sixteen colours", "auto", env("TERM", "xterm"), DarkGround, Color()},
		{"dark, 256 colours", "dark", env("TERM", "screen-256color"), UnknownGround, dark().theme(colors256)},
		{"light by the terminal's name", "light", env("TERM", "xterm-kitty"), UnknownGround, light().theme(colorsAll)},
		{"screen shows 256 at most", "light", with("STY", "1.pts", "TERM", "screen-256color"), UnknownGround, light().theme(colors256)},
		{"contrast on dark", "contrast", with(), DarkGround, contrastDark().theme(colorsAll)},
		{"contrast on light", "contrast", with(), LightGround, contrastLight().theme(colorsAll)},
		{"contrast before the answer", "contrast", with(), UnknownGround, strong()},
		{"ansi", "ansi", with(), DarkGround, Color()},
		{"none", "none", with(), DarkGround, Mono()},
		{"NO_COLOR", "auto", with("NO_COLOR", "1"), DarkGround, Mono()},
		{"NO_COLOR, but the person named a theme", "dark", with("NO_COLOR", "1"), UnknownGround, dark().theme(colorsAll)},
		{"dumb", "dark", with("TERM", "dumb"), DarkGround, Bare()},
	} {
		if got := Choose(c.name, c.env, c.ground); got.sgr != c.want.sgr {
			t.Errorf("%s: %q", c.what, got.sgr)
		}
	}
	for _, name := range Themes() {
		if ThemeDescription(name) == "" {
			t.Errorf("nothing is said of %s", name)
		}
	}
}

// TestNoneHasNoColor: attributes only, also where contrast is high on an unknown background.
func TestNoneHasNoColor(t *testing.T) {
	for _, theme := range []*Theme{Mono(), strong()} {
		for _, sgr := range theme.sgr {
			for _, p := range strings.Split(strings.Trim(sgr, "\x1b[m"), ";") {
				if len(p) == 2 && (p[0] == '3' || p[0] == '4') {
					t.Errorf("a colour in the theme without colours: %q", sgr)
				}
			}
		}
	}
	for _, sgr := range strong().sgr {
		if strings.Contains(sgr, "[2m") {
			t.Errorf("faint text in the theme of high contrast: %q", sgr)
		}
	}
}

func TestGroundAndAsking(t *testing.T) {
	for value, want := range map[string]Background{"": UnknownGround, "15;0": DarkGround, "0;15": LightGround, "0;default;15": LightGround,
		"15;8": DarkGround, "0;7": LightGround, "15;default": UnknownGround} {
		if got := GroundOf(env("COLORFGBG", value)); got != want {
			t.Errorf("COLORFGBG=%q: %d, want %d", value, got, want)
		}
	}
	for _, c := range []struct {
		name string
		env  func(string) string
		want bool
	}{
		{"", env("TERM", "xterm-256color"), true},
		{"contrast", env("TERM", "xterm-256color", "NO_COLOR", "1"), true},
		{"auto", env("TERM", "xterm-256color", "NO_COLOR", "1"), false},
		{"dark", env("TERM", "xterm-256color"), false},
		{"auto", env("TERM", "linux", "COLORTERM", "truecolor"), false},
		{"auto", env("TERM", "vt100"), false},
		{"auto", env("TERM", "dumb", "COLORTERM", "truecolor"), false},
	} {
		if got := Asks(c.name, c.env); got != c.want {
			t.Errorf("%q in %s: %v", c.name, c.env("TERM"), got)
		}
	}
}

// backOf reads the background that a sequence selects.
func backOf(t *testing.T, sgr string) rgb {
	t.Helper()
	_, back, ok := strings.Cut(sgr, "[48;")
	if !ok {
		t.Fatalf("%q selects no background", sgr)
	}
	return colorOf(t, "\x1b[38;"+back[:strings.Index(back, ";38;")])
}

// unreadable lists what cannot be read on the grounds of a theme: with all colours every role, else
// those that stand there.
func unreadable(t *testing.T, theme *Theme, p *palette) (out []string) {
	for _, s := range []Style{OnAdded, OnRemoved, OnYou} {
		sgr := theme.backgrounds[s.backgroundIndex()]
		if sgr == "" {
			continue
		}
		back := backOf(t, sgr)
		on := []Style{}
		for r := range styles {
			on = append(on, r)
		}
		if !theme.tinted {
			on = roles(s)
		}
		ink := colorOf(t, sgr[strings.Index(sgr, ";38;"):])
		if got := contrast(ink, back); got < p.text {
			out = append(out, fmt.Sprintf("text on ground %x has %.2f", int(s), got))
		}
		for _, r := range on {
			if c := colorOf(t, theme.sgr[r]); c != 0 && contrast(c, back) < p.floor(r) {
				out = append(out, fmt.Sprintf("role %d on ground %x has %.2f", r, int(s), contrast(c, back)))
			}
		}
	}
	return out
}

// TestGroundsCanBeReadAndTold: text on a ground keeps its contrast, a ground is seen on any usual
// background, and those of a diff differ from one another for everyone.
func TestGroundsCanBeReadAndTold(t *testing.T) {
	for name, p := range palettes() {
		for _, d := range []depth{colors256, colorsAll} {
			theme := p.theme(d)
			for _, fault := range unreadable(t, theme, p) {
				t.Errorf("%s, depth %d: %s", name, d, fault)
			}
			if d == colors256 {
				continue
			}
			added, removed := backOf(t, theme.backgrounds[OnAdded.backgroundIndex()]), backOf(t, theme.backgrounds[OnRemoved.backgroundIndex()])
			for _, g := range p.backgrounds {
				for _, c := range []rgb{added, removed} {
					if got := distance(lab(c.linear()), lab(g.linear())); got < seen {
						t.Errorf("%s: the ground %06x is %.1f from the background %06x", name, c, got, g)
					}
				}
			}
			for kind, m := range blindness() {
				if got := distance(seenBy(m, added), seenBy(m, removed)); got < seen {
					t.Errorf("%s, %s: the grounds of a diff are %.1f apart", name, kind, got)
				}
			}
		}
	}
	p := dark()
	p.fills[OnAdded] = 0x40806f
	if len(unreadable(t, p.theme(colorsAll), p)) == 0 {
		t.Error("a ground that is too bright was not found")
	}
	for name, theme := range map[string]*Theme{"16 colours": Color(), "none": Mono(), "bare": Bare(), "contrast, unknown": strong()} {
		if theme.backgrounds != [5]string{} {
			t.Errorf("%s has grounds, whose contrast nobody knows", name)
		}
	}
}

// seen is how far a ground is at least from what is around it, in CIE76 units: 2.3 is just
// noticeable.
const seen = 7

// TestGroundsGoToTheEdge: a line of a diff stands on its ground over the whole width, also where it
// goes on below.
func TestGroundsGoToTheEdge(t *testing.T) {
	theme := dark().theme(colorsAll)
	b := tool.Diff("a.go", "@@ -1,2 +1,2 @@\n-short\n+"+strings.Repeat("long ", 20)+"\n same\n")[0]
	for _, split := range []bool{false, true} {
		p := theme.Patch(b, 60, split)
		for i, r := range p.Append(nil, 0, p.Len()) {
			changed := strings.Contains(r.String(), "\x1b[48;2;")
			if r.Width() > 60 || changed && !split && r.Width() != 60 {
				t.Errorf("split %v, row %d: %d wide: %q", split, i, r.Width(), r)
			}
			if i > 0 && i < p.Len()-1 && !changed {
				t.Errorf("split %v, row %d stands on no ground: %q", split, i, r)
			}
		}
	}
	for _, r := range theme.Block(nil, b, 60, Show{}) {
		if strings.Contains(r.String(), "\x1b[48;2;") && r.Width() != 60 {
			t.Errorf("%d wide: %q", r.Width(), r)
		}
	}
}
