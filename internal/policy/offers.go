package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

// An Offer is a longer grant for the user to choose, with its explanation. The text derives from
// the rules alone: see [Rule.Describe].
type Offer struct {
	Kind OfferKind
	// Rules are the exact grant.
	Rules []string
	// Covers and Spares describe calls no longer asked about, and similar ones that still are.
	// Saved describes the extra coverage of saved rules; may be empty.
	Covers, Spares, Saved string

	grants []grant
}

// OfferKind is an offer's scope.
type OfferKind string

// The narrowest first.
const (
	ExactOffer   OfferKind = "exact"   // these words, this file, this address
	ToolOffer    OfferKind = "tool"    // an MCP server's tool, with any arguments
	ProgramOffer OfferKind = "program" // the program and subcommand with any words
	FolderOffer  OfferKind = "folder"  // everything below a folder, or a whole host
	ServerOffer  OfferKind = "server"  // all tools on an MCP server
)

// DefaultOffer returns the index of the default offer: the program's if offered, otherwise the
// narrowest, or -1 if there is none.
func DefaultOffer(offers []Offer) int {
	for i, o := range offers {
		if o.Kind == ProgramOffer {
			return i
		}
	}
	return min(0, len(offers)-1)
}

// offersFor returns offers that cover everything open, exact words first. It is empty if a part
// cannot be granted.
func offersFor(open []verdict) (out []Offer) {
	var parts []verdict
	for _, v := range open {
		if len(v.inner) > 0 {
			parts = append(parts, v.inner...)
		} else {
			parts = append(parts, v)
		}
	}
	if slices.ContainsFunc(parts, func(v verdict) bool { return v.rule != "" }) { // an ask rule asks each time
		return nil
	}
	for _, kind := range []struct {
		usual, server OfferKind
		part          func(verdict) grant
	}{{ExactOffer, ToolOffer, exactPart}, {ProgramOffer, ToolOffer, programPart}, {FolderOffer, ServerOffer, widePart}} {
		o, ok := offerOf(parts, kind.part)
		if o.Kind = kind.usual; ok && parts[0].server != (serverTool{}) {
			o.Kind = kind.server
		}
		if ok && !slices.ContainsFunc(out, func(other Offer) bool { return slices.Equal(other.Rules, o.Rules) }) {
			out = append(out, o)
		}
	}
	return out
}

// offerOf makes one kind of offer for every part, or returns false if a part has none.
func offerOf(parts []verdict, kind func(verdict) grant) (o Offer, ok bool) {
	for _, v := range parts {
		g := kind(v)
		if g.rule == "" {
			return Offer{}, false
		}
		if slices.ContainsFunc(o.grants, func(other grant) bool { return g == other }) {
			continue
		}
		d, err := g.describe()
		if err != nil {
			return Offer{}, false
		}
		o.grants = append(o.grants, g)
		if !slices.Contains(o.Rules, g.rule) {
			o.Rules = append(o.Rules, g.rule)
		}
		o.Covers, o.Spares, o.Saved = also(o.Covers, d.Covers), also(o.Spares, d.StillAsked), also(o.Saved, d.Saved)
	}
	return o, len(parts) > 0
}

// also appends a text once.
func also(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "" || slices.Contains(strings.Split(a, "; "), b):
		return a
	}
	return a + "; " + b
}

// exactPart grants exactly these words, file, address or tool.
func exactPart(v verdict) grant {
	switch {
	case v.server != (serverTool{}):
		return grant{rule: v.server.rule()}
	case len(v.words) > 0:
		return v.exact
	case len(v.offers) == 1:
		return v.offers[0]
	}
	return grant{}
}

// programPart grants a program with its subcommand, or like exactPart if there is no program.
func programPart(v verdict) grant {
	switch {
	case len(v.words) == 0:
		return exactPart(v)
	case v.careful: // a rule for the program does not cover such files
		return grant{}
	}
	return grant{rule: wideCommand(v.words)}
}

// widePart grants a file's folder, an address's host, or a tool's server.
func widePart(v verdict) grant {
	kind := v.need.Permission
	switch {
	case v.server != (serverTool{}):
		return grant{rule: v.server.wide()}
	case len(v.offers) != 1:
		return grant{}
	case kind == tool.Network:
		return grant{rule: wideHost(v.target)}
	case kind == tool.Read || kind == tool.Write:
		return grant{rule: wideFile(v)}
	}
	return grant{}
}

