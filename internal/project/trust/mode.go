package trust

import (
	"context"
	"maps"
)

// Mode returns the permission mode that the user chose for this folder, or for the main checkout of
// a work tree. It is empty where there is none. A book that cannot be used holds none.
func (p Project) Mode() string {
	all, _ := p.Book.read()
	if mode, ok := all.Modes[key(p.Dir)]; ok || p.Main == "" {
		return mode
	}
	return all.Modes[key(p.Main)]
}

// ChooseMode keeps a permission mode for this folder; an empty one forgets the choice.
func (p Project) ChooseMode(ctx context.Context, mode string) error {
	return p.Book.change(ctx, func(all *pages) {
		modes := maps.Clone(all.Modes)
		if modes == nil {
			modes = map[string]string{}
		}
		if modes[key(p.Dir)] = mode; mode == "" {
			delete(modes, key(p.Dir))
		}
		all.Modes = modes
	})
}

// ModeID names the choice of a mode among what adze permission trust lists and takes back.
const ModeID = "mode"
