package programs

import (
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// find is the entry that the words name, the longest first: git remote get-url before git remote.
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

// scan is a program on its way through the words of a command.
type scan struct {
	*program
	use   *Use
	args  []script.Word
	given []string // options
	// operands are the other words, and behind those that stood after --.
	operands, behind []script.Word
	ended            bool
	odd              bool
	lead             int      // how many options stand before the first operand
	wary             bool     // options of many forms: the word behind one may not be its value
	chose            []string // patterns of the names that it reads
}

// judge reads the words after the program's name.
func (p *program) judge(args []script.Word, u Use) (Use, bool) {
	if p.changes || p.special != "" && p.special != "printf" && slices.ContainsFunc(args, func(w script.Word) bool { return w.Found }) {
		return Use{}, false // a small language is not read out of it
	}
	if p.any {
		return u, p.special != "printf" || printf(args)
	}
	s := scan{program: p, use: &u, args: args}
	switch p.special {
	case "sed", "awk":
		return u, s.script()
	case "printf":
		return u, printf(args)
	}
	if !s.read() {
		return Use{}, false
	}
	s.place()
	s.finish(len(u.Words) - len(args))
	return u, !s.odd
}

// read parts options from operands.
func (s *scan) read() bool {
	for len(s.args) > 0 && !s.odd {
		w := s.args[0]
		s.args = s.args[1:]
		if len(s.operands) == 0 && !s.ended {
			s.lead = len(s.given)
		}
		switch {
		case w.Is("-exec") && s.has("-exec"):
			s.exec()
		case s.ended:
			s.behind = append(s.behind, w)
		case w.Found: // +5/a is no option, though +5 may be one
			s.operands = append(s.operands, w)
		case !w.Known, s.front && len(s.operands) > 0 && strings.HasPrefix(w.Text, "-"):
			s.odd = true // it may be an option, or none
		case w.Text == "--" && !s.single:
			s.ended = true
		case s.single:
			s.word(w)
		case strings.HasPrefix(w.Text, "--"):
			s.long(w.Text)
		case len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+' && s.has("+#")):
			s.cluster(w.Text)
		default:
			s.operands = append(s.operands, w)
		}
	}
	if len(s.operands) == 0 && !s.ended {
		s.lead = len(s.given)
	}
	return !s.odd && (len(s.onlyWith) == 0 || s.leads(s.onlyWith))
}

// leads reports an option before all operands. Behind one it may be an operand too: command rm -v
// removes.
func (s *scan) leads(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(s.given[:s.lead], n) })
}

func (s *scan) has(name string) bool { _, ok := s.options[name]; return ok }

func (s *scan) gave(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(s.given, n) })
}

// word takes one of a program without clusters.
func (s *scan) word(w script.Word) {
	name, value, attached := strings.Cut(w.Text, "=")
	o, known := s.options[w.Text]
	switch {
	case known:
		s.given = append(s.given, w.Text)
		s.values(o.roles, o.maybe)
	case attached && s.options[name].attached:
		s.given = append(s.given, name)
		s.touch(s.options[name].roles[0], script.Literal(value))
	case strings.HasPrefix(w.Text, "-") && w.Text != "-":
		s.odd = true
	default:
		s.operands = append(s.operands, w)
	}
}

func (s *scan) long(text string) {
	name, value, attached := strings.Cut(text, "=")
	o, known := s.options[name]
	s.given = append(s.given, name)
	switch {
	case !known, attached && !o.attached:
		s.odd = true
	case attached:
		s.touch(o.roles[0], script.Literal(value))
	case o.only:
	default:
		s.values(o.roles, o.maybe)
	}
}

// cluster takes -abc, where the last may have a value, and -20.
func (s *scan) cluster(text string) {
	if strings.Trim(text[1:], "0123456789") == "" && s.has(text[:1]+"#") {
		return
	}
	for i := 1; i < len(text); i++ {
		name, rest := "-"+text[i:i+1], text[i+1:]
		o, known := s.options[name]
		s.given = append(s.given, name)
		switch {
		case !known || text[0] == '+':
			s.odd = true
			return
		case len(o.roles) == 0:
			continue
		case rest != "":
			s.touch(o.roles[0], script.Literal(rest))
		case o.only:
		default:
			s.values(o.roles, o.maybe)
		}
		return
	}
}

