package control

import (
	"slices"
	"strings"

	"adze/session/api"
)

// maxFiles limits the offered names.
const maxFiles = 30

// Match returns the paths that match a text, best first.
func Match(all api.Files, text string) []string {
	near := map[string]bool{}
	for _, p := range all.Recent {
		near[p] = true
	}
	type ranked struct {
		path string
		rank int
	}
	var found []ranked
	text = strings.ToLower(text)
	for _, p := range all.Paths {
		if rank, is := rankOf(strings.ToLower(p), text); is {
			if near[p] {
				rank -= 20
			}
			found = append(found, ranked{p, rank*100 + min(len(p), 99)})
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int { return a.rank - b.rank })
	out := []string{}
	for _, f := range found[:min(len(found), maxFiles)] {
		out = append(out, f.path)
	}
	return out
}

// rankOf rates how well a path matches the typed text: its name before its folders, consecutive
// letters before scattered ones.
func rankOf(path, text string) (rank int, is bool) {
	name := path[strings.LastIndexByte(strings.TrimSuffix(path, "/"), '/')+1:]
	switch {
	case text == "", strings.HasPrefix(name, text):
		return 0, true
	case strings.Contains(name, text):
		return 10, true
	case strings.Contains(path, text):
		return 30, true
	}
	at := 0
	for i := 0; i < len(path) && at < len(text); i++ {
		if path[i] == text[at] {
			at++
		}
	}
	return 60, at == len(text)
}
