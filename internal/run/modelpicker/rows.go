// Package modelpicker converts known models into rows to choose from and, for a user without a
// model, into findings and next steps.
//
// The one rule: it names no provider. Names, commands and addresses come from package models.
//
// Start reading at Rows and at Found.
//
// Known limits: only queried programs are known to run.
package modelpicker

import (
	"fmt"
	"slices"

	"adze/internal/llm/local"
	"adze/internal/llm/models"
	"adze/session/api"
)

// RowsFrom returns rows for the named models first, with details from the listing, then for the
// other listed models.
func RowsFrom(find *models.Finder, named []string, l models.Listing) []api.ModelRow {
	var first []api.ModelRow
	for _, full := range named {
		if full != "" && !slices.ContainsFunc(first, func(r api.ModelRow) bool { return r.Name == full }) {
			first = append(first, rowNamed(find, full))
		}
	}
	for _, r := range Rows(l) {
		i := slices.IndexFunc(first, func(f api.ModelRow) bool { return f.Name == r.Name })
		if i < 0 {
			first = append(first, r)
			continue
		}
		first[i] = r // it has more details
	}
	return first
}

// rowNamed returns the row for a model that is not listed.
func rowNamed(find *models.Finder, full string) api.ModelRow {
	m, err := find.Named(full)
	if err != nil {
		return api.ModelRow{Name: full, Why: err.Error()}
	}
	return rowOf(find.Describe(m.Provider.Name(), local.Model{Name: m.Name}), m.Provider.Name())
}

// Rows returns a listing's models, usable ones first; an unusable provider is a single row.
func Rows(l models.Listing) []api.ModelRow {
	var can, cannot []api.ModelRow
	for _, p := range l.Providers {
		if p.Usable == nil || !*p.Usable && len(p.Models) == 0 {
			cannot = append(cannot, api.ModelRow{Name: p.Provider + "/…", Why: p.Why})
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

func rowOf(m models.ListedModel, provider string) api.ModelRow {
	r := api.ModelRow{
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
