package policy

import (
	"path"
	"slices"
	"strings"

	"adze/internal/policy/script"
)

// Command lines of other shells are judged by their words alone: PowerShell, cmd, and bash on
// Windows, whose paths differ from the system's. Nothing counts as understood. Deny and ask rules
// see each word that may be a program. An allow rule must spell the line word by word.

// readForeign reads another shell's line: its programs by their words alone, and bash's reading of
// it for checks that only restrict.
func readForeign(line, home string) *command {
	c := read(line, home)
	if c.refused == nil {
		c.simples, c.broken = foreignPrograms(line), nil
	}
	return c
}

// foreignWords splits a line at blanks, for a rule with the same words. A text with several lines
// has none.
func foreignWords(line string) (out []script.Word) {
	if strings.ContainsAny(line, "\r\n") {
		return nil
	}
	for _, word := range strings.Fields(line) {
		out = append(out, script.Literal(word))
	}
	return out
}

// foreignPrograms returns each word that may be a program: the first after a separator surely, any
// other possibly. It drops the shells' quotes and escapes, lowers the case, and strips the
// program's folder and extension.
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
