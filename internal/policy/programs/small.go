package programs

import (
	"regexp"
	"strings"
	"sync"

	"adze/internal/policy/script"
)

// outward matches jq code that reads more than its input: other files, and the environment.
var outward = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(import|include|env|ENV|modulemeta|get_search_list|input_filename|\$__prog\w*)\b`)
})

// query reports whether a jq program reads only its input. A string with one of those words is
// rejected, too.
func query(text string) bool { return !outward().MatchString(text) }

// printf reports whether its first word is a format that only prints: -v sets a variable, whose
// name is evaluated, and %n sets the one named by a further word, such as PATH.
func printf(args []script.Word) bool {
	if len(args) > 1 && args[0].Equals("--") {
		args = args[1:]
	} else if len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		return false
	}
	return len(args) > 0 && args[0].Known && !args[0].Placeholder && !counts().MatchString(strings.ReplaceAll(args[0].Text, "%%", ""))
}

// counts matches %n in a format, with flags and widths.
var counts = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`%[^A-Za-z(]*[hlLqjzt]*n`) })

// tests reports whether a test has one unambiguous form. It reveals only that a file exists.
func tests(words []script.Word) bool {
	args := words[1:]
	if words[0].Text == "[" {
		if len(args) == 0 || !args[len(args)-1].Equals("]") {
			return false
		}
		args = args[:len(args)-1]
	}
	if len(args) > 0 && args[0].Equals("!") {
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

// chosen returns patterns for the names read by a tree search; nil means all.
func (s *scan) chosen() (only []string) {
	if s.reads != nil {
		return s.reads
	}
	for _, v := range s.patterns {
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

// unpacked adds a file that is also tried with an extension if it does not exist.
func (s *scan) unpacked(path string, endings ...string) {
	s.access(Read, path)
	if path == "" || path == "-" {
		return
	}
	for _, ending := range endings {
		s.access(Read, path+ending)
	}
}

// packages handles a Go package name. A leading dot or slash means a folder, whose source go doc
// shows, too; a dot in the last part may separate a symbol.
func (s *scan) packages(name string, shown bool) {
	if !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~") {
		s.odd = s.odd || strings.Contains(name, "..") && !strings.HasSuffix(name, "...") || strings.Contains(name, "/../")
		return
	}
	folder := strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/")
	if folder == "" && strings.HasPrefix(name, "/") {
		folder = "/"
	}
	if !shown {
		s.access(List, folder)
		return
	}
	s.access(Tree, folder)
	start := strings.LastIndexByte(folder, '/') + 1
	for i := start + 1; i < len(folder); i++ {
		if folder[i] == '.' && strings.Trim(folder[start:i], ".") != "" {
			s.access(Tree, folder[:i])
		}
	}
}
