package policy

import (
	"fmt"
	"slices"
	"strings"

	"adze/internal/policy/readonly"
	"adze/internal/policy/script"
	"adze/tool"
)

// effect is an option by which a program does more than its name says: it writes a file that is
// named behind it, or runs a program.
type effect struct {
	option string // as written: -o, --output, or a word such as run
	does   string // writes a file, runs a program, …
}

const (
	writesFile   = "writes a file"
	runsProgram  = "runs a program"
	deletesFiles = "deletes files"
)

// effects are those of a program.
type effects []effect

// add adds options that do the same. The compiler is not to write it anew for each row of the
// table, which took 40 kB.
//
//go:noinline
func (all *effects) add(does, options string) {
	for o := range strings.FieldsSeq(options) {
		*all = append(*all, effect{o, does})
	}
}

// effectsOf is the table: the options of programs that people allow because they look, search,
// format or fetch. Programs that run any code by their nature (make, npm, an interpreter) are not
// in it. A subcommand stands behind the name.
func effectsOf(words []string) (all effects) {
	sub := ""
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			sub = w
			break
		}
	}
	switch base(words[0]) {
	case "sort", "gsort":
		all.add(writesFile, "-o --output")
		all.add(runsProgram, "--compress-program")
	case "shuf", "iconv", "sdiff", "dot", "xmllint":
		all.add(writesFile, "-o --output")
	case "find", "gfind":
		all.add(runsProgram, "-exec -execdir -ok -okdir")
		all.add(deletesFiles, "-delete")
		all.add(writesFile, "-fprint -fprint0 -fprintf -fls")
	case "fd", "fdfind":
		all.add(runsProgram, "-x --exec -X --exec-batch")
	case "rg":
		all.add(runsProgram, "--pre --hostname-bin")
	case "ag", "ack":
		all.add(runsProgram, "--pager")
	case "tree":
		all.add(writesFile, "-o")
	case "date":
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "-I") }) { // -Iseconds
			all.add("sets the clock", "-s --set")
		}
	case "less", "more":
		all.add(writesFile, "-o -O --log-file --LOG-FILE")
	case "man":
		all.add(runsProgram, "-P --pager -H --html")
	case "bat", "batcat", "delta":
		all.add(runsProgram, "--pager")
	case "fzf":
		all.add(runsProgram, "--preview --bind")
	case "yq":
		all.add(writesFile, "-i --inplace --in-place -s --split-exp")
	case "sed", "gsed":
		all.add(writesFile, "-i --in-place")
	case "gawk", "awk", "mawk":
		all.add(writesFile, "-i --include -o --pretty-print -d --dump-variables -p --profile")
		all.add(runsProgram, "-l --load")
	case "tar", "gtar", "bsdtar":
		all.add(runsProgram, "-I --use-compress-program --to-command --checkpoint-action -F --info-script --new-volume-script --rsh-command --rmt-command")
		all.add(deletesFiles, "--remove-files --delete")
	case "zip":
		all.add(runsProgram, "-TT --unzip-command")
		all.add(deletesFiles, "-m --move")
	case "rsync":
		all.add(runsProgram, "-e --rsh --rsync-path")
		all.add(deletesFiles, "--delete --delete-before --delete-after --delete-during --delete-excluded --remove-source-files")
	case "scp", "sftp":
		all.add(runsProgram, "-S -o -F")
	case "ssh":
		all.add(runsProgram, "-o -F")
	case "curl":
		all.add(writesFile, "-o --output -O --remote-name --remote-name-all --output-dir -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --libcurl --hsts --alt-svc")
		all.add("reads options from a file", "-K --config")
	case "wget":
		all.add(writesFile, "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies --warc-file")
		all.add(runsProgram, "-e --execute --use-askpass")
	case "openssl":
		all.add(writesFile, "-out -writerand")
	case "gpg", "gpg2":
		all.add(writesFile, "-o --output")
	case "pandoc":
		all.add(writesFile, "-o --output")
		all.add(runsProgram, "-F --filter -L --lua-filter --pdf-engine")
	case "tcpdump":
		all.add(writesFile, "-w")
		all.add(runsProgram, "-z")
	case "file":
		all.add(writesFile, "-C --compile")
	case "gofmt", "goimports", "gofumpt", "shfmt":
		all.add(writesFile, "-w --write")
	case "prettier":
		all.add(writesFile, "-w --write")
		all.add(runsProgram, "--plugin --config")
	case "eslint", "stylelint":
		all.add(writesFile, "--fix -o --output-file")
		all.add(runsProgram, "-c --config --rulesdir --resolve-plugins-relative-to")
	case "ruff":
		all.add(writesFile, "--fix --unsafe-fixes -o --output-file")
	case "golangci-lint":
		all.add(writesFile, "--fix")
	case "clang-format":
		all.add(writesFile, "-i")
	case "go":
		all.add(runsProgram, "-toolexec -exec -vettool")
	case "cargo":
		all.add(runsProgram, "--config")
	case "git":
		all.add(runsProgram, "-c --config-env --exec-path --upload-pack --receive-pack --ext-diff --open-files-in-pager")
		switch sub {
		case "grep":
			all.add(runsProgram, "-O")
		case "rebase":
			all.add(runsProgram, "-x --exec")
		case "log", "diff", "show", "format-patch", "archive", "bundle":
			all.add(writesFile, "-o --output --output-directory")
		case "clone", "fetch", "ls-remote", "push", "pull":
			all.add(runsProgram, "-u --exec")
		}
		if sub == "fetch" || sub == "push" || sub == "pull" {
			all = slices.DeleteFunc(all, func(e effect) bool { return e.option == "-u" }) // --set-upstream and --update-head-ok
		}
		if sub != "" { // behind a subcommand -c means something else
			if at := slices.Index(words, sub); !slices.Contains(words[:at], "-c") {
				all = slices.DeleteFunc(all, func(e effect) bool { return e.option == "-c" })
			}
		}
	}
	return all
}

