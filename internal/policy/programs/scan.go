package programs

import (
	"path"
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// find returns the entry with the longest match: git remote get-url before git remote.
func find(words []script.Word) (p *program, args []script.Word, ok bool) {
	for n := min(3, len(words)); n > 0; n-- {
		if slices.ContainsFunc(words[:n], func(w script.Word) bool { return !w.Known || strings.Contains(w.Text, " ") }) {
			continue
		}
		if p, ok := tabled()[strings.Join(script.Texts(words[:n]), " ")]; ok {
			return p, words[n:], true
		}
	}
	return nil, nil, false
}

// scan processes a command's words for Judge and Names. A program that is not read-only is odd:
// Judge stops there, Names keeps reading.
type scan struct {
	*program
	parent      *program // its options also apply: go for go list
	use         *Use
	args        []script.Word
	optionsSeen []string // options
	operands    []script.Word
	ended       bool // by --
	odd         bool
	lead        int      // number of options before the first operand
	wary        bool     // options have many forms: the next word may not be a value
	patterns    []string // patterns of the names it reads
	accesses    []Access
	into        []string // targets for copies
	archives    []string // for tar
	each        []Access // find's use of another program for its results
}

// judge reads the words after the program's name.
func (p *program) judge(args []script.Word, u Use) (Use, bool) {
	if p.changes || p.special != "" && p.special != "printf" && slices.ContainsFunc(args, func(w script.Word) bool { return w.Placeholder }) {
		return Use{}, false // a small language cannot be read there
	}
	s := scan{program: p, use: &u}
	switch {
	case p.special == "printf":
		return u, printf(args)
	case p.any:
		return u, true
	case p.special != "":
		s.args = args
		s.script()
		u.Accesses = s.accesses
		return u, !s.odd
	}
	s.read(args)
	s.place()
	s.finish(len(u.Words) - len(args))
	return u, !s.odd
}

// option finds an option. exact means that the program is read-only with it. Other options are also
// found by GNU abbreviations.
func (s *scan) option(name string) (full string, o option, exact bool) {
	if o, ok := s.options[name]; ok {
		return name, o, true
	}
	tables := []map[string]option{s.effectOptions, s.options}
	if s.parent != nil && (s.program == s.parent || name != "-c") { // after a git subcommand it is a different one
		tables = append(tables, s.parent.effectOptions)
	}
	for _, table := range tables {
		if o, ok := table[name]; ok {
			return name, o, false
		}
		for full, o := range table {
			cut := strings.HasPrefix(name, "--") && len(name) > len("--o") && strings.HasPrefix(full, name) || name == "--o" && full == "--output"
			if cut || len(full) > 2 && "-"+full == name { // --toolexec for -toolexec
				return full, o, false
			}
		}
	}
	return name, option{}, false
}

// read separates options from operands.
func (s *scan) read(args []script.Word) {
	s.args = args
	if _, tar := s.effectOptions["--checkpoint-action"]; tar && len(args) > 0 && !strings.HasPrefix(args[0].Text, "-") {
		s.args = args[1:]
		for _, letter := range args[0].Text { // each letter takes its words in turn
			name, o, _ := s.option("-" + string(letter))
			s.values(name, o)
		}
	}
	for len(s.args) > 0 {
		w := s.args[0]
		s.args = s.args[1:]
		if len(s.operands) == 0 && !s.ended {
			s.lead = len(s.optionsSeen)
		}
		if s.ended || w.Placeholder { // +5/a is no option, though +5 may be one
			s.operands = append(s.operands, w)
			continue
		}
		name, value, attached := strings.Cut(w.Text, "=")
		full, o, exact := s.option(name)
		dash := len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+' && s.has("+#"))
		s.odd = s.odd || !w.Known || s.front && len(s.operands) > 0 && strings.HasPrefix(w.Text, "-") // it may or may not be an option
		switch {
		case !w.Known:
			s.operands = append(s.operands, w)
		case w.Text == "--":
			s.ended, s.odd = true, s.odd || s.single
		case attached && len(o.roles) > 0 && (s.single || !exact || strings.HasPrefix(name, "--")): // also of=FILE
			s.odd = s.odd || !exact || !o.attached
			s.optionsSeen = append(s.optionsSeen, full)
			s.touch(full, o.roles[0], script.Literal(value))
		case !dash && !exact:
			s.operands = append(s.operands, w)
		case s.single || strings.HasPrefix(w.Text, "--") || !exact && len(o.roles) > 0:
			s.odd = s.odd || !exact || attached
			s.values(full, o)
		default:
			s.cluster(w.Text)
		}
	}
	if len(s.operands) == 0 && !s.ended {
		s.lead = len(s.optionsSeen)
	}
	s.odd = s.odd || len(s.onlyWith) > 0 && !s.leads(s.onlyWith)
}

// leads reports an option before all operands. After one it may be an operand, too: command rm -v
// removes.
func (s *scan) leads(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(s.optionsSeen[:s.lead], n) })
}

