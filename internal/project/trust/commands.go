package trust

import (
	"path"
	"strings"

	"adze/internal/project/discovery"
)

// commands finds prompts with shell parts; one without runs nothing and needs no consent.
func commands(f folder) (out []Item) {
	for _, place := range discovery.Folders(discovery.Command) {
		for _, name := range f.names(place[0], place[1], true) {
			rel := strings.TrimSuffix(strings.TrimPrefix(name, place[0]+"/"), place[1])
			i := Item{ID: rel, From: name, When: "the person gives /" + strings.ReplaceAll(rel, "/", ":")}
			raw, err := f.read(name)
			if err != nil {
				i.Problem = err.Error()
				out = append(out, i)
				continue
			}
			i.Raw = raw
			dialect, _, _ := strings.Cut(strings.TrimPrefix(place[0], "."), "/")
			if i.Shell = discovery.ShellParts(discovery.Whole(path.Base(name), raw).Body, dialect); len(i.Shell) > 0 {
				out = append(out, i)
			}
		}
	}
	return out
}
