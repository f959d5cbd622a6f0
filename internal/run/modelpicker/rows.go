// Package modelpicker converts known models into rows to choose from and, for a user without a
// model, into findings and next steps.
//
// The one rule: it names no provider. Names, commands and addresses come from package models.
//
// Start reading at Rows and at ForSetup.
//
// Known limits: only queried programs are known to run.
package modelpicker

import (
	"cmp"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"adze/internal/cmd/doctor"
	"adze/internal/llm/local"
	"adze/internal/llm/models"
	"adze/session/api"
	"adze/tui/firstrun"
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
			cannot = append(cannot, api.ModelRow{Name: p.Provider + "/…", Why: p.Reason})
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

// maxModelSteps limits the models offered as steps; the list of models has all.
const maxModelSteps = 4

// ForSetup converts a listing, with the doctor's checks of terminal and configuration, for the
// setup screen.
func ForSetup(l models.Listing, checks []doctor.Check) firstrun.Setup {
	f := firstrun.Setup{Steps: steps(l)}
	var unset []string
	for _, p := range l.Providers {
		if p.Usable != nil && !*p.Usable && p.KeyEnv != "" && !p.Key && p.Reason == "set "+p.KeyEnv {
			unset = append(unset, p.KeyEnv)
			continue
		}
		f.Findings = append(f.Findings, findingOf(p))
	}
	if len(unset) > 0 {
		f.Findings = append(f.Findings, firstrun.Finding{State: firstrun.Missing, Name: "keys", Text: "not set: " + strings.Join(unset, ", ")})
	}
	for _, c := range checks {
		brief, _, _ := strings.Cut(c.Finding, "; ") // adze doctor shows the rest
		f.Findings = append(f.Findings, firstrun.Finding{Name: c.Name, Text: brief})
	}
	return f
}

// findingOf describes a provider for the setup screen.
func findingOf(p models.ListedProvider) firstrun.Finding {
	f := firstrun.Finding{State: firstrun.Missing, Name: p.Provider, Text: strings.TrimSuffix(p.Reason+" · "+p.Endpoint, " · ")}
	if p.Usable == nil || *p.Usable {
		f.State = firstrun.Fact
	}
	if p.Usable != nil && *p.Usable {
		f.State = firstrun.Usable
	}
	var names []string
	for _, m := range p.Models {
		if m.Tools != nil && !*m.Tools {
			names = append(names, m.Model+" (cannot call tools)")
			continue
		}
		names = append(names, m.Model)
	}
	if len(names) > maxModelSteps {
		names = append(names[:maxModelSteps], fmt.Sprintf("and %d more", len(names)-maxModelSteps))
	}
	if len(names) > 0 {
		f.Text += " · " + strings.Join(names, ", ")
	}
	return f
}

// steps returns the next steps: usable models, or else the shortest way to one.
func steps(l models.Listing) []firstrun.Step {
	var out []firstrun.Step
	for _, p := range l.Providers {
		if p.WantsKey {
			out = append(out, firstrun.Step{Do: "enter the key of " + p.Provider, Means: "its server at " + p.Endpoint + " wants one", Key: true, Provider: p.Provider})
		}
	}
	for _, r := range Rows(l) {
		if r.Why == "" && len(out) < maxModelSteps {
			out = append(out, firstrun.Step{Do: "use " + r.Name, Means: cmp.Or(r.Note, "ready to use"), Next: api.Next{Model: r.Name}})
		}
	}
	if !slices.ContainsFunc(out, func(s firstrun.Step) bool { return s.Next.Model != "" }) {
		out = append(out, lacking(l)...)
	}
	keys := models.Keyed()
	out = append(out, firstrun.Step{Do: "enter a key", Means: "choose the company; adze says where to get a key, checks it and keeps it", Key: true},
		firstrun.Step{Do: "use your own server", Means: "by its address: a company's gateway, or a program on another machine", Address: true},
		firstrun.Step{Do: "export " + keys[0] + "=…", Means: "or " + strings.Join(keys[1:], ", ") + "; then start adze in that shell"},
		firstrun.Step{Do: "watch the demo", Means: "no model needed: adze --demo", Next: api.Next{Demo: true}})
	if len(l.Providers) == 0 {
		return out
	}
	for _, v := range models.Fetching() {
		if _, none := exec.LookPath(v.Fetch.Binary()); none != nil && !runs(l, v.Name) {
			out = append(out, firstrun.Step{Do: "open " + v.Fetch.Site, Means: "run a model on this machine: install it, then " + v.Fetch.Command(v.Fetch.Suggest)})
		}
	}
	return out
}

// lacking returns steps for local programs without a usable model.
func lacking(l models.Listing) (out []firstrun.Step) {
	for _, v := range models.Fetching() {
		switch _, none := exec.LookPath(v.Fetch.Binary()); {
		case runs(l, v.Name):
			out = append(out, firstrun.Step{Do: v.Fetch.Command(v.Fetch.Suggest), Means: "a model that can call tools (" + v.Fetch.Size + "); then look again"})
		case none == nil:
			out = append(out, firstrun.Step{Do: v.Fetch.Serve, Means: v.Program + " is installed and does not run; then look again"})
		}
	}
	return out
}

// runs reports whether a provider's program answered.
func runs(l models.Listing, provider string) bool {
	return slices.ContainsFunc(l.Providers, func(p models.ListedProvider) bool {
		return p.Provider == provider && strings.HasPrefix(p.Reason, "running")
	})
}
