package archtest

import (
	"go/ast"
	"strings"
)

// Tests are tables more often than not and get more room.
const (
	maxFile         = 300
	maxFileArgued   = 400
	maxTestFile     = 600
	maxFunction     = 60
	maxTestFunction = 100
	// reasonMark opens the comment that argues for a file of 300 to 400 lines.
	reasonMark = "// Longer than 300 lines: "
	// reasonWithin is how near the top the reason stands.
	reasonWithin = 40
)

// Guard names a function that everything wants to move into. It must exist under this name, and no
// exception can make it longer than 60 lines.
type Guard struct{ Package, Function string }

// Guards are the dispatchers that grow to thousands of lines elsewhere.
func Guards() []Guard {
	return []Guard{{"tool", "Exec"}, {"session", "Prompt"}, {"tui", "Update"}}
}

func (c *checker) sizes(p *pkg) {
	for _, f := range p.files {
		if ast.IsGenerated(f.ast) {
			continue
		}
		c.fileSize(f)
		limit := maxFunction
		if f.test {
			limit = maxTestFunction
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := c.lines(fn); n > limit {
				c.report(c.module.at(fn), "look for the missing noun and give it the inner part",
					"%s has %d lines, at most %d", fn.Name.Name, n, limit)
			}
		}
	}
}

func (c *checker) fileSize(f *file) {
	limit, fix := maxFile, "split it by thing, or argue up to 400 near the top with a comment: "+reasonMark+"…"
	switch {
	case f.test:
		limit, fix = maxTestFile, "split it by what it tests"
	case argued(f.text):
		limit, fix = maxFileArgued, "split it: the reason covers 400 lines"
	}
	if f.lines > limit {
		c.report(f.path, fix, "the file has %d lines, at most %d", f.lines, limit)
	}
}

// argued finds the reason for a long file; the mark alone is none.
func argued(text string) bool {
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > reasonWithin {
			return false
		}
		if reason, ok := strings.CutPrefix(strings.TrimSpace(line), reasonMark); ok && len(reason) > 10 {
			return true
		}
	}
	return false
}

func (c *checker) lines(n ast.Node) int {
	fset := c.module.fset
	return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1
}

// guards checks the named dispatchers of the packages that exist.
func (c *checker) guards() {
	for _, g := range c.rules.Guards {
		p := c.module.find(g.Package)
		if p == nil {
			continue
		}
		fns := p.functions(g.Function)
		if len(fns) == 0 {
			c.report(g.Package, "move the guard to the function's new name", "the guarded function %s is not there", g.Function)
		}
		for _, fn := range fns {
			if n := c.lines(fn); n > maxFunction {
				c.report(c.module.at(fn), "take a stage out of it; this limit has no exceptions",
					"the guarded function %s has %d lines, at most %d for ever", g.Function, n, maxFunction)
			}
		}
	}
}

func (p *pkg) functions(name string) []*ast.FuncDecl {
	var out []*ast.FuncDecl
	for _, f := range p.files {
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name && !f.test {
				out = append(out, fn)
			}
		}
	}
	return out
}
