//go:build unix

package sandbox

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxMissed limits the paths named to a failed command, maxSearched the output bytes searched for
// them.
const (
	maxMissed   = 5
	maxSearched = 256 << 10
)

// pathWord matches likely paths in a command line and its output.
var pathWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(~|\\$HOME|\\$\\{HOME\\}|[\\w.-]+)?/[^\\s\"'`;:|&<>()\\[\\]{},*?=]+")
})

// missed returns hints about existing paths, named in a failed command or its output, that commands
// do not see, and how the user shows them. It decides nothing, because a command's output can name
// anything.
func (p *plan) missed(output string) (out []string) {
	text := strings.Join(p.command.Argv, " ") + " " + output[:min(len(output), maxSearched)]
	var hidden, denied []string
	for _, word := range pathWord().FindAllString(text, -1) {
		p.miss(p.absolute(word), &hidden, &denied)
	}
	if len(hidden) > 0 {
		out = append(out, fmt.Sprintf("commands in the sandbox do not see %s, which is there; if it is needed, the user shows it with \"sandbox\": {\"read\": [%q]} in the configuration or --allow 'read(abs:%s)'",
			strings.Join(legibles(hidden), ", "), hidden[0], hidden[0]))
	}
	if len(denied) > 0 {
		out = append(out, "a deny rule keeps "+strings.Join(legibles(denied), ", ")+" from commands")
	}
	return out
}

// miss adds an existing path to hidden or, if a rule keeps it from commands, to denied.
func (p *plan) miss(path string, hidden, denied *[]string) {
	path = filepath.Clean(path)
	to := hidden
	switch {
	case matchesAny(p.hidden, path, false) || matchesAny(p.masked, path, false):
		to = denied
	case !p.home.covered(path) || p.home.visible(path) || isWithin(path, p.workspace.path) || isWithin(p.workspace.path, path):
		return
	case slices.ContainsFunc(p.home.visiblePaths, func(s visiblePath) bool { return isWithin(s.path, path) }), slices.Contains(p.home.hidden, path):
		return // part of it is visible
	}
	if len(*to) < maxMissed && !slices.Contains(*to, path) && exists(path) {
		*to = append(*to, path)
	}
}

// absolute returns a match of pathWord as an absolute path.
func (p *plan) absolute(word string) string {
	word = strings.TrimRight(word, ".!")
	for _, home := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(word, home); ok {
			return filepath.Join(p.lookup("HOME"), rest)
		}
	}
	if !filepath.IsAbs(word) {
		return filepath.Join(p.command.Dir, word)
	}
	return word
}

func legibles(paths []string) (out []string) {
	for _, path := range paths {
		out = append(out, legible(path))
	}
	return out
}
