package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"adze/internal/text/braces"
	"adze/internal/text/redact"
	"adze/tool"
)

// A Place is a resolved file name.
type Place struct {
	Abs       string // absolute, links resolved
	Rel       string // relative to the workspace, with slashes; "." is the workspace; unused if Outside
	Outside   bool
	Protected bool // writing there could make another program run something
	// Named is the place before links were followed, or nil if there were none. Rules on either
	// name apply.
	Named *Place
	// HardLinks are the file's other names, whose rules also apply.
	HardLinks []Place
}

// both returns the place, its Named if set, and its hard links.
func (p Place) both() []Place {
	all := append([]Place{p}, p.HardLinks...)
	if p.Named != nil {
		all = append(all, *p.Named)
	}
	return all
}

// told returns the name for a denial, which a model reads: a name such as /proc/self would reveal
// adze's process id.
func (p Place) told() string {
	if p.Named != nil && strings.HasPrefix(p.Abs, "/proc/") {
		return p.Named.Abs
	}
	return p.Abs
}

// Paths resolves file names like the tools do.
type Paths interface {
	Judge(name string) (Place, error)
}

// A Linker is a Paths that detects hard links to known secrets among many files. Its function is
// nil if there are none.
type Linker interface {
	Linked() func(path string) bool
}

// A Follower is a Paths that only resolves links, which is cheaper than full places. Its result is
// "" for a dangling name.
type Follower interface {
	Follow(names []string) (led []string)
}

func (p *Policy) judgeFile(mode Mode, v verdict) verdict {
	place, err := p.place(v.need.Target)
	if err != nil {
		return v.mistaken(err)
	}
	v.target, v.place = place.Abs, place
	doing := map[tool.Permission]string{tool.Read: "reading ", tool.Write: "writing "}[v.need.Permission] + quote(v.need.Target)
	if place.Protected && v.need.Permission == tool.Write {
		v.effect = Deny
		v.reason = doing + " is not possible: files there make other programs run things; change it by hand, or use the program they belong to"
		return v
	}
	kept := p.kept()
	if v.need.Permission == tool.Write && keptIn(kept, place) != "" {
		v.effect, v.reason = Deny, ownReason(doing)
		return v
	}
	why, part := p.careful(v.need.Permission, place, kept)
	v.careful = why != ""
	v.offers = []grant{p.fileGrant(v.need.Permission, place)}
	r, found := strongest(p.rulesFor(v.need.Permission), func(r Rule) bool { return r.counts(place, p.options.Home, why, part) })
	switch {
	case found && r.Effect == Deny:
		v.reason = deniedBy(doing, r)
		return v.withRule(r)
	case found:
		v.reason = doing + " is asked for by a rule"
		return v.withRule(r)
	}
	v.effect, v.layer = mode.byDefault(v.need.Permission, !place.Outside && why == ""), layerOf(mode)
	v.reason = fileReason(doing, place, why)
	return v
}

// counts reports whether a rule applies to a file. Allowing all reads does not include keys, and
// allowing all writes does not include startup files; only rules that name them do.
func (r Rule) counts(place Place, home, why, part string) bool {
	if r.Effect != Allow {
		for _, at := range place.both() {
			if r.path.matches(at, home) {
				return true
			}
		}
		return false
	}
	if (r.Layer == Lent || r.Layer == granted) && why != "" && part == "" { // a secret in a granted folder was not meant
		return false
	}
	return r.path.matches(place, home) && (why == "" || r.Matcher != "" && r.names(part))
}

func (p *Policy) place(name string) (Place, error) {
	if p.options.Paths == nil {
		return Place{}, errors.New("file access is not set up; no file can be used")
	}
	return p.options.Paths.Judge(name)
}

// follow resolves links in paths.
func (p *Policy) follow(names []string) []string {
	if f, ok := p.options.Paths.(Follower); ok {
		return f.Follow(names)
	}
	led := make([]string, len(names))
	for i, name := range names {
		if at, err := p.place(name); err == nil {
			led[i] = at.Abs
		}
	}
	return led
}

func fileReason(doing string, place Place, why string) string {
	switch {
	case why != "":
		return doing + " needs approval: " + why
	case place.Outside:
		return fmt.Sprintf("%s needs approval: %s is outside the workspace", doing, place.told())
	}
	return doing + " needs approval"
}

func (p *Policy) fileGrant(kind tool.Permission, place Place) grant {
	pattern := "abs:" + escapeGlob(place.Abs)
	if !place.Outside {
		pattern = "work:" + escapeGlob(place.Rel)
	}
	return grant{key: string(kind) + "\x00" + place.Abs, rule: fmt.Sprintf("allow %s(%s)", kind, pattern), kind: kind, name: path.Base(place.Abs)}
}

