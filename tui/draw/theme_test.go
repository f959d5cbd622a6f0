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

// colorOf reads the text colour that a sequence selects; 0: it selects none.
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

// tooFaint lists the roles of a theme that cannot be read on a background: text below 4.5 (7 where contrast is
// promised), lines below 3 (4.5).
func tooFaint(t *testing.T, theme *Theme, p *palette) []string {
	var out []string
	for s := range styles {
		c := colorOf(t, theme.sgr[s])
		if c == 0 {
			continue // the terminal's own foreground
		}
		for _, g := range p.grounds {
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
	if p := contrastDark(); p.text < 7 || p.rest < 4.5 || dark().text < 4.5 || light().rest < 3 {
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

// blindness are the matrices of Machado, Oliveira and Fernandes (2009, severity 1.0) for linear sRGB.
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

// apart is how different added and removed lines must look, in CIE76 units: 2.3 is just noticeable side by
// side, ten times as much is another colour at a glance.
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
		ground     Ground
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
		if Means(name) == "" {
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
	for value, want := range map[string]Ground{"": UnknownGround, "15;0": DarkGround, "0;15": LightGround, "0;default;15": LightGround,
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
