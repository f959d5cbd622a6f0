package programs

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

//go:embed table/*.table
var tables embed.FS

// program is one entry in the table: the options under which it is read-only.
type program struct {
	options  map[string]option
	single   bool // long options begin with one dash, and short ones do not cluster
	front    bool // options end at the first operand: the rest are operands, and xxd writes to the second
	any      bool // every word is harmless
	operands []string
	onlyWith []string // one of these options is required
	special  string   // code reads the small language among its words

	changes       bool              // not read-only
	effectOptions map[string]option // options with further effects
	listed        []string          // their names, in table order
	names         []string          // operands, if more of them are files than in read-only use
	with          []form

	deep, follow, unless []string

	reads    []string // tree: patterns of the names it reads; nil means all
	fallback string   // the default operand
	hidden   bool     // tree: includes names that begin with a dot
	apart    string   // how to exclude files known for their secrets
	adds     []string
	local    []string
	git      bool   // it starts git itself
	since    [2]int // git's first version with this subcommand; an older one has none, or an alias
	history  bool
	patch    []string // the options that show history; if empty, it always does
	peel     bool
}

// form describes the operands when one of some options is given.
type form struct{ options, operands []string }

type option struct {
	roles    []string
	attached bool // --long=value is allowed
	only     bool // and the next word is never its value
	maybe    bool // the next word, if any, is its value
}

var tabled = sync.OnceValue(func() map[string]*program {
	all := map[string]*program{}
	for _, family := range []string{"files", "text", "system", "toolchains", "git", "changing"} {
		data, err := tables.ReadFile("table/" + family + ".table")
		if err != nil {
			panic(err) // it is embedded
		}
		parseTable(string(data), all)
	}
	return all
})

func parseTable(text string, all map[string]*program) {
	var p *program
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || key == "#":
		case key == "program":
			p = &program{options: map[string]option{}, effectOptions: map[string]option{}}
			for name := range strings.FieldsSeq(rest) {
				all[strings.ReplaceAll(name, ".", " ")] = p
			}
		default:
			p.set(key, rest)
		}
	}
}

// set handles one line of an entry.
func (p *program) set(key, rest string) {
	words := strings.Fields(rest)
	switch key {
	case "flags":
		for _, w := range words {
			p.flag(w, p.options)
		}
	case "more":
		for _, w := range words {
			p.flag(w, p.effectOptions)
			name, _, _ := strings.Cut(strings.ReplaceAll(w, ":", "="), "=")
			p.listed = append(p.listed, name)
		}
	case "operands":
		p.operands = words
	case "names":
		p.names = words
	case "with":
		flags, roles, _ := strings.Cut(rest, ":")
		p.with = append(p.with, form{strings.Fields(flags), strings.Fields(roles)})
	case "default":
		p.fallback = rest
	case "history":
		p.history, p.patch = true, words
	case "apart":
		p.apart = rest
	case "special":
		p.special = rest
	case "since":
		_, _ = fmt.Sscanf(rest, "%d.%d", &p.since[0], &p.since[1])
	case "single", "front", "any", "hidden", "git", "peel", "changes":
		*map[string]*bool{"changes": &p.changes, "single": &p.single, "front": &p.front, "any": &p.any, "hidden": &p.hidden, "git": &p.git, "peel": &p.peel}[key] = true
	case "deep", "follow", "unless", "adds", "local", "only", "reads": // follow always, follow files: for any operands
		*map[string]*[]string{"deep": &p.deep, "follow": &p.follow, "unless": &p.unless, "adds": &p.adds, "local": &p.local, "only": &p.onlyWith, "reads": &p.reads}[key] = words
	default:
		panic(fmt.Sprintf("the table of harmless programs has a line %q", key)) // its test reads every line
	}
}

// flag handles one word of a flags line: -abc for three options, -w:role for one that takes a word,
// -w?role for one with an attached value, --long=role, --long[=role] for an attached value alone,
// --long:role:role for two words, --long:role? for an optional word.
func (p *program) flag(w string, into map[string]option) {
	if name, role, ok := strings.Cut(w, "[="); ok {
		into[name] = option{roles: []string{strings.TrimSuffix(role, "]")}, attached: true, only: true}
		return
	}
	if name, roles, ok := strings.Cut(w, ":"); ok {
		maybe := strings.HasSuffix(roles, "?")
		into[name] = option{roles: strings.Split(strings.TrimSuffix(roles, "?"), ":"), maybe: maybe}
		return
	}
	if name, role, ok := strings.Cut(w, "?"); ok && !p.single {
		into[name] = option{roles: []string{role}, attached: true, only: true}
		return
	}
	if name, role, ok := strings.Cut(w, "="); ok {
		into[name] = option{roles: []string{role}, attached: true}
		return
	}
	if p.single || strings.HasPrefix(w, "--") || strings.HasPrefix(w, "+") || w == "-#" {
		into[w] = option{}
		return
	}
	for _, letter := range w[1:] {
		into["-"+string(letter)] = option{}
	}
}
