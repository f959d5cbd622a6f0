package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Rules for exceptions.
const (
	ruleInit    = "init"
	ruleWork    = "work at import"
	ruleMutable = "mutable variable"
)

// cheap calls may initialize a package variable: they make an error, or defer the work.
const cheap = "errors.New fmt.Errorf sync.OnceValue sync.OnceValues sync.OnceFunc strings.NewReplacer reflect.TypeFor len"

// state forbids work at import and changes to package variables.
func (c *checker) state(p *pkg, f *file) {
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "init" && d.Recv == nil && !c.excused(ruleInit, p, "init") {
				c.report(c.module.at(d), "do it in a constructor, or at first use with sync.OnceValue", "init() is work at import")
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if spec, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && spec.Names[0].Name != "_" {
					c.variable(p, spec)
				}
			}
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		for _, target := range changed(n) {
			if name := c.variableOf(target); name != "" && !c.excused(ruleMutable, p, name) {
				c.report(c.module.at(n), "make it a field of what owns it, or pass it in", "the package variable %s changes here", name)
			}
		}
		return true
	})
}

// variable checks the type of a package variable, and the calls that run at import. Function
// literals run later, and conversions are free.
func (c *checker) variable(p *pkg, spec *ast.ValueSpec) {
	name := spec.Names[0].Name
	kind := exprText(spec.Type)
	for _, v := range spec.Values {
		if lit, ok := v.(*ast.CompositeLit); ok && kind == "" {
			kind = exprText(lit.Type)
		}
		ast.Inspect(v, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if ok && !c.info.Types[call.Fun].IsType() && !slices.Contains(strings.Fields(cheap), exprText(call.Fun)) && !c.excused(ruleWork, p, name) {
				c.report(c.module.at(spec), "wrap it: var "+name+" = sync.OnceValue(func() … )", "the package variable %s calls %s at import", name, exprText(call.Fun))
			}
			_, later := n.(*ast.FuncLit)
			return !ok && !later
		})
	}
	if library, _, _ := strings.Cut(kind, "."); (library == "sync" || library == "atomic" || kind == "bytes.Buffer" || kind == "strings.Builder") && !c.excused(ruleMutable, p, name) {
		c.report(c.module.at(spec), "make it a field of what owns it", "the package variable %s has type %s and will change", name, kind)
	}
}

// changed lists the expressions that a node writes to.
func changed(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.CallExpr:
		if fn := exprText(n.Fun); (fn == "delete" || fn == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// variableOf returns the package variable at the root of an expression (m for m[k].f), or "".
func (c *checker) variableOf(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		if v, ok := c.info.Uses[x].(*types.Var); ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
			return x.Name
		}
	case *ast.IndexExpr:
		return c.variableOf(x.X)
	case *ast.SelectorExpr:
		return c.variableOf(x.X)
	case *ast.StarExpr:
		return c.variableOf(x.X)
	case *ast.ParenExpr:
		return c.variableOf(x.X)
	}
	return ""
}

// exprText writes a name as in the source, without arguments of a type.
func exprText(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return exprText(x.X) + "." + x.Sel.Name
	case *ast.StarExpr:
		return "*" + exprText(x.X)
	case *ast.IndexExpr:
		return exprText(x.X)
	}
	return ""
}
