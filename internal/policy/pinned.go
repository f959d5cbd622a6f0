package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pin ties a grant to files as they are now. An interpreter runs whatever its script says, so a
// grant of the words alone would allow any program that is written into that file later. The files
// that a script loads are not part of it, and a change between the decision and the start of the
// program is not noticed.
type pin struct {
	sum  string // of the content; empty where the words name an exact version
	says string // "x.py is as it is now"
}

// pinned is a grant that holds as long as its pin does. The digest behind its rule is for the user:
// no configuration has words for that, so such a rule cannot be saved.
func (g grant) pinned(p pin) grant {
	g.pin = p.says
	if p.sum != "" {
		g.key += "\x00=" + p.sum
		g.rule += " @" + p.sum[:8]
	}
	return g
}

// pinner finds what a grant is tied to.
type pinner struct {
	content func(abs string) ([]byte, error) // reads a file; if nil, no grant is tied to one
	home    string
}

// pinOf finds what the words of a program can be tied to, or says why they cannot.
func (p pinner) pinOf(s simple, dir string) (pin, string) {
	name, words := base(s.name()), texts(s.words)
	switch {
	case isShell(name) || interprets(name):
		return p.scriptPin(name, words, dir)
	case oneOf(name, "npx bunx uvx"):
		return p.packagePin(name, words, dir)
	}
	return pin{}, name + " starts other programs, so no rule can cover it"
}

// interprets reports programs that run a script whose name is their first word.
func interprets(name string) bool {
	return slices.ContainsFunc(strings.Fields("python ruby perl node php lua"), func(i string) bool { return strings.HasPrefix(name, i) })
}

// scriptPin ties an interpreter to its script.
func (p pinner) scriptPin(name string, words []string, dir string) (pin, string) {
	at := 1
	for at < len(words) && oneOf(words[at], "-u -B -e -x -eu -ex -eux") && (strings.HasPrefix(name, "python") || isShell(name)) {
		at++
	}
	switch {
	case at >= len(words):
		return pin{}, name + " runs what it reads, so no rule can cover it"
	case strings.HasPrefix(words[at], "-"):
		return pin{}, name + " " + words[at] + " runs any code, so no rule can cover it"
	}
	sum := p.sum(below(dir, words[at], p.home))
	if sum == "" {
		return pin{}, words[at] + " cannot be read, so no rule can be tied to it"
	}
	return pin{sum, path.Base(words[at]) + " is as it is now"}, ""
}

// runsTests reports the modules of Python that check a project, as pytest alone does.
func runsTests(s simple) bool {
	words := texts(s.words)
	return len(words) > 2 && strings.HasPrefix(base(words[0]), "python") && words[1] == "-m" &&
		oneOf(words[2], "pytest unittest mypy ruff black flake8 pylint")
}

// exactVersion is a package with one version, such as eslint@9.1.0 or ruff==0.4.1.
var exactVersion = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(@[\w.-]+/)?[\w.-]+(@|==)\d+\.\d+(\.\d+)*[\w.+-]*$`)
})

// packageName is a package without a version.
var packageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(@[\w.-]+/)?[\w-][\w.-]*$`) })

// packagePin ties a runner of packages to the version that its words name, or to the package that
// is installed.
func (p pinner) packagePin(name string, words []string, dir string) (pin, string) {
	at := 1
	for at < len(words) && oneOf(words[at], "-y --yes --no --no-install") {
		at++
	}
	switch {
	case at >= len(words) || strings.HasPrefix(words[at], "-"):
		return pin{}, name + " with such options runs any package, so no rule can cover it"
	case exactVersion().MatchString(words[at]):
		return pin{says: words[at] + " is the version"}, ""
	case name == "uvx" || !packageName().MatchString(words[at]):
		return pin{}, name + " takes the newest " + words[at] + ", so no rule can cover it; name a version"
	}
	for at, program := path.Clean(dir), words[at]; ; at = path.Dir(at) {
		if sum := p.sum(at + "/node_modules/.bin/" + path.Base(program)); sum != "" {
			about := p.sum(at + "/node_modules/" + program + "/package.json")
			return pin{digest([]byte(sum + about)), program + " is as it is now"}, ""
		}
		if at == "/" || at == "." || !path.IsAbs(at) {
			return pin{}, program + " is not installed here, so " + name + " would fetch its newest version and no rule can cover that; name a version"
		}
	}
}

// sum is the digest of a file; if empty, it cannot be read.
func (p pinner) sum(abs string) string {
	if p.content == nil {
		return ""
	}
	data, err := p.content(abs)
	if err != nil {
		return ""
	}
	return digest(data)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// unoffered says why no rule is offered for what is asked. The first part that has none says it.
func (p pinner) unoffered(open []verdict) string {
	for _, v := range open {
		for _, part := range append([]verdict{v}, v.inner...) {
			if part.rule != "" {
				return "the rule " + part.rule + " wants each call asked"
			}
		}
	}
	for _, v := range open {
		parts := v.inner
		if len(parts) == 0 {
			parts = []verdict{v}
		}
		for _, part := range parts {
			if exactPart(part).rule == "" {
				return p.uncovered(part)
			}
		}
	}
	return "this is asked each time"
}

// uncovered says why no rule can cover one part.
func (p pinner) uncovered(v verdict) string {
	switch {
	case v.barred != "":
		return v.barred
	case v.need.Outside != "":
		return "each command outside the sandbox is asked for"
	case len(v.words) == 0 && v.need.Permission == "execute" && v.reason != "" && !strings.HasSuffix(v.reason, " needs approval"):
		return strings.TrimPrefix(v.reason, "it ") + ", so it is asked each time"
	case len(v.words) == 0:
		return "this is asked each time"
	}
	for _, w := range v.words {
		if _, known := w.Known(); !known {
			return "contains " + w.Written() + ", so no rule can cover it"
		}
	}
	s := simpleOf(v.words)
	if lasting(s) || runsTests(s) {
		return "its folder or its variables are known only when it runs, so no rule can cover it"
	}
	if _, why := p.pinOf(s, v.dir); why != "" {
		return why
	}
	return "its folder or its variables are known only when it runs, so no rule can cover it"
}
