package policy

import (
	"strings"

	"adze/internal/policy/programs"
)

// git looks at what git runs because its own words say so: an alias or a setting given with -c, a
// word after !, as gh alias set takes one too, and ext:: addresses.
func (r *reader) git(args []word, depth int) {
	for i, a := range args {
		if !a.known {
			continue
		}
		setting := ""
		switch {
		case i > 0 && args[i-1].text == "-c":
			setting = a.text
		case strings.HasPrefix(a.text, "--config-env"), strings.HasPrefix(a.text, "--exec-path="):
			r.unknown("git takes a setting from elsewhere")
		case strings.HasPrefix(a.text, "-c") && len(a.text) > 2:
			setting = a.text[2:]
		}
		if name, value, ok := strings.Cut(setting, "="); ok {
			text, command := strings.CutPrefix(value, "!")
			if strings.HasPrefix(strings.ToLower(name), "alias.") && !command {
				text = "git " + value
			}
			r.text(word{text: text, known: true}, depth)
		}
		if _, text, ok := strings.Cut(a.text, "ext::"); ok {
			r.text(word{text: text, known: true}, depth)
		}
		if text, ok := strings.CutPrefix(a.text, "!"); ok {
			r.text(word{text: text, known: true}, depth)
		}
	}
}

// anywhere stands for all places, behind a value that may be many words.
const anywhere = -1

// afterOptions finds where a subcommand may stand: behind the options at the start of words, and
// behind their values. Of an option that no table knows it is uncertain whether it takes the next
// word.
func afterOptions(program string, words []word) map[int]certainty {
	ends := map[int]certainty{}
	at := map[int]certainty{0: sure}
	for i, w := range words {
		c, reached := at[i]
		if !reached || !w.known || !strings.HasPrefix(w.text, "-") || w.text == "-" {
			continue
		}
		one, two := c, no
		switch takes, known := programs.Globals(program, w.text); {
		case takes:
			one, two = no, c
		case !known && !strings.Contains(w.text, "=") && w.text != "--":
			two = possible
		}
		if two > no && i+1 < len(words) && !words[i+1].known && !words[i+1].whole {
			ends[anywhere] = possible // the value may be many words
		}
		for step, c := range map[int]certainty{1: one, 2: two} {
			if c > no {
				at[i+step] = max(at[i+step], c)
				ends[i+step] = max(ends[i+step], c)
			}
		}
	}
	return ends
}