// exactGrant grants one program with these words and variables in this folder. It returns the zero
// value if it cannot last.
func exactGrant(dir string, env []script.Setting, words []script.Word) grant {
	if !script.AllKnown(words) {
		return grant{}
	}
	key := []string{string(tool.Execute), dir}
	for _, set := range env {
		if !set.Value.Known {
			return grant{}
		}
		key = append(key, set.Name+"="+set.Value.Text)
	}
	key = append(append(key, ""), script.Texts(words)...)
	return grant{key: strings.Join(key, "\x00"), rule: fmt.Sprintf("allow execute(%s)", simple{words: words}), kind: tool.Execute}
}

// wideCommand returns the rule for a program and subcommand with any words.
func wideCommand(words []script.Word) string {
	s := simple{words: words}
	if !lasting(s) || narrow(s) {
		return ""
	}
	head := []string{quoteWord(s.name())}
	if sub := subcommand(s); sub != "" {
		head = append(head, quoteWord(sub))
		if sub == "run" && len(s.words) > 2 && s.words[2].Known && !strings.HasPrefix(s.words[2].Text, "-") {
			head = append(head, quoteWord(s.words[2].Text))
		}
	} else if hasSubcommands(s.name()) {
		return ""
	}
	return fmt.Sprintf("allow execute(%s **)", strings.Join(head, " "))
}

// hasSubcommands reports whether a program's first word is a subcommand.
func hasSubcommands(name string) bool { return programs.IsKind("subcommands", base(name)) }

// subcommand returns the subcommand, or "" if there is none or options precede it.
func subcommand(s simple) string {
	if !hasSubcommands(s.name()) || len(s.words) < 2 || !s.words[1].Known || strings.HasPrefix(s.words[1].Text, "-") {
		return ""
	}
	return s.words[1].Text
}

// narrow reports whether only the exact words are offered: the program deletes or sends things
// irrevocably.
func narrow(s simple) bool {
	return programs.CommandIs("narrow", script.Texts(s.words[:min(2, len(s.words))])...)
}

// wideFile returns the rule for a file's folder; inside the workspace, for a subfolder.
func wideFile(v verdict) string {
	if v.careful || v.place.Abs == "" {
		return ""
	}
	anchor, at := "abs:", v.place.Abs
	if !v.place.Outside {
		anchor, at = "work:", v.place.Rel
	}
	if !v.folder {
		at = path.Dir(at)
	}
	if at == "." || v.place.Outside && strings.Count(at, "/") < 2 { // all of the workspace, /etc, or the disk
		return ""
	}
	return fmt.Sprintf("allow %s(%s%s/**)", v.need.Permission, anchor, escapeGlob(at))
}

// wideHost returns the rule for a host at the usual port for any scheme.
func wideHost(target string) string {
	a, err := parseAddress(target)
	if err != nil || a.scheme == "tcp" || a.scheme == "unix" || a.port != usualPort(a.scheme) {
		return ""
	}
	return fmt.Sprintf("allow network(%s)", a.host)
}

// lasting reports whether a command can be granted for the session. It cannot if its code is named,
// written or fetched elsewhere. Python modules that check a project count like pytest alone.
func lasting(s simple) bool {
	name, words := base(s.name()), script.Texts(s.words)
	if strings.HasPrefix(name, "python") && len(words) > 2 && words[1] == "-m" && oneOf(words[2], "pytest unittest mypy ruff black flake8 pylint") {
		return true
	}
	if _, interprets := programs.CodeOption(name, ""); interprets || programs.CommandIs("unlasting", words...) {
		return false
	}
	// A rule that begins with mcp: is about a server.
	return !startsPrograms(s) && !programs.IsKind("builtin", name) && !strings.HasPrefix(s.name(), serverPrefix)
}

// unoffered explains why nothing is offered, by the first part without an offer.
func unoffered(open []verdict) string {
	for _, v := range open {
		for _, part := range append(slices.Clone(v.inner), v) {
			w := slices.IndexFunc(part.words, func(w script.Word) bool { return !w.Known })
			switch {
			case part.rule != "":
				return "the rule " + part.rule + " wants each call asked"
			case part.barred != "":
				return part.barred
			case part.need.OutsideReason != "":
				return "each command outside the sandbox is asked for"
			case w >= 0:
				return "contains " + part.words[w].Written() + ", so no rule can cover it"
			case len(part.words) > 0 && !lasting(simple{words: part.words}):
				return part.words[0].Text + " runs what stands elsewhere, so no rule can cover it"
			case len(part.words) == 0 && part.need.Permission == tool.Execute && part.reason != "" && !strings.HasSuffix(part.reason, " needs approval"):
				return strings.TrimPrefix(part.reason, "it ") + ", so it is asked each time"
			}
		}
	}
	return "this is asked each time"
}
