package policy

import (
	"slices"
	"strings"

	"adze/internal/text/redact"
	"adze/tool"
)

// FileFilter returns a filter for a call that may read root. It reports files to be left out: those
// covered by a deny or ask rule, and files known for their secrets. A tool that reads many files
// counts them, because it cannot ask about each. root itself is already decided: a user who allowed
// searching a folder of keys is not asked again.
//
// The filter is made for tens of thousands of files: dir is absolute, without links, and ends in a
// slash. It uses the rules and mode at the time of the call. It is nil if nothing is left out.
func (p *Policy) FileFilter(root string) func(dir, name string) bool { return p.FileFilterIn("", root) }

// FileFilterIn is FileFilter for an agent bound to a mode; "" means no bound.
func (p *Policy) FileFilterIn(bound Mode, root string) func(dir, name string) bool {
	mode := Narrower(p.Mode(), bound)
	place, err := p.place(root)
	work, err2 := p.place(".")
	if err != nil || err2 != nil {
		return func(string, string) bool { return true }
	}
	s := &fileFilter{policy: p, kept: p.kept(), root: place.Abs, work: strings.TrimSuffix(work.Abs, "/") + "/"}
	for _, r := range p.rulesFor(tool.Read) {
		settled := r.Effect == Ask && r.counts(place, p.options.Home, "", "")
		if r.Effect == Deny || mode != Yolo && !settled && (r.Effect == Ask || r.Matcher != "") {
			s.rules = append(s.rules, r)
			s.deep = s.deep || r.Effect != Allow && r.path.base == ""
			s.strict = s.strict || r.Effect != Allow
		}
	}
	if why, _ := p.careful(tool.Read, place, s.kept); mode != Yolo && why == "" {
		s.secrets = true
		near := append(SecretPlaces(p.options.Home), s.kept...)
		s.home = slices.ContainsFunc(near, func(at string) bool { return inFolder(at, place.Abs) })
		if of, ok := p.options.Paths.(Linker); ok {
			s.linked = of.Linked()
		}
	}
	if !s.strict && !s.secrets {
		return nil
	}
	return s.holds
}

// fileFilter holds the rules relevant below one root.
type fileFilter struct {
	policy  *Policy
	root    string
	kept    []string // adze's own folders
	work    string   // the workspace, with a trailing slash
	rules   []Rule
	strict  bool                   // there is a deny or an ask rule
	deep    bool                   // and it depends on more than the base name
	secrets bool                   // leave out files known for their secrets
	linked  func(path string) bool // reports a hard link to such a file; may be nil
	home    bool                   // also in the home folder and adze's own folders, which can lie below root
}

func (s *fileFilter) holds(dir, name string) bool {
	known := s.secrets && redact.File(dir, name)
	if !known && s.linked != nil && s.linked(dir+name) {
		return dir+name != s.root
	}
	if !known && !s.home && !s.deep && !(s.strict && s.named(name)) {
		return false
	}
	place := s.at(dir + name)
	if place.Abs == s.root {
		return false
	}
	why, part := "", ""
	if known || s.home {
		why, part = s.policy.careful(tool.Read, place, s.kept)
	}
	r, found := strongest(s.rules, func(r Rule) bool { return r.counts(place, s.policy.options.Home, why, part) })
	switch {
	case found && r.Effect == Deny:
		return true
	case found && r.Effect == Ask:
		return true
	case found || why == "":
		return false
	}
	return !s.policy.grantedKey(s.policy.fileGrant(tool.Read, place).key)
}

// named reports whether a rule on base names alone matches.
func (s *fileFilter) named(name string) bool {
	name = folded(name)
	return slices.ContainsFunc(s.rules, func(r Rule) bool { return r.path.base == name })
}

// at returns the place at a path without links.
func (s *fileFilter) at(abs string) Place {
	rel, inside := strings.CutPrefix(abs, s.work)
	return Place{Abs: abs, Rel: rel, Outside: !inside}
}
