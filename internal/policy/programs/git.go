package programs

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/policy/script"
)

// git reads the options before a subcommand, then the subcommand like any program.
func git(words []script.Word) (Use, bool) {
	rest, dirs := words[1:], []string{}
	for len(rest) > 0 && rest[0].Known {
		switch {
		case oneOf(rest[0].Text, "--no-pager", "-P", "--no-optional-locks"):
			rest = rest[1:]
			continue
		case rest[0].Text == "-C" && len(rest) > 1 && rest[1].Known && rest[1].Text != "":
			dirs = append(dirs, rest[1].Text)
			rest = rest[2:]
			continue
		case rest[0].Text == "--version" && len(rest) == 1:
			return Use{Words: script.Texts(words), FolderIndependent: true}, true
		}
		break
	}
	p, args, ok := find(slices.Concat(words[:1], rest))
	if !ok || p.changes || len(dirs) > 1 {
		return Use{}, false
	}
	u := Use{Words: script.Texts(words), Git: true, Since: p.since}
	s := scan{program: p, use: &u, wary: true}
	s.read(args)
	s.place()
	s.finish(len(words) - len(args))
	u.Git = true
	s.past(len(words) - len(args) + len(p.adds))
	for i, a := range u.Accesses {
		if len(dirs) > 0 && !strings.HasPrefix(a.Path, "/") {
			u.Accesses[i].Path = dirs[0] + "/" + a.Path
		}
	}
	for _, dir := range dirs {
		u.Dir = dir
		u.Accesses = append(u.Accesses, Access{Kind: List, Path: dir})
	}
	return u, !s.odd
}

func oneOf(s string, list ...string) bool { return slices.Contains(list, s) }

// past excludes secrets from the shown history. from is the index of the arguments.
func (s *scan) past(from int) {
	if !s.history || len(s.patch) > 0 && !s.hasOption(s.patch...) {
		return
	}
	s.use.History = true
	if s.peel {
		// A content hash would show the file under any name.
		for i := from; i < len(s.use.Words) && s.use.Words[i] != "--"; i++ {
			if hash().MatchString(s.use.Words[i]) {
				s.use.Words[i] += "^{commit}"
			}
		}
	}
	s.use.Words = append(s.use.Words, withoutSecrets()...)
}

var hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-fA-F]{4,64}$`) })

// spec handles a revision, a path, or a path in a revision.
func (s *scan) spec(text string) {
	at := strings.LastIndexByte(text, ':')
	switch {
	case strings.HasPrefix(text, ":!"), strings.HasPrefix(text, ":^"), strings.HasPrefix(text, ":(exclude)"):
		return
	case strings.HasPrefix(text, ":("), strings.Contains(text, "^{") && !strings.HasSuffix(text, "^{commit}"):
		s.odd = true
	case at >= 0 && at+1 < len(text):
		s.use.History = true
		s.access(Read, text[at+1:])
	case at >= 0:
		s.odd = true
	case text == "@" || strings.HasPrefix(text, "@{"):
	case text == "-":
		s.odd = true
	default:
		s.access(Read, text)
	}
}

// setting matches names of settings without secrets.
var setting = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(user\.(name|email)|core\.(editor|autocrlf|filemode|ignorecase|bare|eol|hookspath|hooksPath)|init\.defaultbranch|init\.defaultBranch|pull\.(rebase|ff)|push\.default|remote\.[a-z]+\.url|branch\.[a-z]+\.(remote|merge))$`)
})
