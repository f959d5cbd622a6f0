package archtest

import (
	"go/ast"
	"slices"
)

// How far a type and a package may spread. One struct whose methods stand everywhere is where everything meets: what
// is inside of it has no boundary that a reader, or this test, could see.
const (
	maxTypeFiles    = 12
	maxPackageFiles = 30
)

// ruleCrowd is excused for a type by its name, for a package by the name "files".
const ruleCrowd = "crowd"

// crowds checks in how many files the methods of a type stand, and how many files a package has.
func (c *checker) crowds(p *pkg) {
	files := 0
	spread := map[string]int{}
	for _, f := range p.files {
		if f.test {
			continue
		}
		files++
		for _, name := range receivers(f.ast) {
			spread[name]++
		}
	}
	if files > maxPackageFiles && !c.excused(ruleCrowd, p, "files") {
		c.report(p.path, "find the nouns in it and give each a room with a small face",
			"%s has %d files, at most %d", p.path, files, maxPackageFiles)
	}
	for name, n := range spread {
		if n > maxTypeFiles && !c.excused(ruleCrowd, p, name) {
			c.report(p.path, "find the nouns inside the type: what needs only a part of it belongs to that part",
				"the methods of %s stand in %d files, at most %d", name, n, maxTypeFiles)
		}
	}
}

// receivers are the types that have methods in a file, each once.
func receivers(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || len(fn.Recv.List) != 1 {
			continue
		}
		if name := receiver(fn.Recv.List[0].Type); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// receiver is the name of a method's type, without pointer and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