func (s *scan) has(name string) bool { _, ok := s.options[name]; return ok }

func (s *scan) hasOption(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(s.optionsSeen, n) })
}

// cluster handles -20, and -abc, where the first option with a value takes the rest.
func (s *scan) cluster(text string) {
	if strings.Trim(text[1:], "0123456789") == "" && s.has(text[:1]+"#") {
		return
	}
	for i := 1; i < len(text); i++ {
		rest := text[i+1:]
		name, o, exact := s.option("-" + text[i:i+1])
		s.odd = s.odd || !exact || text[0] == '+'
		if rest != "" && o.takes() {
			s.optionsSeen = append(s.optionsSeen, name)
			s.touch(name, o.roles[0], script.Literal(rest))
			return
		}
		s.values(name, o)
	}
}

func (o option) takes() bool { return len(o.roles) > 0 && !oneOf(o.roles[0], "writes", "deletes") }

func (s *scan) values(name string, o option) {
	s.optionsSeen = append(s.optionsSeen, name)
	end := slices.IndexFunc(s.args, func(w script.Word) bool { return w.Text == ";" || w.Text == "+" })
	switch {
	case end >= 0 && strings.HasPrefix(name, "-exec"):
		s.exec(s.args[:end], s.has(name))
		s.args = s.args[end+1:]
		s.touch(name, "run", script.Word{})
		return
	case o.only || !o.takes():
		s.touch(name, strings.Join(o.roles, ""), script.Word{})
		return
	}
	s.odd = s.odd || o.roles[0] == "run"
	for _, role := range o.roles {
		if len(s.args) == 0 {
			s.odd = s.odd || !o.maybe
			return
		}
		w := s.args[0]
		// If this option takes no word, the next may be another option, or a path.
		option := len(w.Text) > 1 && w.Text[0] == '-' && (w.Text[1] < '0' || w.Text[1] > '9')
		path := strings.HasPrefix(w.Text, "/") || strings.Contains(w.Text, "..")
		if s.odd = s.odd || w.Known && (option || s.wary && path); option && o.maybe {
			return
		}
		s.touch(name, role, w)
		s.args = s.args[1:]
	}
}

// place assigns a role to each operand.
func (s *scan) place() {
	roles := s.program.operands
	for _, f := range s.with {
		if s.hasOption(f.options...) {
			roles = f.operands
		}
	}
	var sources []string
	all, placed := len(s.operands), 0
	for i, w := range s.operands {
		role := roleOf(roles, i, all)
		if role == "" { // more than a read-only program takes
			s.odd = true
			role = roleOf(s.names, i, all)
		}
		if role != "text" && role != "query" {
			placed++
		}
		if s.touch("", role, w); w.Known && (role == "read" || role == "moved") {
			sources = append(sources, path.Base(w.Text))
		}
		tested := role == "list" && s.hasOption("-name")
		if !tested && slices.ContainsFunc(s.each, func(one Access) bool { return one.Path == "{}" && one.Kind != Read }) {
			s.access(Removed, w.Text)
		}
	}
	missing := all < len(roles) && !strings.HasSuffix(roles[all], "...") && !strings.HasSuffix(roles[all], "?")
	s.odd = s.odd || missing
	switch {
	case placed > 0:
	case s.fallback != "" && len(roles) > 0:
		s.touch("", strings.TrimRight(roles[len(roles)-1], ".?"), script.Literal(s.fallback))
	case s.fallback == "" && s.hasOption(s.deep...):
		s.touch("", "read", script.Literal("."))
	}
	s.targets(sources)
}

// roleOf returns an operand's role, or "". One that ends in three dots applies to all remaining
// operands.
func roleOf(roles []string, i, all int) string {
	if many := slices.IndexFunc(roles, func(r string) bool { return strings.HasSuffix(r, "...") }); many >= 0 && i >= many {
		i = max(many, len(roles)-(all-i))
	}
	if i >= len(roles) {
		return ""
	}
	return strings.TrimRight(roles[i], ".?")
}

