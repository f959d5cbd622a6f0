package models

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"adze/internal/llm/catalog"
	"adze/internal/text/usage"
	"adze/tool"
)

// find splits the user's input into provider and name; "gpt-4o" alone is its maker's model.
func (f *Finder) find(full string) (provider, name string, err error) {
	provider, name, cut := strings.Cut(full, "/")
	if cut && name != "" && f.has(provider) {
		return provider, name, nil
	}
	hosts := f.hosts(full)
	switch {
	case len(hosts) == 1:
		return hosts[0], full, nil
	case len(hosts) > 1:
		return "", "", several(full, hosts)
	case cut && name != "":
		return "", "", f.noProvider(provider, name)
	}
	return "", "", f.noModel(strings.TrimSuffix(full, "/"))
}

// has reports whether a provider is built in or configured.
func (f *Finder) has(provider string) bool {
	p := f.config.Providers[provider]
	_, known := vendor(cmp.Or(p.Cloud, provider))
	return known || p.BaseURL != ""
}

// hosts returns the providers that certainly have the model: by the table, else by the name's
// prefix. Among several it prefers those with a key.
func (f *Finder) hosts(name string) []string {
	var out []string
	rows, _ := catalog.Rows() // a broken table is reported by prices
	for _, r := range rows {
		provider, own, _ := strings.Cut(r.Model, "/")
		if own == name && !slices.Contains(out, provider) {
			out = append(out, provider)
		}
	}
	if len(out) == 0 {
		out = makers(name)
	}
	can := slices.DeleteFunc(slices.Clone(out), func(provider string) bool {
		e, err := f.Endpoint(provider)
		return err != nil || e.Incomplete()
	})
	if len(can) > 0 {
		return can
	}
	return out
}

// makers returns the companies with this name's prefix. A tag behind a colon means a file that
// anybody may run.
func makers(name string) []string {
	if strings.ContainsAny(name, ":/") {
		return nil
	}
	return names(func(v Vendor) bool { return v.makes(name) }, "")
}

// makes reports whether only this company uses such a name.
func (v Vendor) makes(name string) bool {
	made := false
	for _, start := range v.ModelPrefixes {
		start, others := strings.CutPrefix(start, "!")
		if strings.HasPrefix(name, start) {
			if others {
				return false
			}
			made = true
		}
	}
	return made
}

func several(name string, hosts []string) error {
	var full []string
	for _, h := range hosts {
		full = append(full, h+"/"+name)
	}
	return &MissingError{fmt.Sprintf("several providers have %q", name), "name one: " + list("or", full)}
}

func (f *Finder) noProvider(provider, name string) error {
	var hints []string
	var known []string
	for _, v := range vendors() {
		known = append(known, v.Name)
	}
	known = append(known, slices.Sorted(maps.Keys(f.config.Providers))...)
	for _, near := range slices.Concat(tool.Nearest(provider, known, 1), makers(name)) {
		hints = append(hints, "did you mean "+near+"/"+name+"?")
	}
	slices.Sort(hints)
	return &MissingError{fmt.Sprintf("there is no provider %q", provider), usage.Hints(append(slices.Compact(hints),
		"adze models lists all providers; a compatible server goes by its address: "+compatible(),
		fmt.Sprintf(`or describe it: {"providers": {%q: {"base_url": "https://…/v1", "key_env": "NAME_OF_A_VARIABLE"}}}`, provider))...)}
}

// compatible describes how to use an unlisted server.
func compatible() string {
	for _, v := range keyed() {
		if v.DefaultURLOnly {
			row, _ := vendor(v.Name)
			return row.URLs[0] + "=… --model " + v.Name + "/NAME"
		}
	}
	return ""
}

// noModel returns an error for a word that names no model, with a similar name or the provider's
// models.
func (f *Finder) noModel(word string) error {
	var hints []string
	if v, known := vendor(word); known && v.Default != "" {
		hints = append(hints, "did you mean "+v.Name+"/"+v.Default+"?")
	} else if known || f.has(word) {
		hints = append(hints, "adze models "+word+" --check lists its models")
	}
	byName := map[string]string{}
	var known []string
	rows, _ := catalog.Rows()
	for _, r := range rows {
		_, own, _ := strings.Cut(r.Model, "/")
		known, byName[own] = append(known, own), r.Model
	}
	if near := tool.Nearest(word, known, 1); len(near) == 1 && len(hints) == 0 {
		hints = append(hints, "did you mean "+byName[near[0]]+"?")
	}
	return &MissingError{fmt.Sprintf("%q names no model: want provider/name", word),
		usage.Hints(append(hints, "adze models lists what can be used", f.first())...)}
}

func (f *Finder) first() string {
	first, _, _ := strings.Cut(f.SetupHelp(), "\n")
	return first
}

// nearby chooses a local model for a name without a provider that is in no table or whose provider
// lacks a key. listing queries the running servers.
func (f *Finder) nearby(listing func() Listing, missing error) (Model, error) {
	name := f.config.Model
	if provider, _, cut := strings.Cut(name, "/"); cut && f.has(provider) {
		return Model{}, missing
	}
	var hosts, near []string
	for _, p := range listing().Providers {
		var have []string
		for _, m := range p.Models {
			have = append(have, m.Model)
			if m.Model == name || m.Model == name+":latest" {
				hosts = append(hosts, p.Provider)
			}
		}
		for _, n := range tool.Nearest(name, have, 1) {
			near = append(near, "did you mean "+p.Provider+"/"+n+"?")
		}
	}
	var none *MissingError
	switch {
	case len(hosts) == 1:
		return f.Named(hosts[0] + "/" + name)
	case len(hosts) > 1:
		return Model{}, several(name, hosts)
	case len(near) > 0 && errors.As(missing, &none):
		for hint := range strings.SplitSeq(none.Hint, "\n") {
			if !slices.Contains(near, hint) { // do not repeat a hint
				near = append(near, hint)
			}
		}
		return Model{}, &MissingError{none.Message, usage.Hints(near...)}
	}
	return Model{}, missing
}

// ResolveAgentModel resolves the model in an agent's file, which may be written for another
// assistant: provider/name, a name that one provider has, or a word such as opus, which means the
// provider's first model with that word in its name.
func (f *Finder) ResolveAgentModel(provider, word string) (Model, error) {
	m, err := f.Named(word)
	if err == nil || strings.Contains(word, "/") {
		return m, err
	}
	rows, _ := catalog.Rows() // a broken table is reported by prices
	for _, r := range rows {
		if of, name, _ := strings.Cut(r.Model, "/"); of == provider && !strings.HasSuffix(name, "*") && slices.Contains(strings.Split(name, "-"), word) {
			return f.Named(r.Model)
		}
	}
	return m, err
}
