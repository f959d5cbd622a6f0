package policy

import (
	"slices"
	"strings"

	"adze/internal/policy/script"
	"adze/tool"
)

// writtenOperands are the names that a program writes, makes or removes because they stand there,
// without an option that says so. A value that belongs to an option may be among them.
func writtenOperands(words []string) (out []string) {
	plain, options := operands(words[1:])
	last := func(names []string) []string { return names[max(len(names)-1, 0):] }
	switch name := base(words[0]); {
	case oneOf(name, "tee touch mkdir rmdir rm unlink truncate shred mv chmod chown chgrp sponge gzip gunzip bzip2 bunzip2 xz unxz zstd sqlite3"):
		out = plain
	case oneOf(name, "cp ln install rsync scp split csplit"):
		if out = last(plain); oneOf(name, "split csplit") && len(plain) < 2 {
			out = nil
		}
	case name == "dd":
		for _, w := range plain {
			if file, ok := strings.CutPrefix(w, "of="); ok {
				out = append(out, file)
			}
		}
	case oneOf(name, "tar gtar bsdtar"):
		return tarWrites(words[1:])
	case oneOf(name, "zip jar"):
		out = plain[:min(len(plain), 1)]
	case oneOf(name, "unzip patch"):
		return values(words[1:], "-d", "--directory", "-o", "--output")
	default:
		return nil
	}
	return append(out, values(options, "-t", "--target-directory")...)
}

// tarWrites are the archive that tar makes or changes, or the folder into which it extracts.
func tarWrites(words []string) []string {
	mode := ""
	for i, w := range words {
		long := strings.HasPrefix(w, "--")
		switch {
		case long && slices.ContainsFunc([]string{"--create", "--append", "--update", "--catenate", "--concatenate", "--delete"}, func(o string) bool { return len(w) > 3 && strings.HasPrefix(o, w) }):
			mode += "c"
		case long && len(w) > 3 && (strings.HasPrefix("--extract", w) || w == "--get"):
			mode += "x"
		case !long && strings.HasPrefix(w, "-"): // a letter that takes a value is the last
			letters, _, _ := strings.Cut(strings.Map(func(r rune) rune {
				if strings.ContainsRune(tarValues, r) {
					return ' '
				}
				return r
			}, w), " ")
			mode += letters
		case !long && i == 0:
			mode += w
		}
	}
	if !strings.ContainsAny(mode, "cruA") {
		return values(words, "-C", "--directory")
	}
	out := values(words, "-f", "--file")
	if first := words[0]; !strings.HasPrefix(first, "-") && strings.Contains(first, "f") { // letters take words in turn
		at := 1
		for _, letter := range first {
			if letter == 'f' && at < len(words) {
				out = append(out, words[at])
			}
			if strings.ContainsRune(tarValues, letter) {
				at++
			}
		}
	}
	return out
}

// tarValues are the letters of tar that take a value.
const tarValues = "fbCTXgKLNVIHF"

// values are those of options, attached to them or behind them, also where letters stand together.
func values(words []string, names ...string) (out []string) {
	for i, w := range words {
		for _, name := range names {
			value, behind := "", false
			switch rest, attached := strings.CutPrefix(w, name+"="); {
			case attached:
				value = rest
			case w == name:
				behind = true
			case len(name) == 2 && strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--"):
				if at := strings.IndexByte(w, name[1]); at > 0 {
					value = w[at+1:]
					behind = value == ""
				}
			}
			if behind && i+1 < len(words) {
				value = words[i+1]
			}
			if value != "" {
				out = append(out, value)
			}
		}
	}
	return out
}

// operands parts words into operands and options with all that follows each.
func operands(words []string) (plain, options []string) {
	for i, w := range words {
		switch {
		case w == "--":
			return append(plain, words[i+1:]...), options
		case len(w) > 1 && w[0] == '-':
			options = append(options, w)
			if i+1 < len(words) {
				options = append(options, words[i+1])
			}
		default:
			plain = append(plain, w)
		}
	}
	return plain, options
}

// namesMore asks for a file that a program is given and that the rule which allows the program did
// not mean: one known for its secrets, where the program reads what it is given; and where it
// writes, one outside of the workspace, or one by which another program runs something. A rule that
// spells it out means it.
func (j *judging) namesMore(s *script.Step) bool {
	words := s.Words
	for inner, wrapped := behindWrapper(words); wrapped; inner, wrapped = behindWrapper(words) {
		words = inner
	}
	var needs []tool.Need
	if looksAt([]string{nameOf(words)}) {
		for _, word := range words[1:] {
			for _, name := range word.Alts {
				needs = append(needs, tool.Need{Permission: tool.Read, Target: name})
			}
		}
	}
	for _, name := range writtenOperands(textsOf(words)) {
		if !oneOf(name, "- /dev/null /dev/stdout /dev/stderr /dev/tty") && !slices.ContainsFunc(j.rules, func(r Rule) bool {
			return r.Effect == Allow && r.argv.covers(s.Words) && slices.ContainsFunc(r.argv.tokens, func(t token) bool { return !t.any && slices.Contains(t.oneOf, name) })
		}) {
			needs = append(needs, tool.Need{Permission: tool.Write, Target: name})
		}
	}
	for _, need := range needs {
		for _, dir := range s.Dirs {
			v := j.judge(j.mode, tool.Need{Permission: need.Permission, Target: below(dir, need.Target, "~")})
			writes := need.Permission == tool.Write
			switch {
			case need.Target == "":
			case writes && v.effect == Deny:
				if j.deny == nil {
					j.deny = &v
				}
				return true
			case v.effect == Ask && (v.careful || writes && (v.place.Outside || v.rule != "")):
				v.words, v.dir, v.exact = s.Words, dirOf(s), j.exactly(s)
				j.ask(v)
				return true
			}
		}
	}
	return false
}