// touch handles one word in its role, or an option's effect.
func (s *scan) touch(option, role string, w script.Word) {
	s.odd = s.odd || w.Placeholder && role != string(Read) && role != string(List) && role != "text"
	what := does(role)
	switch {
	case option != "" && what != "":
		a := Access{Option: option, Effect: what}
		if role == "write" {
			a.Kind, a.Path = Write, w.Text
		}
		s.accesses = append(s.accesses, a)
		return
	case role == "text" || role == "":
		return
	case role == "write" && s.names != nil && w.Text != "" && w.Text != "-": // it is listed as reading
		s.accesses = append(s.accesses, Access{Kind: Write, Path: w.Text, Option: w.Text, Effect: what})
		return
	}
	s.odd = s.odd || !w.Known
	switch role {
	case "only":
		s.patterns = append(s.patterns, w.Text)
	case "exclude": // before an include it makes grep read other files
		if len(s.patterns) == 0 {
			s.patterns = append(s.patterns, "")
		}
	case "query":
		s.odd = s.odd || !query(w.Text)
	case "plus":
		s.odd = s.odd || !strings.HasPrefix(w.Text, "+")
	case "bsd":
		s.odd = s.odd || strings.Trim(w.Text, "aucxlmjwfrhTU0123456789,") != ""
	case "spec":
		s.spec(w.Text)
	case "key":
		s.odd = s.odd || !setting().MatchString(w.Text)
	case "packed":
		s.unpacked(w.Text, ".gz", "-gz", ".z", "-z", "_z", ".Z")
	case "archive":
		s.odd = s.odd || strings.ContainsAny(w.Text, `*?[]\`)
		s.unpacked(w.Text, ".zip", ".ZIP")
	case "package", "packages":
		s.packages(w.Text, role == "package")
	case "read":
		kind := Read
		if s.hasOption(s.deep...) {
			kind = Tree
		}
		s.access(kind, w.Text)
	case "moved":
		s.access(Read, w.Text)
		s.access(Removed, w.Text)
	case "data": // @file, name=@file
		if file, ok := strings.CutPrefix(w.Text[strings.IndexByte(w.Text, '=')+1:], "@"); ok {
			s.access(Read, file)
		}
	case "into":
		s.into = append(s.into, w.Text)
	case "tarfile":
		s.archives = append(s.archives, w.Text)
	default:
		s.access(Kind(role), w.Text)
	}
}

// access adds a path. A dash is standard input; @file makes some programs read their options there.
func (s *scan) access(kind Kind, path string) {
	s.odd = s.odd || path == "" || strings.HasPrefix(path, "@") && kind != List
	switch {
	case path == "":
	case (path == "-" || path == "/dev/stdin") && kind != Write && kind != List, path == "/dev/null":
	default:
		s.accesses = append(s.accesses, Access{Kind: kind, Path: path, Hidden: s.hidden})
	}
}

// targets adds the files written at the targets for copies or archives.
func (s *scan) targets(sources []string) {
	made := s.hasOption("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--catenate", "--concatenate", "--delete")
	for _, archive := range s.archives {
		kind := Read
		if made {
			kind = Write
		}
		s.access(kind, archive)
	}
	if len(s.archives) > 0 && (made || !s.hasOption("-x", "--extract", "--get")) {
		return
	}
	for _, to := range s.into {
		s.access(Write, to)
		for _, name := range sources {
			s.access(Write, path.Join(to, name))
		}
	}
}

// finish adds restricting options, after the words that name the program.
func (s *scan) finish(named int) {
	added, follows := slices.Clone(s.adds), s.hasOption(s.follow...) || oneOf("always", s.follow...)
	for _, a := range s.accesses {
		if a.Path != "" {
			a.Flat, a.Only = oneOf("files", s.follow...), s.chosen()
			a.Follow = a.Follow || a.Flat || follows
			s.use.Accesses = append(s.use.Accesses, a)
		}
	}
	if s.apart != "" && !s.hasOption(s.unless...) && slices.ContainsFunc(s.accesses, func(a Access) bool { return a.Kind == Tree }) {
		added = append(added, leaveOut(s.apart)...)
		for i := range s.use.Accesses {
			s.use.Accesses[i].ExcludesSecrets = true
		}
	}
	s.use.Words = slices.Insert(s.use.Words, named, added...)
	s.use.Local, s.use.Git = s.local, s.git
}
