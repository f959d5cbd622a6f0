package app

import (
	"fmt"
	"os"
	"strings"

	"adze/internal/proc"
	"adze/internal/trust"
	"adze/toolset"
)

// project is the workspace with what its person allowed in it.
func (s settings) project() trust.Project {
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.config.Environment})
	return trust.Project{
		Dir: s.root.Dir(), Book: trust.Of(s.at.State), Used: []string{trust.Tool},
		Local: func(program string) string { return proc.Within(program, s.root.Dir(), env) },
	}
}

// projectTools are those of the project's tools that the person allowed; each call looks whether they still are.
func (s settings) projectTools() (out []toolset.ProjectTool) {
	p := s.project()
	items, _ := p.Survey() // what is wrong with the book is told by tellProject
	for _, i := range items {
		if i.Kind == trust.Tool && i.State == trust.Allowed {
			out = append(out, toolset.ProjectTool{Path: i.Path, Raw: i.Raw, Holds: func() error { return p.Holds(i) }})
		}
	}
	return out
}

// maxTold bounds how many items one line names.
const maxTold = 8

// tellProject tells the person in one line what of the project waits for their consent.
func (w *wired) tellProject(p trust.Project) {
	items, err := p.Survey()
	if err != nil {
		w.notices = append(w.notices, err.Error())
	}
	for _, i := range items {
		if i.State != trust.Allowed {
			w.head.Ignored++
		}
	}
	open := trust.Open(items)
	if len(open) == 0 {
		return
	}
	var names []string
	for n, i := range open {
		w.head.Waiting = append(w.head.Waiting, i.ID)
		switch {
		case n == maxTold:
			names = append(names, fmt.Sprintf("and %d more", len(open)-n))
		case n < maxTold && i.State == trust.Changed:
			names = append(names, i.ID+" (changed)")
		case n < maxTold:
			names = append(names, i.ID)
		}
	}
	w.notices = append(w.notices, fmt.Sprintf("of this project, ignored until you allow it: %s (adze trust show NAME, adze trust allow NAME)", strings.Join(names, ", ")))
}
