package harmless

import (
	"regexp"
	"strings"
	"sync"
)

// outward finds what lets a jq program read more than its input: other files, and the environment.
var outward = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(import|include|env|ENV|modulemeta|get_search_list|input_filename|\$__prog\w*)\b`)
})

// query reports a jq program that reads its input alone. A string that holds one of those words is too much already.
func query(text string) bool { return !outward().MatchString(text) }

// printf reports that its first word is a format: behind -v it sets a variable, whose name is evaluated.
func printf(args []Word) bool {
	return len(args) > 0 && args[0].Known && (!strings.HasPrefix(args[0].Text, "-") || args[0].Text == "--" && len(args) > 1)
}

// tests reports a test in one of the forms that cannot be read in two ways. What it tells of a file is that it is there.
func tests(words []Word) bool {
	args := words[1:]
	if words[0].Text == "[" {
		if len(args) == 0 || args[len(args)-1] != (Word{Text: "]", Known: true}) {
			return false
		}
		args = args[:len(args)-1]
	}
	if len(args) > 0 && args[0] == (Word{Text: "!", Known: true}) {
		args = args[1:]
	}
	switch len(args) {
	case 1:
		return true
	case 2:
		return args[0].Known && oneOf(args[0].Text, "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-L", "-n", "-p", "-r", "-s", "-S", "-t", "-u", "-w", "-x", "-z", "-G", "-N", "-O")
	case 3:
		return args[1].Known && oneOf(args[1].Text, "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "<", ">")
	}
	return false
}

// chosen are the patterns of names outside of which a search of a tree reads nothing; nil: it reads all.
func (s *scan) chosen() (only []string) {
	for _, v := range s.chose {
		if strings.HasPrefix(v, "!") && len(only) > 0 {
			continue
		}
		if v == "" || strings.Trim(v, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-*") != "" {
			return nil
		}
		only = append(only, v)
	}
	return only
}
