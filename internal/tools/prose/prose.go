// Package prose counts signs of unreadable prose in the module's comments. Its test keeps the
// counts from rising; no program imports it.
//
// Start reading at Count.
package prose

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// Tells holds counts by kind.
type Tells map[string]int

// Kinds of signs, each with an example and the better wording.
const (
	Wide    = "wide"    // a comment line longer than 100 columns
	Clause  = "clause"  // a clause as the subject of a sentence: "What is left is …"; name the thing
	Riddle  = "riddle"  // a fragment that explains a value: "nil: nobody counts"; write "Optional."
	Persons = "persons" // "the person", meaning the user
)

// Kinds returns all kinds.
func Kinds() []string { return []string{Wide, Clause, Riddle, Persons} }

// tells holds the expressions for kinds found by one.
var tells = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		Clause:  regexp.MustCompile(`(?:^|[.:;] )(?:What|Who|Whoever|Which|what|who|whoever) (?:[a-z]+ ){1,12}?(?:is|are|was|were|has|have|does|do|goes|stays|comes|gets|takes)\b`),
		Riddle:  regexp.MustCompile(`(?:^|[;,.] )(?:nil|Nil|empty|Empty|zero|Zero|0|false|-1|""): `),
		Persons: regexp.MustCompile(`\b(?:[Tt]he|[Aa]|that|this|whose) persons?\b|\bpersons\b`),
	}
})

// Count counts in the comments of every Go file below root except tests.
func Count(root fs.FS) (Tells, error) {
	out := Tells{}
	err := fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if at != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(at) != ".go" || strings.HasSuffix(at, "_test.go") {
			return nil
		}
		raw, err := fs.ReadFile(root, at)
		if err != nil {
			return err
		}
		return out.add(at, raw)
	})
	return out, err
}

func (t Tells) add(name string, source []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:") {
				continue
			}
			for line := range strings.Lines(c.Text) {
				if utf8.RuneCountInString(strings.TrimRight(line, "\n")) > 100 {
					t[Wide]++
				}
			}
		}
		text := strings.Join(strings.Fields(group.Text()), " ")
		for kind, tell := range tells() {
			t[kind] += len(tell.FindAllString(text, -1))
		}
	}
	return nil
}
