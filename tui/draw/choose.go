package draw

import (
	"slices"
	"strconv"
	"strings"
)

// Ground is what is known of the terminal's background.
type Ground uint8

// Grounds.
const (
	UnknownGround Ground = iota
	DarkGround
	LightGround
)

// Themes are the names of the themes, the default first.
func Themes() []string { return []string{"auto", "dark", "light", "contrast", "ansi", "none"} }

// Means says what a theme is.
func Means(name string) string {
	switch name {
	case "auto":
		return "dark or light, as the terminal's background is"
	case "dark":
		return "for dark backgrounds"
	case "light":
		return "for light backgrounds"
	case "contrast":
		return "high contrast, dark or light as the terminal's background is"
	case "ansi":
		return "the sixteen colours of your terminal's own theme"
	case "none":
		return "no colours; bold, faint and underlined text"
	}
	return ""
}

// Choose makes the theme of a name, as well as this terminal can show it. An empty name is auto;
// while the background is unknown, auto is ansi and contrast uses no colours: both can be read on
// any. NO_COLOR (no-color.org) holds unless the user named a theme; a terminal that is dumb gets
// no attributes at all.
func Choose(name string, env func(string) string, g Ground) *Theme {
	if name == "" {
		name = "auto"
	}
	d := depthOf(env)
	switch {
	case env("TERM") == "dumb":
		return Bare()
	case name == "none" || name == "auto" && env("NO_COLOR") != "":
		return Mono()
	case name == "contrast" && (d == colors16 || g == UnknownGround):
		return strong()
	case name == "contrast" && g == LightGround:
		return contrastLight().theme(d)
	case name == "contrast":
		return contrastDark().theme(d)
	case d == colors16:
		return Color()
	case name == "dark" || name == "auto" && g == DarkGround:
		return dark().theme(d)
	case name == "light" || name == "auto" && g == LightGround:
		return light().theme(d)
	}
	return Color()
}

// Asks reports whether a theme depends on the terminal's background, so that it is worth asking for
// it. The Linux console knows no answer, and old ones print the question.
func Asks(name string, env func(string) string) bool {
	if slices.Contains([]string{"dumb", "linux"}, env("TERM")) || depthOf(env) == colors16 {
		return false
	}
	return name == "contrast" || (name == "" || name == "auto") && env("NO_COLOR") == ""
}

// GroundOf reads COLORFGBG, which rxvt, Konsole and others set: the number of the background's
// colour stands last.
func GroundOf(env func(string) string) Ground {
	fields := strings.Split(env("COLORFGBG"), ";")
	n, err := strconv.Atoi(fields[len(fields)-1])
	switch {
	case err != nil || n < 0 || n > 15:
		return UnknownGround
	case n == 7 || n > 8:
		return LightGround
	}
	return DarkGround
}
