package policy

import (
	"path"
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

// readOnlyLayer is the layer for read-only programs: see package programs.
const readOnlyLayer Layer = "read-only program"

// judgement judges a text by rules, table and mode, step by step.
type judgement struct {
	*Policy
	mode  Mode
	rules []Rule // for execute
	doing string

	deny        *verdict
	open        []verdict // for the user
	permittedBy *permit   // the first to allow a program
	unlooked    bool      // a program is not read-only
	unseen      bool      // a rule allowed a program with words no user has seen
	git         bool
	hooks       *verdict // a git command seen by the user would run hooks
	made        []string // files written
}

// resolveIn resolves a name for a program in dir.
func resolveIn(dir, name, home string) string {
	switch {
	case path.IsAbs(name):
		return name
	case name == "~" || strings.HasPrefix(name, "~/"):
		return home + name[1:]
	}
	return dir + "/" + name
}

// plan returns how an allowed text runs.
func (j *judgement) plan(s script.Script) *tool.CommandReading {
	plan := &tool.CommandReading{Git: j.git, Looks: !j.unlooked}
	if env, argv, ok := s.Argv(); ok && !inShell(argv[0]) {
		plan.Env, plan.Argv = env, argv
		return plan
	}
	plan.Script = s.Text()
	return plan
}

// inShell reports a bash builtin, which may differ from the program.
func inShell(name string) bool { return programs.IsKind("in-shell", name) }

// reason describes the first question.
func (j *judgement) reason() string {
	first := j.open[0]
	if (len(j.open) == 1 || first.need.Permission != tool.Execute) && first.reason != "" {
		return j.doing + " needs approval: " + first.reason
	}
	return j.doing + " needs approval"
}

// step judges one program, or the files for a group.
func (j *judgement) step(s *script.Step) {
	for _, f := range s.Files {
		j.file(s, f)
	}
	for _, set := range s.Set {
		if why := programs.RiskySetting(set.Name, set.Value.Text, set.Value.Known); why != "" {
			j.ask(verdict{need: j.need(s), reason: why})
		}
	}
	switch {
	case len(s.Words) == 0: // files for a group
	case s.Enter != "":
		j.access(s, programs.Access{Kind: programs.List, Path: s.Enter}, false)
	default:
		j.program(s)
	}
}

func (j *judgement) need(s *script.Step) tool.Need {
	return tool.Need{Permission: tool.Execute, Target: simple{words: s.Words}.String()}
}

func (j *judgement) ask(v verdict) {
	v.effect = Ask
	j.open = append(j.open, v)
}

// file judges a redirection's target.
func (j *judgement) file(s *script.Step, f script.File) {
	j.unlooked = j.unlooked || f.Write
	kind := programs.Read
	if f.Write {
		kind = programs.Write
	}
	if !f.Path.Known {
		j.ask(verdict{need: j.need(s), reason: "it redirects to a place known only when it runs"})
		return
	}
	j.access(s, programs.Access{Kind: kind, Path: f.Path.Text}, false)
}

// access judges one path for reading or writing, and schedules another check if it may change
// meanwhile. excused means that a rule allows the program, which may then read outside the
// workspace and write inside.
func (j *judgement) access(s *script.Step, a programs.Access, excused bool) {
	full := resolveIn(s.Dir, a.Path, "~")
	kind := tool.Read
	if a.Kind == programs.Write {
		kind = tool.Write
	}
	v := j.judge(j.mode, tool.Need{Permission: kind, Target: full})
	v.folder = (a.Kind == programs.List || a.Kind == programs.Tree) && v.effect == Ask && j.isFolder(v.place.Abs)
	if kind == tool.Write {
		j.made = append(j.made, v.target)
	}
	if v.effect == Allow && a.Kind == programs.Tree {
		v = j.tree(v, a)
	}
	switch {
	case v.effect == Deny && j.deny == nil:
		j.deny = &v
	case v.effect == Ask && !(excused && v.rule == "" && !v.careful && (kind == tool.Read || !v.place.Outside)):
		j.ask(v)
	}
	if s.Late && a.Path != "." && v.target != "" {
		s.Guards = append(s.Guards, script.Guard{Name: full, Dir: path.Dir(full), Abs: v.target})
	}
}

// program judges one program by the table and by rules.
func (j *judgement) program(s *script.Step) {
	use, looks := j.look(s)
	by, ruled := j.allowedBy(s)
	if !looks {
		j.unlooked = true
		j.byRule(s, by, ruled)
		return
	}
	j.unlooked = j.unlooked || writes(use)
	deny, asked := j.deny, len(j.open)
	for _, a := range use.Accesses {
		j.access(s, a, ruled)
	}
	j.git = j.git || use.Git
	if use.History && j.strict() {
		j.ask(verdict{need: j.need(s), reason: "it shows the history of files, some of which a rule keeps from being read"})
	}
	if ruled && by.literal && j.deny == deny { // it names exactly this file
		j.open = j.open[:asked]
	}
	if use.Git && !use.FolderIndependent && !by.seen {
		j.strays(s, use.Dir)
	}
	for i := asked; i < len(j.open); i++ {
		j.open[i].words, j.open[i].dir, j.open[i].exact = s.Words, s.Dir, j.exactly(s)
	}
	if ruled && j.permittedBy == nil && len(j.open) == asked {
		j.permittedBy = &by
	}
}

// byRule judges a program missing in the table.
func (j *judgement) byRule(s *script.Step, by permit, ruled bool) {
	why := j.never(s)
	switch {
	case why != "":
		j.ask(verdict{need: j.need(s), reason: why})
	case !ruled:
		j.ask(verdict{need: j.need(s), words: s.Words, dir: s.Dir, exact: j.exactly(s)})
	default:
		if j.beyond(s, by) {
			return
		}
		if why := j.hooked(s); why != "" {
			v := verdict{need: j.need(s), reason: why}
			if !by.seen {
				j.ask(v)
				return
			}
			j.hooks = &v
		}
		j.unseen = j.unseen || !by.seen
		if j.permittedBy == nil {
			j.permittedBy = &by
		}
	}
}

// exactly returns the grant for a program with these words, folder and variables, or the zero value
// if it cannot last or part of it is known only at run time.
func (j *judgement) exactly(s *script.Step) grant {
	if !lasting(simple{words: s.Words}) {
		return grant{}
	}
	return exactGrant(s.Dir, s.Set, s.Words)
}

// permit is a rule or session grant that allows a program.
type permit struct {
	rule    string
	layer   Layer
	literal bool // it names every word
	seen    bool // the user has seen these words
}

// allowedBy finds the permit for a program.
func (j *judgement) allowedBy(s *script.Step) (permit, bool) {
	if g := j.exactly(s); g.rule != "" && j.grantedKey(g.key) {
		return permit{g.rule, granted, true, true}, true
	}
	if r, ok := j.ruled(s.Words); ok {
		literal := slices.ContainsFunc(j.rules, func(r Rule) bool { return r.Effect == Allow && r.argv.covers(s.Words) && literalRule(r, s.Words) })
		return permit{r.String(), r.Layer, literal, false}, true
	}
	return permit{}, false
}

// guarded reports whether the text runs in an environment without a repository's influence, because
// the user has not seen every program. A git command that they have seen would lose its hooks
// there, so it is asked about.
func (j *judgement) guarded() bool {
	guarded := j.unseen || j.git || !j.unlooked
	if guarded && j.hooks != nil {
		j.ask(*j.hooks)
	}
	return guarded
}

func writes(use programs.Use) bool {
	return slices.ContainsFunc(use.Accesses, func(a programs.Access) bool { return a.Kind == programs.Write })
}

// strict reports whether a rule forbids reading some files other than adze's own, which no
// repository contains.
func (j *judgement) strict() bool {
	return slices.ContainsFunc(j.rulesFor(tool.Read), func(r Rule) bool { return r.Effect != Allow && !j.aboutOwn(r) })
}

// never explains why no rule can allow a program in this form.
func (j *judgement) never(s *script.Step) string {
	name := s.Words[0].Text
	switch {
	case programs.IsKind("builtin", name):
		return "it uses " + name + " in a way that is not judged"
	case s.Input && !programs.IsKind("given-text", name):
		return name + " is given text, and may run it"
	}
	return ""
}
