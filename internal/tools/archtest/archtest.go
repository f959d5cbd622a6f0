// Package archtest checks the module's structure: the imports between rooms (arrows.go), the state
// of packages (state.go), and what only one place does (ways.go): it starts processes, replaces
// files, reads lines with a limit and runs tools. Nothing imports it; its
// test checks the real tree.
//
// The one rule: an exception is a line in this package with its reason, and an unused exception is
// a failure.
//
// Start reading at the table in arrows.go, then Check.
//
// Known limits: a change through a stored pointer is not seen. Files of all build tags are read as
// one package.
package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
)

// A Violation is one broken rule: place, problem, and next step.
type Violation struct {
	Where string // file:line, or a package
	What  string
	Fix   string
}

func (v Violation) String() string { return v.Where + ": " + v.What + "\n\tfix: " + v.Fix }

// Check reads every Go file in the module at root and returns the violations, ordered by place.
func Check(root fs.FS, rules Rules) ([]Violation, error) {
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	c := &checker{typed: check(m), rules: rules, used: map[Exception]bool{}}
	runs := c.runsOfTools()
	listed := starts(rules.Starts)
	for _, p := range m.packages {
		c.arrows(p)
		c.story(p)
		for _, f := range p.files {
			if !f.test {
				c.state(p, f)
				c.ways(p, f, runs, listed)
			}
		}
	}
	for file := range listed {
		c.report(file, "take it out of starts.go", "a file that starts processes is listed, and not there")
	}
	for _, e := range rules.Exceptions {
		if !c.used[e] {
			c.report(e.Package, "delete the line from Exceptions", "the exception %q for %s excuses nothing", e.Rule, e.Name)
		}
		if e.Why == "" {
			c.report(e.Package, "give the reason", "the exception %q for %s has no reason", e.Rule, e.Name)
		}
	}
	sort.SliceStable(c.found, func(i, j int) bool { return c.found[i].Where < c.found[j].Where })
	return c.found, nil
}

// Rules holds the table and its exceptions.
type Rules struct {
	Table      []Row
	Exceptions []Exception
	Starts     string // rows of files that start processes
}

// An Exception allows one name in one package to break one rule.
type Exception struct {
	Rule    string // a rule's name
	Package string
	Name    string
	Why     string
}

type checker struct {
	*typed
	rules Rules
	used  map[Exception]bool
	found []Violation
}

func (c *checker) report(where, fix, format string, args ...any) {
	c.found = append(c.found, Violation{Where: where, What: fmt.Sprintf(format, args...), Fix: fix})
}

// excused reports whether an exception covers a name, and marks it as used.
func (c *checker) excused(rule string, p *pkg, name string) bool {
	for _, e := range c.rules.Exceptions {
		if e.Rule == rule && e.Package == p.path && e.Name == name {
			c.used[e] = true
			return true
		}
	}
	return false
}

type module struct {
	name     string
	fset     *token.FileSet
	packages []*pkg
}

// pkg is one folder with Go files. Its path is relative to the module; "." is main.
type pkg struct {
	path  string
	files []*file
}

type file struct {
	path string
	ast  *ast.File
	test bool
	text string
}

func (m *module) at(n ast.Node) string {
	pos := m.fset.Position(n.Pos())
	return pos.Filename + ":" + strconv.Itoa(pos.Line)
}

func (m *module) find(path string) *pkg {
	for _, p := range m.packages {
		if p.path == path {
			return p
		}
	}
	return nil
}

func load(root fs.FS) (*module, error) {
	text, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return nil, err
	}
	m := &module{name: strings.Fields(string(text))[1], fset: token.NewFileSet()}
	err = fs.WalkDir(root, ".", func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if at != "." && skipped(root, at, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(at) != ".go" {
			return nil
		}
		return m.add(root, at)
	})
	return m, err
}

// skipped reports folders that the go command ignores, and nested modules.
func skipped(root fs.FS, at, name string) bool {
	if name == "testdata" || name == "vendor" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(at, "go.mod"))
	return err == nil
}

func (m *module) add(root fs.FS, at string) error {
	text, err := fs.ReadFile(root, at)
	if err != nil {
		return err
	}
	parsed, err := parser.ParseFile(m.fset, at, text, parser.ParseComments)
	if err != nil {
		return err
	}
	p := m.find(path.Dir(at))
	if p == nil {
		p = &pkg{path: path.Dir(at)}
		m.packages = append(m.packages, p)
	}
	p.files = append(p.files, &file{
		path: at, ast: parsed, test: strings.HasSuffix(at, "_test.go"), text: string(text),
	})
	return nil
}

// story requires one file in each package to open with its purpose and a starting point. A program
// needs only the purpose, a package of tests nothing.
func (c *checker) story(p *pkg) {
	tests := true
	for _, f := range p.files {
		doc := f.ast.Doc.Text()
		if !f.test && (doc != "" && f.ast.Name.Name == "main" || strings.HasPrefix(doc, "Package ") && strings.Contains(doc, "tart")) {
			return
		}
		tests = tests && f.test
	}
	if !tests {
		c.report(p.path, "open one file with: Package NAME …, the one rule, where to start", "the package does not tell what it is for or where to start")
	}
}
