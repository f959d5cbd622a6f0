package toolset

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/internal/files/search"
	"adze/internal/files/workspace"
	"adze/tool"
)

// seeker is shared by glob, grep and list: the workspace, and the environment for git's
// configuration.
type seeker struct {
	files
	env func(string) string // nil means os.Getenv
}

// folderNeeds returns the need of a search: to read below a folder, by default the workspace.
func folderNeeds(path string) []tool.Need {
	return []tool.Need{{Permission: tool.Read, Target: orHere(path)}}
}

func orHere(path string) string {
	if path == "" {
		return "."
	}
	return path
}

// place is the start of a search.
type place struct {
	search.Tree
	path   workspace.Path
	folder bool
}

// begin resolves a call's path, which must exist.
func (s seeker) begin(ctx context.Context, ask asker, name string) (place, error) {
	p, err := s.locate(ctx, ask, tool.Read, orHere(name))
	if err != nil {
		return place{}, err
	}
	if !p.Exists() {
		return place{}, s.missing(p)
	}
	info, err := s.root.Stat(p)
	if err != nil {
		return place{}, err
	}
	tree := search.Tree{Root: p.Abs(), Env: s.env, Withhold: s.heldBack(p), OpenDir: s.root.Staged(), Enclosing: s.root.Dir()}
	return place{Tree: tree, path: p, folder: info.Mode.IsDir()}, nil
}

// beginFolder is begin for a tool that accepts folders alone; use suggests an alternative for a
// file.
func (s seeker) beginFolder(ctx context.Context, ask asker, name, use string) (place, error) {
	at, err := s.begin(ctx, ask, name)
	if err == nil && !at.folder {
		err = tool.Fail(tool.CodeInvalidArguments, "%s is a file, not a folder; %s", at.path.Display(), use)
	}
	return at, err
}

// String names the place in a sentence.
func (p place) String() string {
	if p.path.Display() == "." {
		return "the workspace"
	}
	return shownName(p.path.Display())
}

// name returns a path below the place as other tools accept it.
func (p place) name(rel string) string {
	return shownName(path.Join(p.path.Display(), rel))
}

// relative makes absolute patterns relative to the place if they lead into it. Others stay
// unchanged.
func (s seeker) relative(at place, patterns ...string) []string {
	folder := at.Root
	if !at.folder {
		folder = path.Dir(folder)
	}
	above := []string{folder, path.Join(s.root.Dir(), at.path.Display())}
	out := slices.Clone(patterns)
	for i, pattern := range patterns {
		for _, dir := range above {
			rest, inside := strings.CutPrefix(path.Clean("/"+strings.TrimRight(pattern, "/")), strings.TrimRight(dir, "/"))
			switch {
			case !strings.HasPrefix(pattern, "/") || !inside:
				continue
			case rest == "":
				out[i] = "**"
			case rest[0] == '/':
				out[i] = "." + rest
				if strings.HasSuffix(pattern, "/") {
					out[i] += "/"
				}
			}
		}
		if out[i] == pattern && strings.HasPrefix(pattern, "/") {
			// A pattern for the whole workspace also applies to a folder in it.
			if _, rest, deep := strings.Cut(pattern, "/**/"); deep && s.holds(pattern, at) {
				out[i] = "**/" + rest
			}
		}
	}
	return out
}

// holds reports whether an absolute pattern starts at the place or at a folder above it, in the
// workspace.
func (s seeker) holds(pattern string, at place) bool {
	dir, _, _ := strings.Cut(pattern, "/**/")
	below := func(folder string) bool { return folder == dir || strings.HasPrefix(folder, dir+"/") }
	return !strings.ContainsAny(dir, "*?[{\\") && below(at.Root) && (dir == s.root.Dir() || strings.HasPrefix(dir, s.root.Dir()+"/"))
}

func shownName(name string) string { return workspace.ShownName(name) }

// globs splits a list at its commas, but not inside braces or brackets.
func globs(list string) []string {
	var all []string
	depth, start := 0, 0
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth <= 0 {
				all = append(all, list[start:i])
				start = i + 1
			}
		}
	}
	all = append(all, list[start:])
	for i, g := range all {
		all[i] = strings.TrimSpace(g)
	}
	return slices.DeleteFunc(all, func(g string) bool { return g == "" })
}

// bounded replaces 0 by usual and limits n to most.
func bounded(n, usual, most int) int {
	return min(cmp.Or(n, usual), most)
}

// unread names unreadable files, or returns "".
func (p place) unread(u search.Unreadable) string { return p.some(u, "unreadable") }

func (p place) some(u search.Unreadable, why string) string {
	if u.Count == 0 {
		return ""
	}
	names := make([]string, len(u.Paths))
	for i, rel := range u.Paths {
		names[i] = p.name(rel)
	}
	words := fmt.Sprintf("%d %s: %s", u.Count, why, strings.Join(names, ", "))
	if u.Count > len(names) {
		words += ", …"
	}
	return words
}

// noted joins the non-empty parts of a footer.
func noted(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 {
		return ""
	}
	return "(" + strings.Join(kept, "; ") + ")"
}
