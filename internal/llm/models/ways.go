package models

import (
	"slices"
	"strings"

	"adze/internal/llm/wire"
)

// SetupHelp lists the ways to get a model, one per line.
func (f *Finder) SetupHelp() string {
	first, address := keyed()[0], ""
	for _, v := range keyed() {
		if v.DefaultURLOnly {
			row, _ := vendor(v.Name)
			address = ", or " + row.URLs[0] + " for a compatible server"
		}
	}
	return strings.Join([]string{
		"name one: --model " + list("or", append(names(func(v Vendor) bool { return v.Default != "" || v.Fetch.Get != "" }, "/NAME"), "script/FILE")),
		"or one of a known server: " + strings.Join(names(func(v Vendor) bool { return v.Default == "" && v.SameServerAs == "" && v.specialConstructor() == nil }, "/NAME"), ", "),
		`or write it down: {"model": "` + first.Name + `/NAME"} in ` + f.File,
		"or set " + strings.Join(Keyed(), ", ") + address,
		"or start " + list("or", programs()) + " with a model that can call tools",
		"or watch first: adze --demo",
	}, "\n")
}

// keyed returns the vendors whose bare key implies a model, by rank.
func keyed() []Vendor {
	out := slices.DeleteFunc(slices.Clone(vendors()), func(v Vendor) bool { return v.Default == "" })
	slices.SortStableFunc(out, func(a, b Vendor) int { return a.Rank - b.Rank })
	return out
}

// Keyed returns the variables for keys that imply a model, by precedence.
func Keyed() []string {
	var out []string
	for _, v := range keyed() {
		out = append(out, v.Keys[0])
	}
	return out
}

// Fetching returns the programs that download models themselves.
func Fetching() []Vendor {
	return slices.DeleteFunc(slices.Clone(vendors()), func(v Vendor) bool { return v.Fetch.Get == "" })
}

// Command returns the command that gets a model.
func (f Fetch) Command(model string) string { return strings.ReplaceAll(f.Get, "NAME", model) }

// Binary returns the program's name.
func (f Fetch) Binary() string {
	name, _, _ := strings.Cut(f.Serve, " ")
	return name
}

// Formats returns the wire formats in alphabetical order, each by the first provider that uses it.
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

// FormatOf returns a built-in provider's wire format.
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

// list joins words with commas and a final word.
func list(word string, words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + word + " " + words[last]
}
