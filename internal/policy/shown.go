package policy

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"adze/tool"
)

const maxShown = 100

// Named lists the files and folders that the user's allow rules name by abs: and home:, for reading
// or writing. A pattern with stars in single names counts as its current matches; one with ** in
// the middle names nothing.
func (p *Policy) Named(kind tool.Permission) (out []string) {
	for _, r := range p.rulesFor(kind) {
		if r.Effect != Allow || r.Layer == Project || r.Layer == Managed || r.Matcher == "" || r.path.anchor != "abs" && r.path.anchor != "home" {
			continue
		}
		pattern := r.path.pattern
		if r.path.anchor == "home" {
			if p.options.Home == "" {
				continue
			}
			pattern = escapeGlob(p.options.Home) + "/" + pattern
		}
		pattern = strings.TrimSuffix(pattern, "/**")
		switch {
		case strings.Contains(pattern, "**"):
		case strings.ContainsAny(unescaped(pattern, "\x00"), `*?[]{}`):
			found, _ := doublestar.FilepathGlob(pattern, doublestar.WithNoFollow()) // invalid patterns were rejected before
			out = append(out, found[:min(len(found), maxShown)]...)
		default:
			out = append(out, filepath.Clean(unescaped(pattern, "")))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// unescaped removes backslashes from a pattern and replaces protected characters by instead unless
// it is "".
func unescaped(pattern, instead string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] != '\\' || i == len(pattern)-1 {
			b.WriteByte(pattern[i])
			continue
		}
		if i++; instead != "" {
			b.WriteString(instead)
		} else {
			b.WriteByte(pattern[i])
		}
	}
	return b.String()
}
