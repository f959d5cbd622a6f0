package draw

import (
	"slices"
	"strconv"
	"strings"
)

// Background is the terminal's background, if known.
type Background uint8

// Backgrounds.
const (
	UnknownGround Background = iota
	DarkGround
	LightGround
)

// Themes returns the theme names, the default first.
func Themes() []string { return []string{"auto", "dark", "light", "contrast", "ansi", "none"} }

// ThemeDescription returns a theme's description.
func ThemeDescription(name string) string {
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

// Choose returns the named theme, adapted to the terminal. An empty name means auto. With an
// unknown background, auto becomes ansi and contrast uses no colors: both are readable on any
// background. NO_COLOR (no-color.org) applies unless the user chose a theme; TERM=dumb gets no
// attributes at all.
func Choose(name string, env func(string) string, g Background) *Theme {
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

// Asks reports whether a theme depends on the terminal's background, so that a query is useful. The
// Linux console does not answer, and old versions print the query.
func Asks(name string, env func(string) string) bool {
	if slices.Contains([]string{"dumb", "linux"}, env("TERM")) || depthOf(env) == colors16 {
		return false
	}
	return name == "contrast" || (name == "" || name == "auto") && env("NO_COLOR") == ""
}

// GroundOf reads COLORFGBG, set by rxvt, Konsole and others: the last field is the number of the
// background color.
func GroundOf(env func(string) string) Background {
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