// effectIn finds the first option among the words of a program that does more than its name says.
func effectIn(words []string) (found effect, ok bool) {
	if len(words) == 0 {
		return effect{}, false
	}
	all := effectsOf(words)
	for _, w := range words[1:] {
		if w == "--" {
			break
		}
		for _, e := range all {
			if e.written(w) {
				return e, true
			}
		}
	}
	operands := slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") && w != "-" })
	if oneOf(base(words[0]), "uniq xxd") && len(operands) > 1 && operands[len(operands)-1] != "-" {
		return effect{operands[len(operands)-1], writesFile}, true
	}
	if oneOf(base(words[0]), "sed gsed awk gawk mawk") {
		given := make([]readonly.Word, len(words))
		for i, w := range words {
			given[i] = readonly.Word{Text: w, Known: w != ""}
		}
		if _, looks := readonly.Judge(given); !looks && !slices.Contains(words, "") {
			return effect{"its code", "may write files or run programs"}, true
		}
	}
	return effect{}, false
}

// written reports that a word is the option, with a value attached, among other letters, or cut
// short as GNU's programs take it.
func (e effect) written(w string) bool {
	if !strings.HasPrefix(w, "-") || len(w) < 2 {
		return false
	}
	stem, _, _ := strings.Cut(w, "=")
	switch {
	case stem == e.option:
		return true
	case strings.HasPrefix(e.option, "--"):
		return len(stem) > len("--o") && strings.HasPrefix(e.option, stem) || stem == "--o" && e.option == "--output"
	case strings.HasPrefix(w, "--"):
		return len(e.option) > 2 && stem == "-"+e.option // -toolexec as --toolexec
	case len(e.option) > 2:
		return false
	}
	letter := e.option[1]
	for i := 1; i < len(w) && (w[i] >= 'a' && w[i] <= 'z' || w[i] >= 'A' && w[i] <= 'Z'); i++ {
		if w[i] == letter {
			return true
		}
	}
	return false
}

// String says what the option does, for people.
func (e effect) String() string { return e.option + " " + e.does }

// effectOf finds such an option in the words of a program, also behind wrappers.
func effectOf(words []script.Word) (effect, bool) {
	for {
		if e, ok := effectIn(textsOf(words)); ok {
			return e, true
		}
		inner, wrapped := behindWrapper(words)
		if !wrapped {
			return effect{}, false
		}
		words = inner
	}
}

// namesEffect reports an allow rule that covers the words and names the option: who wrote it
// thought of that.
func (j *judging) namesEffect(words []script.Word, e effect) bool {
	if slices.ContainsFunc(j.rules, func(r Rule) bool {
		return r.Effect == Allow && r.argv.covers(words) && (literalRule(r, words) || slices.ContainsFunc(r.argv.tokens, func(t token) bool {
			return !t.any && slices.ContainsFunc(t.oneOf, func(text string) bool { return text == e.option || e.written(text) })
		}))
	}) {
		return true
	}
	inner, wrapped := behindWrapper(words)
	return wrapped && j.namesEffect(inner, e)
}

// mayWriteAll reports that whatever the words of a program name may be written unasked, so that it
// does not matter which of them it writes. Code of a program may name more.
func (j *judging) mayWriteAll(s *script.Step, e effect) bool {
	if e.does != writesFile || !everyKnown(s.Words) || oneOf(base(nameOf(s.Words)), "sed gsed awk gawk mawk") {
		return false
	}
	_, wrapped := behindWrapper(s.Words)
	words := textsOf(s.Words[1:])
	if !slices.ContainsFunc(words, func(w string) bool { return !strings.HasPrefix(w, "-") }) {
		words = append(words, ".") // it names nothing, and writes where it stands
	}
	for _, w := range words {
		names := []string{w}
		if strings.HasPrefix(w, "-") {
			_, value, _ := strings.Cut(w, "=")
			names = []string{value}
			if !strings.HasPrefix(w, "--") && len(w) > 2 {
				names = append(names, w[2:])
			}
		}
		for _, name := range names {
			for _, dir := range s.Dirs {
				if v := j.judge(j.mode, tool.Need{Permission: tool.Write, Target: below(dir, name, "~")}); name != "" && v.effect != Allow {
					return false
				}
			}
		}
	}
	return !wrapped
}

// Effects says what the program of an allow rule can write or run by options that the rule does not
// name, and that are asked for all the same; if empty, nothing that is known.
func (r Rule) Effects() string {
	if r.Effect != Allow || len(r.argv.tokens) == 0 || !r.argv.rest || r.argv.tokens[0].any {
		return ""
	}
	var words []string
	for _, t := range r.argv.tokens {
		if t.any || len(t.oneOf) == 0 {
			words = append(words, "")
		} else {
			words = append(words, t.oneOf[0])
		}
	}
	var says []string
	for _, e := range effectsOf(words) {
		if slices.ContainsFunc(words[1:], e.written) {
			continue
		}
		if last := len(says) - 1; last >= 0 && strings.HasSuffix(says[last], e.does) {
			says[last] = strings.TrimSuffix(says[last], " "+e.does) + ", " + e.String()
			continue
		}
		says = append(says, e.String())
	}
	if len(says) == 0 {
		return ""
	}
	return fmt.Sprintf("options by which %s does more (%s)", words[0], strings.Join(says, "; "))
}