func escapeGlob(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`\*?[]{}`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

type pathMatcher struct {
	anchor  string // work, home, abs; empty for any
	pattern string
	// fold ignores case and Unicode composition: deny and ask rules must also match if the file
	// system does not distinguish two names. Allow rules match exactly.
	fold bool
	base string   // for a pattern **/name, which needs only the base name
	each []string // pattern without braces
}

func compilePath(matcher string, effect Effect) (pathMatcher, error) {
	m := pathMatcher{anchor: "work", pattern: matcher, fold: effect != Allow}
	anchor, rest, anchored := strings.Cut(matcher, ":")
	switch {
	case matcher == "":
		m.pattern = "**"
	case anchored && (anchor == "work" || anchor == "home" || anchor == "abs"):
		m.anchor, m.pattern = anchor, rest
	case strings.HasPrefix(matcher, "/"):
		return m, fmt.Errorf("write an absolute path as abs:%s", matcher)
	case strings.HasPrefix(matcher, "~/"):
		return m, fmt.Errorf("write a path in the home folder as home:%s", matcher[2:])
	}
	if effect != Allow && !anchored && strings.HasPrefix(m.pattern, "**") {
		m.anchor = "" // a ban on **/*.lock includes neighboring folders
	}
	if m.anchor == "abs" && !strings.HasPrefix(m.pattern, "/") && !onDrive(m.pattern) {
		return m, errors.New("a path after abs: begins with /, or with a drive, as in abs:C:/src/**")
	}
	m.pattern = strings.TrimPrefix(m.pattern, "./")
	if strings.HasSuffix(m.pattern, "/") {
		m.pattern += "**"
	}
	if m.pattern == "" || !doublestar.ValidatePattern(m.pattern) || strings.HasPrefix(m.pattern, "../") {
		return m, fmt.Errorf("%q is not a path pattern; use *, **, ?, [a-z] and {a,b} below one of the anchors work:, home: and abs: only", matcher)
	}
	if m.fold {
		m.pattern = folded(m.pattern)
	}
	each, ok := braces.Alternatives(m.pattern, braces.MaxExpansions)
	if m.each = each; !ok {
		return m, fmt.Errorf("the braces of %q stand for more than %d patterns; write several rules", matcher, braces.MaxExpansions)
	}
	if name, deep := strings.CutPrefix(m.pattern, "**/"); deep && m.anchor == "" && !strings.ContainsAny(name, `/\*?[]{}`) {
		m.base = name
	}
	return m, nil
}

// onDrive reports a Windows path with slashes: C:/src.
func onDrive(pattern string) bool {
	return len(pattern) > 2 && pattern[1:3] == ":/" && 'a' <= pattern[0]|0x20 && pattern[0]|0x20 <= 'z'
}

// folded normalizes a name like file systems that fold case and compose letters.
func folded(s string) string { return strings.ToLower(norm.NFC.String(s)) }

func (m pathMatcher) matches(place Place, home string) bool {
	if m.fold {
		place.Abs, place.Rel, home = folded(place.Abs), folded(place.Rel), folded(home)
	}
	if m.base != "" {
		return path.Base(place.Abs) == m.base
	}
	switch m.anchor {
	case "work":
		return !place.Outside && m.match(place.Rel)
	case "home":
		rel, inside := strings.CutPrefix(place.Abs, strings.TrimSuffix(home, "/"))
		rel, below := strings.CutPrefix(rel, "/")
		return home != "" && inside && below && m.match(rel)
	case "abs":
		return m.match(place.Abs)
	}
	return m.match(strings.TrimPrefix(place.Abs, "/"))
}

func (m pathMatcher) match(name string) bool {
	return slices.ContainsFunc(m.each, func(pattern string) bool { return match(pattern, name) })
}

func match(pattern, name string) bool {
	ok, err := doublestar.Match(pattern, name)
	return ok && err == nil
}

// secretInHome lists folders and files with credentials and little else. They are inside the
// workspace of a session in the home folder.
func secretInHome() []string {
	return []string{
		".ssh/**", ".gnupg/**", ".aws/**", ".azure/**", ".kube/**", ".config/gcloud/**", ".config/gh/**", ".docker/config.json",
		".netrc", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".password-store/**", ".local/share/keyrings/**",
	}
}

// SecretPlaces returns a home folder's folders and files with credentials.
func SecretPlaces(home string) (out []string) {
	if home == "" {
		return nil
	}
	for _, pattern := range secretInHome() {
		out = append(out, path.Join(home, strings.TrimSuffix(pattern, "/**")))
	}
	return out
}

// secret reports whether a file is known for its secrets: in the home folder, or by a name that
// redact.File knows. Those hold a project's live keys, which would go to the model's provider.
func (p *Policy) secret(place Place) bool {
	for _, at := range place.both() {
		if redact.File(path.Split(at.Abs)) {
			return true
		}
		for _, pattern := range secretInHome() {
			if (pathMatcher{anchor: "home", each: []string{pattern}, fold: true}).matches(at, p.options.Home) {
				return true
			}
		}
	}
	return false
}
