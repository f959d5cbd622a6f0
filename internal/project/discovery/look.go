package discovery

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"adze/internal/files/workspace"
)

type search struct {
	ctx     context.Context
	kind    Kind
	items   []Item
	seen    map[string]bool // real paths
	folders int
}

// place searches one place. A missing place costs at most one lookup.
func (s *search) place(f *Finder, p place) {
	if p.base == "" || f.missing(filepath.Join(p.base, path.Dir(p.dir))) {
		return
	}
	root := f.root(p.base)
	if root == nil || root.NotExist(p.dir) {
		return
	}
	s.folder(root, p, "", 0)
}

// enter lists a folder's names, or returns nil if it may not be entered.
func (s *search) enter(root *workspace.Root, p place, rel string) []string {
	at, err := root.Resolve(path.Join(p.dir, rel))
	if err != nil || !at.Exists() || s.seen[at.Abs()] || s.ctx.Err() != nil || s.folders >= maxFolders {
		return nil
	}
	if at.Outside() {
		if p.origin == Project {
			return nil
		}
		at = at.WithConsent()
	}
	names, err := root.Names(at, maxNames) // fails if it is no folder
	if err != nil {
		return nil
	}
	s.folders++
	s.seen[at.Abs()] = true
	slices.Sort(names)
	return names
}

// folder searches a place or one of its folders.
func (s *search) folder(root *workspace.Root, p place, rel string, depth int) {
	names := s.enter(root, p, rel)
	if s.kind == Skill && rel != "" && slices.Contains(names, skillFile) {
		s.file(root, p, path.Join(rel, skillFile), path.Base(rel))
		return // a skill's subfolders are its own
	}
	for _, name := range names {
		switch below := path.Join(rel, name); {
		case strings.HasPrefix(name, "."):
		case s.kind != Skill && strings.HasSuffix(name, ending):
			s.file(root, p, below, strings.TrimSuffix(below, ending))
		case depth+1 < maxDepth && !strings.Contains(name, ".md"):
			s.folder(root, p, below, depth+1)
		}
	}
}

func (s *search) file(root *workspace.Root, p place, rel, name string) {
	i := Item{
		Kind: s.kind, Name: strings.ReplaceAll(name, "/", ":"), Origin: p.origin, Dialect: p.dialect,
		Path: path.Join(p.display, rel), root: root, rel: path.Join(p.dir, rel),
	}
	raw, size, at, err := read(s.ctx, root, i.rel, p.origin, maxFront+64) // enough to detect a missing end
	if s.seen[at.Abs()] && at.Abs() != "" {
		return
	}
	i.File = at.Abs()
	switch {
	case s.kind != Skill:
	case at.Abs() != "" && at.Direct():
		i.Folder = filepath.Dir(at.Abs())
	default: // the file may be a link into another folder
		i.Folder = root.Lead([]string{path.Dir(i.rel)})[0]
	}
	s.seen[i.File] = true
	if err != nil {
		i.Problem = err.Error()
	} else {
		i.Bytes = size
		body := ""
		i.FrontMatter, body = Parse(string(raw))
		if first := strings.TrimLeft(strings.TrimSpace(body), "# "); i.Kind == Skill && i.FrontMatter.Text("description") == "" && first != "" {
			first, _, _ = strings.Cut(first, "\n") // as Claude Code 2.1.332 does
			i.FrontMatter.Fields = append(i.FrontMatter.Fields, Field{Key: "description", Text: strings.TrimSpace(first)})
		}
		i.judge()
	}
	if i.Problem == "" && !spoken(i.Name) {
		i.Problem = fmt.Sprintf("its name %q cannot be typed; letters, digits, - and _ can", i.Name)
	}
	s.items = append(s.items, i)
}

// judge checks the front matter fields common to all kinds.
func (i *Item) judge() {
	i.Notes = i.FrontMatter.Notes
	if i.Problem = i.FrontMatter.Problem; i.Problem != "" {
		return
	}
	given := i.FrontMatter.Text("name")
	switch {
	case i.Kind == Skill && i.FrontMatter.Text("description") == "":
		i.Problem = "it has no description, so that nobody knows when to use it"
	case i.Kind == Command || given == "" || given == i.Name:
	case spoken(given):
		i.Name = given
	default:
		i.Notes = append(i.Notes, fmt.Sprintf("its name %q cannot be typed; it is called %s", given, i.Name))
	}
}

// letter reports whether a name may contain r.
func letter(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' || r == '.'
}

// Names returns the items' names.
func Names(items []Item) (out []string) {
	for _, i := range items {
		if i.Problem == "" {
			out = append(out, i.Label())
		}
	}
	return slices.Compact(out)
}

// State describes whether an item is reached by its name, in a word and a reason.
func (i Item) State() (state, why string) {
	switch {
	case i.Problem != "":
		return "broken", i.Problem
	case i.ShadowedBy != "":
		return "shadowed", "by " + i.ShadowedBy
	}
	return "used", ""
}
