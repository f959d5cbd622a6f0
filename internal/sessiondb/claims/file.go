package claims

import (
	"path"
	"strings"
)

// file is the name of a file in an answer.
type file struct {
	name  string
	line  bool // with the number of a line in it
	plain bool // not as code, and without a folder
}

// fileOf reads a token as the name of a file.
func fileOf(t token) (f file, ok bool) {
	if t.kind == sign || len(t.word) > 200 {
		return f, false
	}
	name := strings.TrimPrefix(t.text, "`")
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "`"), "'s"), ",")
	if at := strings.IndexAny(name, ":#"); at > 0 {
		rest := strings.TrimLeft(name[at:], ":#L")
		if rest == "" || strings.Trim(rest, "0123456789-:L") != "" {
			return f, false
		}
		name, f.line = name[:at], true
	}
	name = strings.TrimPrefix(name, "./")
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-/+@", r)
	})
	base := path.Base(name)
	ext := strings.ToLower(path.Ext(base))
	if bad || name == "" || strings.HasPrefix(name, "/") || strings.Contains(name, "..") || !in("extensions")[ext] || base == ext || in("notFiles")[strings.ToLower(name)] {
		return f, false
	}
	f.name, f.plain = name, t.kind == word && !strings.Contains(name, "/")
	return f, true
}
