package policy

import "adze/tool"

// Ban is a deny rule about files, as it reaches beyond the calls that are judged: into a sandbox.
type Ban struct {
	Rule    string // as it was written
	Anchor  string // work, home, abs; if empty, everywhere
	Pattern string // folded, without braces
}

// Bans lists the deny rules of the user, the project and the machine's owner about reading or
// writing.
func (p *Policy) Bans(kind tool.Permission) (out []Ban) {
	for _, r := range p.rulesFor(kind) {
		switch r.Layer {
		case CommandLine, User, Project, Managed:
			if r.Effect == Deny {
				for _, pattern := range r.path.each {
					out = append(out, Ban{r.String(), r.path.anchor, pattern})
				}
			}
		}
	}
	return out
}

// Folded is a name in the letters of a Ban's pattern.
func Folded(name string) string { return folded(name) }
