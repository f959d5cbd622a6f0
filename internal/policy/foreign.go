package policy

import (
	"path"
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// A line of a shell whose language is not read here is judged by its words alone: PowerShell, cmd,
// and bash on Windows, whose paths are not those of the system. Nothing of it is taken for
// understood. Deny and ask rules see the words at which a program may stand. An allow rule has to
// spell the line word by word.

// readForeign reads a line of another shell: its programs by their words alone, and what bash would
// read in it, for the checks that only make a judgement stricter.
func readForeign(line, home string) *command {
	c := read(line, home)
	if c.refused == nil {
		c.simples, c.broken = foreignPrograms(line), nil
	}
	return c
}

// foreignWords are the words of a line, for a rule that spells them: those that blanks part. There
// are none in a text of several lines.
func foreignWords(line string) (out []script.Word) {
	if strings.ContainsAny(line, "\r\n") {
		return nil
	}
	for _, word := range strings.Fields(line) {
		out = append(out, script.Literal(word))
	}
	return out
}

// foreignPrograms are the places of a line at which a program may stand. The first word after
// anything that can end a command is one; any other word may be one. Marks by which these shells
// quote and escape are left out, letters count as small ones, and a program by its name without its
// folder and its ending.
func foreignPrograms(line string) (out []simple) {
	plain := strings.NewReplacer("`", "", "^", "", `"`, "", "'", "").Replace(line)
	ends := func(r rune) bool { return strings.ContainsRune("\n;|&(){}", r) }
	for piece := range strings.FieldsFuncSeq(plain, ends) {
		fields := strings.Fields(piece)
		for i := range fields {
			words := slices.Clone(fields[i:])
			words[0] = programName(words[0])
			out = append(out, simple{words: knownWords(words), maybe: i > 0})
			if small := strings.Fields(strings.ToLower(strings.Join(words, " "))); !slices.Equal(small, words) {
				out = append(out, simple{words: knownWords(small), maybe: i > 0})
			}
		}
	}
	return out
}

func programName(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, ending := range []string{".exe", ".cmd", ".bat", ".com", ".ps1"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

func knownWords(texts []string) (out []script.Word) {
	for _, t := range texts {
		out = append(out, script.Literal(t))
	}
	return out
}
