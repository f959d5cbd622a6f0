package models

import (
	"slices"
	"strings"

	"adze/internal/llm/wire"
)

// Ways are the ways to a model, a line each.
func (f *Finder) Ways() string {
	first, address := keyed()[0], ""
	for _, v := range keyed() {
		if v.DefaultURLOnly {
			row, _ := vendor(v.Name)
			address = ", or " + row.URLs[0] + " for a compatible server"
		}
	}
	return strings.Join([]string{
		"name one: --model " + list("or", append(names(func(v Vendor) bool { return v.Default != "" || v.Fetch.Get != "" }, "/NAME"), "script/FILE")),
		"or one of a known server: " + strings.Join(names(func(v Vendor) bool { return v.Default == "" && v.SameServerAs == "" && v.own() == nil }, "/NAME"), ", "),
		`or write it down: {"model": "` + first.Name + `/NAME"} in ` + f.File,
		"or set " + strings.Join(Keyed(), ", ") + address,
		"or start " + list("or", programs()) + " with a model that can call tools",
		"or watch first: adze --demo",
	}, "\n")
}

// keyed are the vendors of which a bare key means a model, by rank.
func keyed() []Vendor {
	out := slices.DeleteFunc(slices.Clone(vendors()), func(v Vendor) bool { return v.Default == "" })
	slices.SortStableFunc(out, func(a, b Vendor) int { return a.Rank - b.Rank })
	return out
}

// Keyed are the variables of keys that mean a model by themselves, in the order in which they
// count.
func Keyed() []string {
	var out []string
	for _, v := range keyed() {
		out = append(out, v.Keys[0])
	}
	return out
}

// Fetching are the programs that get models themselves.
func Fetching() []Vendor {
	return slices.DeleteFunc(slices.Clone(vendors()), func(v Vendor) bool { return v.Fetch.Get == "" })
}

// Of is what a user types to get a model.
func (f Fetch) Of(model string) string { return strings.ReplaceAll(f.Get, "NAME", model) }

// Binary is the name of the program.
func (f Fetch) Binary() string {
	name, _, _ := strings.Cut(f.Serve, " ")
	return name
}

// Formats are the wire formats, each by the first provider that speaks it, in alphabetical order.
func Formats() []string {
	var out, seen []string
	for _, v := range vendors() {
		if v.Format.Tools != nil && !slices.Contains(seen, v.Format.Name) {
			out, seen = append(out, v.Name), append(seen, v.Format.Name)
		}
	}
	slices.Sort(out)
	return out
}

// FormatOf is the wire format of a provider that is known by name.
func FormatOf(provider string) (wire.Format, bool) {
	v, known := vendor(provider)
	return v.Format, known && v.Format.Tools != nil
}

func names(of func(Vendor) bool, end string) []string {
	var out []string
	for _, v := range vendors() {
		if of(v) {
			out = append(out, v.Name+end)
		}
	}
	return out
}

func programs() []string {
	var out []string
	for _, v := range vendors() {
		if v.Program != "" {
			out = append(out, v.Program)
		}
	}
	return out
}

// list joins words as a sentence does.
func list(word string, words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + word + " " + words[last]
}
