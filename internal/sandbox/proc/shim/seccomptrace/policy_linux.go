//go:build amd64 || arm64

package seccomptrace

import (
	"path"
	"slices"
	"strings"

	"adze/internal/files/delicate"
)

// owns reports a path in a folder that the command writes itself.
func (p *FilePolicy) owns(at string) bool {
	return slices.ContainsFunc(p.Own, func(dir string) bool { return within(at, dir) })
}

// keeps reports that an entry below a root stays as it is. An entry that goes away takes all with
// it that is below it.
func (p *FilePolicy) keeps(at string, goes bool) bool {
	root := p.root(at)
	if at == root || slices.ContainsFunc(p.Locked, func(l string) bool { return within(at, l) || goes && within(l, at) }) {
		return true
	}
	below := strings.TrimPrefix(at, root+"/")
	if _, found := delicate.In(below, delicate.File); found {
		return true
	}
	if repository, rel := repositoryOf(root, at); repository != "" {
		return !changeable(rel, goes)
	}
	return slices.Contains(strings.Split(strings.ToLower(below), "/"), ".git")
}

// leads reports a new name of a link or a folder by which other programs would run something that
// lies behind it.
func (p *FilePolicy) leads(at string) bool {
	_, found := delicate.In(strings.TrimPrefix(at, p.root(at)+"/"), delicate.Moved)
	return found
}

// completes reports that a new entry would make a repository of its folder, whose settings and
// hooks git then follows.
func completes(at string) bool {
	dir, name := path.Split(at)
	has := func(other string) bool { return strings.EqualFold(name, other) || there(dir+other) }
	return slices.ContainsFunc([]string{"HEAD", "commondir", "objects", "refs"}, func(part string) bool { return strings.EqualFold(name, part) }) &&
		LooksLikeRepository(has) && !LooksLikeRepository(func(name string) bool { return there(dir + name) })
}

// repositoryOf is the innermost repository whose folder a path is in, and the rest of the path. It
// is empty where there is none.
func repositoryOf(root, at string) (repository, rel string) {
	for dir := path.Dir(at); within(dir, root); dir = path.Dir(dir) {
		if LooksLikeRepository(func(name string) bool { return there(dir + "/" + name) }) {
			return dir, strings.TrimPrefix(at, dir+"/")
		}
	}
	return "", ""
}

// changeable reports a path in a repository that git writes while somebody works, and by which it
// runs nothing.
func changeable(rel string, goes bool) bool {
	first, rest, _ := strings.Cut(rel, "/")
	if goes && (rel == "HEAD" || rel == "objects" || rel == "refs") {
		return false // without it the rest would be no repository and change freely
	}
	if slices.ContainsFunc(strings.Split(rest, "/"), func(s string) bool { return s == "objects" || s == "commondir" || first == "objects" && s == "HEAD" }) {
		return false // a repository within the repository
	}
	rel = strings.TrimSuffix(rel, ".lock")
	return !strings.HasSuffix(rel, "alternates") && (GitWrites(rel) || rest == "" && passing(rel))
}

// passing reports the name of a file that git makes in a repository for the time of one command.
func passing(name string) bool {
	return slices.ContainsFunc([]string{"index.stash.", "next-index-", "packed-refs.new", "shallow_"}, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// together reports that a folder may move from one path to the other: what it holds is judged alike
// in both.
func (p *FilePolicy) together(from, to string) bool {
	one, inOne := repositoryOf(p.root(from), from)
	other, inOther := repositoryOf(p.root(to), to)
	first, _, _ := strings.Cut(inOne, "/")
	second, _, _ := strings.Cut(inOther, "/")
	return one == other && first == second
}

// leaves reports a link that leads to what the command writes itself, or that may come to do so: a
// repository made there would be one of the workspace's.
func (p *FilePolicy) leaves(at, target string) bool {
	named := false
	for step := range strings.SplitSeq(target, "/") {
		if step == ".." && named {
			return true
		}
		named = named || step != "" && step != "." && step != ".."
	}
	if !path.IsAbs(target) {
		target = path.Join(path.Dir(at), target)
	}
	target = path.Clean(target)
	if found, ok := real(target); ok {
		target = found
	}
	return p.root(target) == "" && (p.owns(target) || within(target, "/proc") || within(target, "/dev/fd"))
}
