// Package script parses shell texts: Lower lists the elements of any text, and Read converts the
// part of the language that can be judged before it runs into a form that bash can read in only one
// way.
//
// The one rule: the judged text is the one that runs. Text quotes every word again, inserts the
// file names for patterns and the values of known variables, and unrolls loops over known words. So
// neither differences between this parser and bash nor files created meanwhile change the judged
// text.
//
// Start reading at Lower and Read. lower.go lists a text's elements, read.go handles statements,
// word.go words for both, and write.go writes the result.
//
// Known limits: Read accepts programs with words and redirections, lists, pipelines, groups, if,
// loops over known words and over lines, cd and variables. All other text requires a question.
package script

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxSteps = 200  // programs in one text
	maxNames = 1000 // names for one pattern
)

// Start is a text's initial state.
type Start struct {
	Dir  string // absolute, links resolved
	Home string // empty if unknown
	// Names lists a folder, for patterns. Its error is fs.ErrNotExist if there is no folder, and
	// any other if it may not be listed. If nil, patterns are rejected.
	Names func(dir string) ([]string, error)
	// Folder resolves cd's target.
	Folder func(dir, name string) (string, error)
	// Quiet reports whether a program changes no file, so that earlier file reads stay valid.
	Quiet func(words []Word) bool
}

// A Script is a converted text.
type Script struct {
	Steps []*Step
	body  code
}

// A Step is one program or, without Words, a group's files.
type Step struct {
	Words []Word
	Set   []Setting
	Files []File
	Input bool   // it has input text
	Dir   string // where it runs
	Late  bool   // earlier programs may have changed files
	Enter string // cd's target as written
	// Guards are checked just before it runs; Instead replaces its words.
	Guards       []Guard
	Instead      []string
	InRoot       bool // it runs in the root folder
	fixed        code // in place of its words
	redirections code // redirections as written
}

// A Setting is NAME=value before a program.
type Setting struct {
	Name  string
	Value Word
}

// A File is a redirection's target.
type File struct {
	Path  Word
	Write bool
}

// A Guard asserts that a name still leads to the judged path.
type Guard struct{ Name, Dir, Abs string }

// Fixed returns a setting with a known value.
func Fixed(name, value string) Setting { return Setting{name, Literal(value)} }

// Empty reports whether a text does nothing.
func (s Script) Empty() bool { return len(s.body) == 0 }

func refuse(format string, args ...any) error { return fmt.Errorf(format, args...) }

// source returns a node's text for messages.
func source(n syntax.Node) string {
	var b strings.Builder
	if syntax.NewPrinter().Print(&b, n) != nil {
		return "a word that cannot be read"
	}
	return b.String()
}
