package policy

import "adze/tool"

// A Ban is a deny rule about files for sandboxes, too.
type Ban struct {
	Rule    string // as written
	Anchor  string // work, home, abs; empty for any
	Pattern string // folded, without braces
}

// Bans returns the deny rules about reading or writing from all layers.
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

// Folded normalizes a name for comparison with a Ban's pattern.
func Folded(name string) string { return folded(name) }
