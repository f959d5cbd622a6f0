package programs

import (
	"path"
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// Gone is the kind of a path that is removed or moved away, with all below it.
const Gone Kind = "gone"

// Named is a file that the words of a program name, or an option by which the program does more
// than its name says, or both.
type Named struct {
	Kind   Kind
	Path   string // if empty, Option alone counts
	Option string // if empty, the program is known to use such a file
	Does   string // what the option does, such as "writes a file"
}

// String says what the option does, for people.
func (n Named) String() string { return n.Option + " " + n.Does }

// WritesFile is what an option does that writes a file.
const WritesFile = "writes a file"

// does says what an option of a role does; if empty, no more than the program's name says.
func does(role string) string {
	switch role {
	case "write", "writes":
		return WritesFile
	case "run":
		return "runs a program"
	case "deletes":
		return "deletes files"
	case "clock":
		return "sets the clock"
	case "config":
		return "reads options from a file"
	}
	return ""
}

// Names lists the files that a program names, as far as the table knows the program. It reads on
// where Judge gives up: an option that it does not know takes no word.
func Names(words []script.Word) []Named {
	if len(words) == 0 {
		return nil
	}
	words = slices.Clone(words)
	for i, w := range words {
		if !w.Known {
			words[i] = script.Word{Text: w.Spelled, Known: w.Spelled != ""}
		}
	}
	words[0].Text = path.Base(words[0].Text)
	n := namer{parent: tabled()[words[0].Text]}
	p, args, ok := find(words)
	if words[0].Text == "git" {
		rest := len(words) - len(GitOf(script.Texts(words[1:])).rest)
		n.program = n.parent
		n.read(words[1:rest])
		n.operands, args = nil, words[rest:]
		if p, _, ok = find(slices.Concat(words[:1], words[max(rest-1, 0):rest])); p == n.parent {
			p = &program{}
		}
	}
	if n.program = p; !ok || p.any {
		return n.out
	}
	n.read(args)
	n.place()
	if _, looks := Judge(words); !looks && (p.special == "sed" || p.special == "awk") && !slices.ContainsFunc(words, func(w script.Word) bool { return !w.Known }) {
		n.out = append(n.out, Named{Option: "its code", Does: "may write files or run programs"})
	}
	return n.out
}

// More lists the options by which a program does more than its name says.
func More(words []string) (out []Named) {
	var given []script.Word
	for _, w := range words {
		given = append(given, script.Literal(w))
	}
	seen := map[string]bool{}
	for n := 1; n <= min(3, len(given)); n++ {
		p := tabled()[strings.Join(words[:n], " ")]
		for i := 0; p != nil && i < len(p.listed); i++ {
			name := p.listed[i]
			if what := does(strings.Join(p.more[name].roles, "")); what != "" && !seen[name] && !(n < len(given) && name == "-c" && words[0] == "git") {
				seen[name] = true
				out = append(out, Named{Option: name, Does: what})
			}
		}
	}
	return out
}

// namer goes through the words of a program.
type namer struct {
	*program
	parent   *program // whose options count too: go for go list
	out      []Named
	given    []string
	operands []script.Word
	into     []string // folders or files that get what is copied
	archives []string // of tar
	each     []Named  // what find has another program do to what it finds
}

// option finds an option, also one that is cut short as programs of GNU take it.
func (n *namer) option(name string) (full string, o option) {
	tables := []map[string]option{n.more, n.options}
	if n.parent != nil && (n.program == n.parent || name != "-c") { // behind a subcommand of git it is another one
		tables = append(tables, n.parent.more)
	}
	for _, table := range tables {
		if o, ok := table[name]; ok {
			return name, o
		}
		for full, o := range table {
			cut := strings.HasPrefix(name, "--") && len(name) > len("--o") && strings.HasPrefix(full, name) || name == "--o" && full == "--output"
			if cut || len(full) > 2 && "-"+full == name { // --toolexec for -toolexec
				return full, o
			}
		}
	}
	return name, option{}
}

// read takes the options, and keeps the operands.
func (n *namer) read(args []script.Word) {
	if _, tar := n.more["--checkpoint-action"]; tar && len(args) > 0 && !strings.HasPrefix(args[0].Text, "-") {
		letters := args[0].Text
		args = args[1:]
		for _, letter := range letters { // each takes its words in turn
			args = n.values("-"+string(letter), args)
		}
	}
	for len(args) > 0 {
		w := args[0]
		args = args[1:]
		name, value, attached := strings.Cut(w.Text, "=")
		switch full, o := n.option(name); {
		case w.Text == "--":
			n.operands = append(n.operands, args...)
			return
		case attached && w.Known && len(o.roles) > 0: // also of=FILE
			n.take(full, o.roles[0], value)
		case !w.Known || len(w.Text) < 2 || w.Text[0] != '-':
			n.operands = append(n.operands, w)
		case len(o.roles) > 0 || n.single || strings.HasPrefix(w.Text, "--"):
			args = n.values(name, args)
		default:
			args = n.letters(w.Text, args)
		}
	}
}

// letters takes options of one letter that stand together. The first that takes a word has the rest
// for it, or the word behind.
func (n *namer) letters(text string, args []script.Word) []script.Word {
	for i := 1; i < len(text) && text[i] >= 'A'; i++ {
		name, rest := "-"+text[i:i+1], text[i+1:]
		if _, o := n.option(name); rest != "" && o.takes() {
			n.take(name, o.roles[0], rest)
			return args
		}
		args = n.values(name, args)
	}
	return args
}

// takes reports an option that takes a word.
func (o option) takes() bool { return len(o.roles) > 0 && !oneOf(o.roles[0], "writes", "deletes") }

// values takes an option with the words behind it.
func (n *namer) values(name string, args []script.Word) []script.Word {
	name, o := n.option(name)
	if end := slices.IndexFunc(args, func(w script.Word) bool { return w.Text == ";" || w.Text == "+" }); end >= 0 && strings.HasPrefix(name, "-exec") {
		n.each = append(n.each, Names(args[:end])...)
		args = args[end:]
	}
	if !o.takes() || o.only {
		n.take(name, strings.Join(o.roles, ""), "")
		return args
	}
	for _, role := range o.roles {
		if len(args) == 0 || o.maybe && strings.HasPrefix(args[0].Text, "-") {
			break
		}
		n.take(name, role, args[0].Text)
		args = args[1:]
	}
	return args
}

// take notes an option with a value.
func (n *namer) take(name, role, value string) {
	n.given = append(n.given, name)
	switch what := does(role); {
	case role == "write":
		n.out = append(n.out, Named{Kind: Write, Path: value, Option: name, Does: what})
	case what != "":
		n.out = append(n.out, Named{Option: name, Does: what})
	default:
		n.file(role, value)
	}
}

// file notes a path in its role.
func (n *namer) file(role, path string) {
	add := func(kinds ...Kind) {
		for _, kind := range kinds {
			n.out = append(n.out, Named{Kind: kind, Path: path})
		}
	}
	if path == "" || path == "-" {
		return
	}
	if n.names != nil && role == "write" { // it is known for reading
		n.out = append(n.out, Named{Kind: Write, Path: path, Option: path, Does: does(role)})
		return
	}
	switch role {
	case "read", "packed", "archive":
		add(Read)
	case "list", "tree", "write", "gone":
		add(Kind(role))
	case "moved":
		add(Read, Gone)
	case "spec": // a revision, or a path of one
		path = path[strings.LastIndexByte(path, ':')+1:]
		add(Read)
	case "data": // @file, name=@file
		if file, ok := strings.CutPrefix(path[strings.IndexByte(path, '=')+1:], "@"); ok {
			path = file
			add(Read)
		}
	case "into":
		n.into = append(n.into, path)
	case "tarfile":
		n.archives = append(n.archives, path)
	}
}

func (n *namer) gave(names ...string) bool {
	return slices.ContainsFunc(n.given, func(g string) bool { return slices.Contains(names, g) })
}

// place gives each operand its role.
func (n *namer) place() {
	roles := n.program.operands
	if n.names != nil {
		roles = n.names
	}
	for _, f := range n.with {
		if n.gave(f.options...) {
			roles = f.operands
		}
	}
	var sources []string
	for i, w := range n.operands {
		role := roleOf(roles, i, len(n.operands))
		if role == "read" && n.gave(n.deep...) {
			role = "tree"
		}
		if n.file(role, w.Text); w.Known && (role == "read" || role == "moved") {
			sources = append(sources, path.Base(w.Text))
		}
		tested := role == "list" && n.gave("-name")
		if slices.ContainsFunc(n.each, func(one Named) bool { return one.Path == "{}" && one.Kind != Read }) && !tested {
			n.file("gone", w.Text)
		}
	}
	if len(n.operands) == 0 && n.fallback != "" && len(roles) > 0 {
		n.file(roleOf(roles, 0, 1), n.fallback)
	}
	n.targets(sources)
}

// roleOf is the role of one of several operands. One that ends in three dots is of all operands
// that the others leave; if empty, it has none.
func roleOf(roles []string, i, all int) string {
	if many := slices.IndexFunc(roles, func(r string) bool { return strings.HasSuffix(r, "...") }); many >= 0 && i >= many {
		i = max(many, len(roles)-(all-i))
	}
	if i >= len(roles) {
		return ""
	}
	return strings.TrimRight(roles[i], ".?")
}

// targets notes what is written at the places that get what is copied or unpacked.
func (n *namer) targets(sources []string) {
	made := n.gave("-c", "-r", "-u", "-A", "--create", "--append", "--update", "--catenate", "--concatenate", "--delete")
	for _, archive := range n.archives {
		kind := Read
		if made {
			kind = Write
		}
		n.out = append(n.out, Named{Kind: kind, Path: archive})
	}
	if len(n.archives) > 0 && (made || !n.gave("-x", "--extract", "--get")) {
		return
	}
	for _, to := range n.into {
		n.out = append(n.out, Named{Kind: Write, Path: to})
		for _, name := range sources {
			n.out = append(n.out, Named{Kind: Write, Path: path.Join(to, name)})
		}
	}
}
