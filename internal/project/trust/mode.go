package trust

import (
	"context"
	"maps"
)

// Mode returns the permission mode that the user chose for this folder, or for a work tree's main
// checkout, or "". An unusable book has none.
func (p Project) Mode() string {
	all, _ := p.Book.read()
	if mode, ok := all.Modes[key(p.Dir)]; ok || p.Main == "" {
		return mode
	}
	return all.Modes[key(p.Main)]
}

// ChooseMode stores a permission mode for this folder; "" removes it.
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

// ModeID is the id of the mode in adze permission trust list and revoke.
const ModeID = "mode"
