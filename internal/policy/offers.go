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

// Offer is what a user may allow for longer than once, and what that means. Its texts are made of
// the rules alone: see [Rule.Describe].
type Offer struct {
	Kind OfferKind
	// Rules are what is granted, exactly.
	Rules []string
	// Covers and Spares say what then is not asked any more, and what close to it still is. Saved
	// says what the rules cover beyond that once they are saved. It is empty where that is nothing.
	Covers, Spares, Saved string

	grants []grant
}

// OfferKind says how far an offer goes.
type OfferKind string

// Kinds of offers, the narrowest first.
const (
	ExactOffer   OfferKind = "exact"   // these words, this file, this address
	ToolOffer    OfferKind = "tool"    // a tool of an MCP server, whatever its arguments
	ProgramOffer OfferKind = "program" // the program with its subcommand and any words
	FolderOffer  OfferKind = "folder"  // all below a folder, or a whole host
	ServerOffer  OfferKind = "server"  // all tools of an MCP server
)

// Usual is the offer that is shown first: the program where it is offered, else the narrowest. if
// -1, there is none.
func Usual(offers []Offer) int {
	for i, o := range offers {
		if o.Kind == ProgramOffer {
			return i
		}
	}
	return min(0, len(offers)-1)
}

// offersFor are what would answer all that is asked, the exact words first. None: one of it cannot
// be granted.
func offersFor(open []verdict) (out []Offer) {
	var parts []verdict
	for _, v := range open {
		if len(v.inner) > 0 {
			parts = append(parts, v.inner...)
		} else {
			parts = append(parts, v)
		}
	}
	if slices.ContainsFunc(parts, func(v verdict) bool { return v.rule != "" }) { // an ask rule wants to be asked each time
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

// offerOf is one kind of offer for every part; if false, a part has none.
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
		o.Covers, o.Spares, o.Saved = also(o.Covers, d.Covers), also(o.Spares, d.Spares), also(o.Saved, d.Saved)
	}
	return o, len(parts) > 0
}

// also adds a text to others, once.
func also(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "" || slices.Contains(strings.Split(a, "; "), b):
		return a
	}
	return a + "; " + b
}

// exactPart is the very words, file, address or tool.
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

// programPart is a program with its subcommand; of what is no program it is the very file, address
// or tool.
func programPart(v verdict) grant {
	switch {
	case len(v.words) == 0:
		return exactPart(v)
	case v.careful: // a rule for the program does not speak of such files
		return grant{}
	}
	return grant{rule: wideCommand(v.words)}
}

// widePart is the folder of a file, the host of an address, or the server of a tool.
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

// exactGrant is the grant of one program with these words and variables in this folder; the zero
// value: it is none that may last.
func exactGrant(dir string, env []script.Setting, words []script.Word) grant {
	if !script.Known(words) {
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

// wideCommand is the rule for a program with its subcommand and any words behind it.
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

// hasSubcommands reports programs whose first word chooses what they do.
func hasSubcommands(name string) bool { return programs.Is("subcommands", base(name)) }

// subcommand is that word; "" where there is none, or options stand before it.
func subcommand(s simple) string {
	if !hasSubcommands(s.name()) || len(s.words) < 2 || !s.words[1].Known || strings.HasPrefix(s.words[1].Text, "-") {
		return ""
	}
	return s.words[1].Text
}

// narrow reports programs of which only the exact words are offered: they delete or send things,
// and that cannot be undone.
func narrow(s simple) bool {
	return programs.Does("narrow", script.Texts(s.words[:min(2, len(s.words))])...)
}

// wideFile is the rule for the folder that a file lies in; of the workspace it is a folder below.
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
	if at == "." || v.place.Outside && strings.Count(at, "/") < 2 { // all of the workspace, of /etc, or of the disk
		return ""
	}
	return fmt.Sprintf("allow %s(%s%s/**)", v.need.Permission, anchor, escapeGlob(at))
}

// wideHost is the rule for a host at the usual port of any scheme.
func wideHost(target string) string {
	a, err := parseAddress(target)
	if err != nil || a.scheme == "tcp" || a.scheme == "unix" || a.port != usualPort(a.scheme) {
		return ""
	}
	return fmt.Sprintf("allow network(%s)", a.host)
}

// lasting reports whether a user may allow a command for the whole session: not when what it runs
// is named, written or fetched elsewhere. The modules of Python that check a project are no more
// than pytest alone is.
func lasting(s simple) bool {
	name, words := base(s.name()), script.Texts(s.words)
	if strings.HasPrefix(name, "python") && len(words) > 2 && words[1] == "-m" && oneOf(words[2], "pytest unittest mypy ruff black flake8 pylint") {
		return true
	}
	if _, interprets := programs.CodeOption(name, ""); interprets || programs.Does("unlasting", words...) {
		return false
	}
	// A rule that begins with mcp: is about a server.
	return !startsPrograms(s) && !programs.Is("builtin", name) && !strings.HasPrefix(s.name(), serverPrefix)
}

// unoffered says why no rule is offered for what is asked. The first part that has none says it.
func unoffered(open []verdict) string {
	for _, v := range open {
		for _, part := range append(slices.Clone(v.inner), v) {
			w := slices.IndexFunc(part.words, func(w script.Word) bool { return !w.Known })
			switch {
			case part.rule != "":
				return "the rule " + part.rule + " wants each call asked"
			case part.barred != "":
				return part.barred
			case part.need.Outside != "":
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
