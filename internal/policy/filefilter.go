package policy

import (
	"slices"
	"strings"

	"adze/internal/text/redact"
	"adze/tool"
)

// FileFilter says, for a call that may read root, which files it meets are held back: those that a
// deny or an ask covers, and those known for their secrets. A tool that reads many files leaves
// them out and counts them, since nobody was asked about each. What root itself was judged by is
// settled: who allowed the search of a folder full of keys, or of one file, is not asked for it
// again.
//
// The answer is made for tens of thousands of files: dir is absolute, free of links and ends in a
// slash, and rules and the mode are those of now. If nil, nothing is held back.
func (p *Policy) FileFilter(root string) func(dir, name string) bool { return p.FileFilterIn("", root) }

// FileFilterIn is the same for an agent that is bound to a mode; if empty, to none.
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
		s.home = slices.ContainsFunc(near, func(at string) bool { return within(at, place.Abs) })
		if of, ok := p.options.Paths.(Linker); ok {
			s.linked = of.Linked()
		}
	}
	if !s.strict && !s.secrets {
		return nil
	}
	return s.holds
}

// fileFilter holds what counts of the rules below one root.
type fileFilter struct {
	policy  *Policy
	root    string
	kept    []string // where adze keeps its own
	work    string   // the workspace, with a slash at the end
	rules   []Rule
	strict  bool                   // one of the rules is a deny or an ask
	deep    bool                   // and looks at more than the last name
	secrets bool                   // files known for their secrets are held back
	linked  func(path string) bool // another name of such a file; if nil, there is none
	home    bool                   // so are those of the home folder and adze's own, which can lie below root
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

// named reports whether a rule that looks at the last name alone is about this one.
func (s *fileFilter) named(name string) bool {
	name = folded(name)
	return slices.ContainsFunc(s.rules, func(r Rule) bool { return r.path.base == name })
}

// at is the place of a path that is free of links.
func (s *fileFilter) at(abs string) Place {
	rel, inside := strings.CutPrefix(abs, s.work)
	return Place{Abs: abs, Rel: rel, Outside: !inside}
}
