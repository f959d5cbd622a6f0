// Gitkeys reads git's own documentation for settings that may name a program, and writes the table
// by which the tests of internal/files/git know them.
//
//	go run ./internal/tools/gitkeys -source FOLDER
//
// FOLDER is a clone of git's repository with its tags. The table has a row for each key whose
// documentation speaks of programs: since when git documents it, until when, and whether git runs
// what it names. The last is a maintainer's verdict and is kept; a key without one gets a question
// mark, on which the tests fail. For a new version of git: fetch, run it again, judge the new rows,
// and make git.Guard override those that run something.
//
// Start reading at documented.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const table = "internal/files/git/testdata/programs.txt"

func main() {
	source := flag.String("source", "", "a clone of git's repository")
	out := flag.String("table", table, "the table, which is read and written")
	flag.Parse()
	if err := run(*source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "gitkeys:", err)
		os.Exit(1)
	}
}

func run(source, path string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	versions, err := releases(source)
	if err != nil {
		return err
	}
	keys, r := map[string]*key{}, newReader()
	for _, v := range versions {
		text, err := documentation(source, v)
		if err != nil {
			return err
		}
		for name, about := range r.documented(text) {
			k := keys[name]
			if k == nil {
				k = &key{since: v}
				keys[name] = k
			}
			k.last, k.speaks = v, k.speaks || r.speaks.MatchString(about) || r.named.MatchString(name)
		}
	}
	return os.WriteFile(path, []byte(write(keys, verdicts(string(old)), versions)), 0o644)
}

// key is a setting over the versions of git.
type key struct {
	since, last string
	speaks      bool // its documentation speaks of programs
}

// oldest is the first version that is read. A key that it has may be older.
const oldest = 20

// releases lists the feature releases of git 2, the oldest first.
func releases(source string) (versions []string, err error) {
	out, err := git(source, "tag", "--list", "v2.*.0")
	for tag := range strings.FieldsSeq(out) {
		if minor(tag) >= oldest {
			versions = append(versions, tag)
		}
	}
	slices.SortFunc(versions, func(a, b string) int { return cmp.Compare(minor(a), minor(b)) })
	if err == nil && len(versions) == 0 {
		err = fmt.Errorf("%s has no tags of git; fetch them", source)
	}
	return versions, err
}

func minor(tag string) int {
	part := strings.Split(tag, ".")
	n, err := strconv.Atoi(part[1])
	if err != nil || len(part) != 3 {
		return -1
	}
	return n
}

// documentation is the text of the manual pages at a tag.
func documentation(source, tag string) (string, error) {
	return git(source, "grep", "-h", "-I", "-e", "", tag, "--",
		":(glob)Documentation/*.txt", ":(glob)Documentation/*.adoc", ":(glob)Documentation/config/*")
}

func git(source string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", source}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", args[0], source, err)
	}
	return string(out), nil
}

// reader finds settings in manual pages.
type reader struct {
	label  *regexp.Regexp // a line that begins the description of a key
	other  *regexp.Regexp // a line that begins another description
	quoted *regexp.Regexp // a key in a sentence
	named  *regexp.Regexp // a key whose name speaks of a program
	speaks *regexp.Regexp // a description that speaks of programs
}

func newReader() reader {
	return reader{
		label:  regexp.MustCompile("^`?([a-z][A-Za-z0-9-]*(?:\\.[^\\s.:`]+)*\\.[A-Za-z*<>-]+)`?(?: \\([A-Za-z]+\\))?::\\s*$"),
		other:  regexp.MustCompile(`^\S.*::\s*$`),
		quoted: regexp.MustCompile("`([a-z][A-Za-z0-9-]*\\.(?:<[a-z -]+>\\.)?[A-Za-z]+)`"),
		named:  regexp.MustCompile(`(?i)(cmd|command|program|hook|helper|driver|editor|pager|browser|clean|smudge|process|textconv)$`),
		speaks: regexp.MustCompile(`(?i)\b(commands?( line)? to|(shell|proxy|external|driver) commands?|programs?|scripts?|executables?|shell|hooks?|hookspath|editor|pager|(diff|merge) ?tools?|helpers?|viewer|browser|(will be|is) (run|executed|invoked|called)|cmd|command|httpd|include|override the path|templates?|ext)\b`),
	}
}

// documented lists the keys that manual pages describe, with what they say. Labels that follow each
// other share their text. A key of a name's own that only a sentence names counts too.
func (r reader) documented(pages string) map[string]string {
	keys := map[string]string{}
	var open []string
	said := false
	for line := range strings.Lines(pages) {
		for _, m := range r.quoted.FindAllStringSubmatch(line, -1) {
			if r.named.MatchString(m[1]) {
				keys[m[1]] += ""
			}
		}
		if m := r.label.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			if said {
				open, said = nil, false
			}
			open = append(open, m[1])
			keys[m[1]] += " "
			continue
		}
		if r.other.MatchString(line) {
			open = nil
		}
		for _, k := range open {
			keys[k] += line
		}
		said = said || strings.TrimSpace(line) != ""
	}
	return keys
}

// verdicts reads what people have said of the keys of a table.
func verdicts(text string) map[string]string {
	said := map[string]string{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 4 && f[0] != "#" {
			said[f[0]] = f[3]
		}
	}
	return said
}

func write(keys map[string]*key, said map[string]string, versions []string) string {
	newest := versions[len(versions)-1]
	var b strings.Builder
	fmt.Fprintf(&b, "# Settings whose documentation speaks of programs, from %s to %s, by internal/tools/gitkeys.\n", versions[0], newest)
	b.WriteString("# runs: git runs what it names. leads: it leads git to files that name programs, or to another place.\n" +
		"# no: neither. ?: nobody has judged it yet.\n# key since until verdict\n")
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		k := keys[name]
		if !k.speaks && said[name] == "" {
			continue
		}
		until := "-"
		if k.last != newest {
			until = k.last
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", name, k.since, until, cmp.Or(said[name], "?"))
	}
	return b.String()
}
