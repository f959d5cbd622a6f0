package policy

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

var (
	errEmpty   = errors.New("it runs no program that can be named")
	errUnasked = errors.New("its names are not looked up unasked")
)

// Files lists folders, for patterns and trees.
type Files interface {
	Names(abs string) ([]string, error)
	// Walk is filepath.WalkDir, without following links.
	Walk(abs string, visit fs.WalkDirFunc) error
}

const maxWalk = 50_000 // names in a tree; larger searches are asked about

// quiet reports whether a program is read-only, whatever its files.
func quiet(words []script.Word) bool {
	use, ok := judgeWords(words)
	if inner, wrapped := behindWrapper(words); !ok && wrapped {
		use, ok = judgeWords(inner)
	}
	return ok && !writes(use)
}

// look asks the table about a program, also behind a wrapper.
func (j *judgement) look(s *script.Step) (programs.Use, bool) {
	words, before := s.Words, 0
	use, ok := judgeWords(words)
	if inner, wrapped := behindWrapper(words); !ok && wrapped && !inShell(nameOf(inner)) {
		words, before = inner, max(0, len(s.Words)-len(inner))
		use, ok = judgeWords(words)
	}
	switch {
	case !ok || !script.AllKnown(s.Words[:before]),
		use.Since != [2]int{} && (j.options.Repos == nil || slices.Compare(j.options.Repos.GitVersion(), use.Since[:]) < 0),
		len(use.Local) > 0 && slices.ContainsFunc(s.Set, func(set script.Setting) bool { return strings.HasPrefix(set.Name, "GO") }):
		return use, false
	case script.AllKnown(s.Words) && script.AllKnown(words):
		s.Instead, s.InRoot = slices.Concat(script.Texts(s.Words[:before]), use.Words), use.FolderIndependent
		for _, local := range use.Local {
			name, value, _ := strings.Cut(local, "=")
			s.Set = append(s.Set, script.Fixed(name, value))
		}
	case use.FolderIndependent || len(use.Local) > 0 || !slices.Equal(use.Words, script.Texts(words)): // it would have to run with other words
		return use, false
	}
	return use, true
}

func judgeWords(words []script.Word) (programs.Use, bool) {
	if slices.ContainsFunc(words, func(w script.Word) bool { return w.Splits }) && !programs.Any(nameOf(words)) {
		return programs.Use{}, false
	}
	return programs.Judge(words)
}

func nameOf(words []script.Word) string { return words[0].Text }

// chosen reports whether a name is among those read.
func chosen(only []string, name string) bool {
	return only == nil || slices.ContainsFunc(only, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok || err != nil
	})
}

// tree looks for files below that must not be read: by rules, secrets, adze's own, and link targets
// if links are followed. One suffices for a question.
func (j *judgement) tree(v verdict, a programs.Access) verdict {
	held := j.FileFilterIn(j.mode, v.need.Target)
	if held == nil && !a.Follow {
		return v
	}
	ask := func(why string) verdict {
		v.effect, v.reason, v.careful = Ask, why, true
		v.offers = nil
		return v
	}
	if j.options.Files == nil {
		return ask("what lies below cannot be listed")
	}
	names, why := 0, ""
	err := j.options.Files.Walk(v.target, func(at string, d fs.DirEntry, err error) error {
		if names++; names > maxWalk {
			why = "it reads more files than can be looked through"
			return fs.SkipAll
		}
		if err != nil || at == v.target {
			return nil
		}
		dir, name := path.Split(at)
		switch {
		case d.Type()&fs.ModeSymlink != 0 && a.Flat && !chosen(a.Only, name):
		case d.Type()&fs.ModeSymlink != 0 && a.Follow:
			if to := j.judge(j.mode, tool.Need{Permission: tool.Read, Target: at}); to.effect != Allow {
				why = "it follows the link " + quote(at) + ", which leads elsewhere"
				return fs.SkipAll
			}
		case d.IsDir() && (name == ".git" && !j.strict() || !a.Hidden && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case a.ExcludesSecrets && programs.LeftOut(name), !chosen(a.Only, name):
		case held != nil && held(dir, name):
			why = "it would read " + quote(at) + ", which is asked for"
			return fs.SkipAll
		}
		return nil
	})
	if err != nil && why == "" {
		why = "what lies below cannot be listed"
	}
	if why == "" {
		return v
	}
	return ask(why)
}

// Repositories examines a folder's git repository without running its programs.
type Repositories interface {
	// ExternalPaths lists places outside the workspace that git would show in dir although nothing
	// there refers back to the worktree.
	ExternalPaths(dir string) ([]string, error)
	// Hooks lists the repository's own hooks.
	Hooks(dir string) []Hook
	// GitVersion returns the installed git's version, major and minor, or nil if there is none.
	GitVersion() []int
}

// A Hook is a program that git runs at an event, because a repository names it.
type Hook struct {
	Event   string
	Setting string // its configuration setting; empty for a file in the hooks folder
}

func (h Hook) String() string {
	if h.Setting == "" {
		return h.Event
	}
	return h.Setting + " at " + h.Event
}

// strays asks about places outside the workspace that a repository directs git to: no word names
// them, so only a rule for those places allows it.
func (j *judgement) strays(s *script.Step, within string) {
	if j.options.Repos == nil {
		return
	}
	found, err := j.options.Repos.ExternalPaths(j.dirOf(resolveIn(s.Dir, within, j.options.Home)))
	if err != nil {
		j.ask(verdict{need: j.need(s), reason: err.Error()})
	}
	for _, name := range found {
		v := j.judge(j.mode, tool.Need{Permission: tool.Read, Target: name})
		switch {
		case v.effect == Deny && j.deny == nil:
			j.deny = &v
		case v.effect == Ask:
			v.careful, v.offers = true, nil
			v.reason = "the repository leads git to " + quote(name) + ", outside of the workspace"
			j.ask(v)
		}
	}
}

// hooked returns the hooks an allowed git command would run: the rule covers git, but not them.
func (j *judgement) hooked(s *script.Step) string {
	words := innermost(s.Words)
	if j.options.Repos == nil || base(nameOf(words)) != "git" {
		return ""
	}
	g := programs.GitOf(script.Texts(words[1:]))
	dir := s.Dir
	for _, name := range g.Dirs {
		dir = resolveIn(dir, name, j.options.Home)
	}
	var names []string
	for _, hook := range j.options.Repos.Hooks(j.dirOf(dir)) {
		if g.Runs(hook.Event) {
			names = append(names, hook.String())
		}
	}
	if len(names) == 0 {
		return ""
	}
	why := "it would run the repository's own hooks (" + strings.Join(names, ", ") + "), which no rule speaks of"
	if j.Policy.options.Ask != nil {
		return why
	}
	if g.NoVerify() {
		why += "; with --no-verify none of them runs, and"
	} else {
		why += ";"
	}
	return why + " --yolo runs them"
}

func innermost(words []script.Word) []script.Word {
	for inner, wrapped := behindWrapper(words); wrapped; inner, wrapped = behindWrapper(words) {
		words = inner
	}
	return words
}
