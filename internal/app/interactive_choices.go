package app

import (
	"fmt"
	"slices"

	"adze/internal/llm/discover"
	"adze/internal/models"
	"adze/tui/port"
)

// rowNamed is what is known of a model that nobody listed.
func rowNamed(find *models.Finder, full string) port.ModelRow {
	m, err := find.Named(full)
	if err != nil {
		return port.ModelRow{Name: full, Why: err.Error()}
	}
	return rowOf(find.Describe(m.Provider.Name(), discover.Model{Name: m.Name}), m.Provider.Name())
}

// rowsOf are the models of a listing, those that can be used first; a provider that cannot be used is one row.
func rowsOf(l models.Listing) []port.ModelRow {
	var can, cannot []port.ModelRow
	for _, p := range l.Providers {
		if p.Usable == nil || !*p.Usable && len(p.Models) == 0 {
			cannot = append(cannot, port.ModelRow{Name: p.Provider + "/…", Why: p.Why})
			continue
		}
		for _, m := range p.Models {
			r := rowOf(m, p.Provider)
			if r.Why != "" {
				cannot = append(cannot, r)
				continue
			}
			if l.Default != nil && l.Default.Model == r.Name {
				can = slices.Insert(can, 0, r)
				continue
			}
			can = append(can, r)
		}
	}
	return append(can, cannot...)
}

func rowOf(m models.ListedModel, provider string) port.ModelRow {
	r := port.ModelRow{
		Name: provider + "/" + m.Model, Context: m.Context, Input: m.Input, Output: m.Answer,
		Vision: m.Vision != nil && *m.Vision, Tools: m.Tools != nil && *m.Tools,
	}
	if m.Tools != nil && !*m.Tools {
		r.Why = "it cannot call tools"
	}
	if m.Size > 0 {
		r.Note = fmt.Sprintf("%.1f GB", float64(m.Size)/1e9)
	}
	if m.Loaded {
		r.Note += " loaded"
	}
	return r
}
