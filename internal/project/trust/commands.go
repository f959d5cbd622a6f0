package trust

import (
	"context"
	"slices"
	"strings"

	"adze/internal/project/discovery"
)

// commands finds prompts with shell parts. Others run nothing and need no consent.
func commands(f folder) (out []Item) {
	if !slices.ContainsFunc(discovery.Folders(discovery.Command), func(name string) bool { return !f.lacks(name) }) {
		return nil
	}
	finder := discovery.Finder{Dir: f.root.Name()}
	defer finder.Close()
	for _, c := range finder.Find(context.Background(), discovery.Command) {
		i := Item{ID: strings.ReplaceAll(c.Name, ":", "/"), Source: c.Path, Trigger: "the person gives /" + c.Name, Problem: c.Problem}
		text, err := c.Read(context.Background())
		if err != nil {
			i.Problem = err.Error()
		}
		i.Raw = text.Raw
		if i.Shell = discovery.ShellParts(text.Body); err != nil || len(i.Shell) > 0 {
			out = append(out, i)
		}
	}
	return out
}