// values takes the next words as those of an option.
func (s *scan) values(roles []string, maybe bool) {
	for _, role := range roles {
		if len(s.args) == 0 {
			s.odd = s.odd || !maybe
			return
		}
		if w := s.args[0]; w.Known && len(w.Text) > 1 && w.Text[0] == '-' && (w.Text[1] < '0' || w.Text[1] > '9') {
			s.odd = true // where the option takes no word, this is another option
			return
		} else if s.wary && (strings.HasPrefix(w.Text, "/") || strings.Contains(w.Text, "..")) {
			s.odd = true // where it takes none, this is a path
			return
		}
		s.touch(role, s.args[0])
		s.args = s.args[1:]
	}
}

// place gives each operand its role.
func (s *scan) place() {
	roles := s.program.operands
	for _, f := range s.with {
		if s.gave(f.options) {
			roles = f.operands
		}
	}
	all := slices.Concat(s.operands, s.behind)
	next, placed := 0, 0
	for _, w := range all {
		if next >= len(roles) {
			s.odd = true
			return
		}
		role := roles[next]
		if !strings.HasSuffix(role, "...") {
			next++
		}
		role = strings.TrimRight(role, ".?")
		if role != "text" && role != "query" {
			placed++
		}
		s.touch(role, w)
	}
	missing := next < len(roles) && !strings.HasSuffix(roles[next], "...") && !strings.HasSuffix(roles[next], "?")
	s.odd = s.odd || missing
	if placed == 0 && !missing && s.fallback != "" {
		s.touch(strings.TrimRight(roles[len(roles)-1], ".?"), script.Literal(s.fallback))
	}
	if placed == 0 && s.fallback == "" && s.gave(s.deep) {
		s.touch("read", script.Literal("."))
	}
}

// touch takes one word in its role.
func (s *scan) touch(role string, w script.Word) {
	if w.Found && role != string(Read) && role != string(List) && role != "text" {
		s.odd = true
	}
	if role == "text" {
		return
	}
	if !w.Known {
		s.odd = true
		return
	}
	switch role {
	case "only":
		s.chose = append(s.chose, w.Text)
	case "exclude": // before an include it makes grep read what neither names
		if len(s.chose) == 0 {
			s.chose = append(s.chose, "")
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
		if s.gave(s.deep) {
			kind = Tree
		}
		s.access(kind, w.Text)
	default:
		s.access(Kind(role), w.Text)
	}
}

// access takes a path. A dash is the standard input; @file makes some programs read their options
// there.
func (s *scan) access(kind Kind, path string) {
	switch {
	case path == "":
		s.odd = true
	case strings.HasPrefix(path, "@") && kind != List:
		s.odd = true
	case (path == "-" || path == "/dev/stdin") && kind != Write && kind != List, path == "/dev/null":
	default:
		s.use.Accesses = append(s.use.Accesses, Access{Kind: kind, Path: path, Hidden: s.hidden})
	}
}

// finish adds what keeps the program from doing more, behind the words that name it.
func (s *scan) finish(named int) {
	added := slices.Clone(s.adds)
	for i := range s.use.Accesses {
		a := &s.use.Accesses[i]
		a.Flat, a.Only = oneOf("files", s.follow...), s.chosen()
		a.Follow = a.Follow || a.Flat || s.gave(s.follow) || oneOf("always", s.follow...)
	}
	if s.apart != "" && !s.gave(s.unless) {
		if tree := slices.IndexFunc(s.use.Accesses, func(a Access) bool { return a.Kind == Tree }); tree >= 0 {
			added = append(added, leaveOut(s.apart)...)
			for i := range s.use.Accesses {
				s.use.Accesses[i].Spared = true
			}
		}
	}
	s.use.Words = slices.Insert(s.use.Words, named, added...)
	s.use.Local, s.use.Git = s.local, s.git
}
