package draw

import (
	"math"
	"strconv"
	"strings"
)

// rgb is a color, 0xRRGGBB; 0 is the terminal's default (a theme uses 0x010101 for black).
type rgb uint32

func (c rgb) parts() [3]float64 {
	return [3]float64{float64(c>>16&0xff) / 255, float64(c>>8&0xff) / 255, float64(c&0xff) / 255}
}

// linear removes the gamma of sRGB (IEC 61966-2-1).
func (c rgb) linear() [3]float64 {
	p := c.parts()
	for i, v := range p {
		if v <= 0.04045 {
			p[i] = v / 12.92
		} else {
			p[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return p
}

// luminance returns the relative luminance by WCAG 2, from 0 (black) to 1 (white).
func (c rgb) luminance() float64 {
	l := c.linear()
	return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2]
}

// contrast returns the contrast ratio by WCAG 2, from 1 to 21.
func contrast(a, b rgb) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// least returns the lowest contrast with several backgrounds.
func least(c rgb, grounds []rgb) float64 {
	worst := math.Inf(1)
	for _, g := range grounds {
		worst = min(worst, contrast(c, g))
	}
	return worst
}

// lab converts linear sRGB to CIE 1976 L*a*b* (D65), where distances approximate perceived
// differences.
func lab(l [3]float64) [3]float64 {
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*l[0] + 0.3576*l[1] + 0.1805*l[2]) / 0.95047)
	y := f(0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2])
	z := f((0.0193*l[0] + 0.1192*l[1] + 0.9505*l[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

func distance(a, b [3]float64) float64 {
	return math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
}

// depth is a terminal's color range.
type depth uint8

const (
	colors16  depth = iota // values defined by the user's terminal theme
	colors256              // plus xterm's cube and grays
	colorsAll              // 24 bit
)

// depthOf reads TERM and COLORTERM. COLORTERM (github.com/termstandard/colors) does not pass
// through ssh, so some terminals are known by TERM. GNU screen passes it on but shows at most 256
// colors.
func depthOf(env func(string) string) depth {
	name := env("TERM")
	color := env("COLORTERM")
	switch {
	case env("STY") != "" && env("TMUX") == "":
	case color == "truecolor" || color == "24bit" || env("WT_SESSION") != "" || strings.HasSuffix(name, "-direct"):
		return colorsAll
	default:
		for _, known := range []string{"xterm-kitty", "xterm-ghostty", "alacritty", "foot", "wezterm", "contour", "rio"} {
			if strings.HasPrefix(name, known) {
				return colorsAll
			}
		}
	}
	if strings.Contains(name, "256color") {
		return colors256
	}
	return colors16
}

// xterm returns color i of xterm's 256-color table, for i >= 16: a 6x6x6 cube and 24 grays.
func xterm(i int) rgb {
	if i >= 232 {
		v := rgb(8 + 10*(i-232))
		return v<<16 | v<<8 | v
	}
	level := func(n int) rgb {
		if n == 0 {
			return 0
		}
		return rgb(55 + 40*n)
	}
	i -= 16
	return level(i/36)<<16 | level(i/6%6)<<8 | level(i%6)
}

// nearest returns the xterm color closest to c whose contrast reaches floor on all grounds.
func nearest(c rgb, grounds []rgb, floor float64) int {
	want := lab(c.linear())
	best, at := math.Inf(1), 0
	for i := 16; i < 256; i++ {
		x := xterm(i)
		if d := distance(want, lab(x.linear())); d < best && least(x, grounds) >= floor {
			best, at = d, i
		}
	}
	return at
}

// parameters returns the SGR 38 parameters for text in color c.
func (c rgb) parameters(d depth, grounds []rgb, floor float64) string {
	if d == colorsAll {
		n := func(v rgb) string { return strconv.Itoa(int(v & 0xff)) }
		return "38;2;" + n(c>>16) + ";" + n(c>>8) + ";" + n(c)
	}
	return "38;5;" + strconv.Itoa(nearest(c, grounds, floor))
}
