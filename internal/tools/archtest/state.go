package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// Rules for exceptions.
const (
	ruleInit    = "init"
	ruleWork    = "work at import"
	ruleMutable = "mutable variable"
)

// cheapCalls may initialize a package variable: they make an error, or defer the work.
func cheapCalls() []string {
	return []string{"errors.New", "fmt.Errorf", "sync.OnceValue", "sync.OnceValues", "sync.OnceFunc",
		"strings.NewReplacer", "reflect.TypeFor", "len", "string", "byte"}
}

// changingTypes are mutable by nature; a package variable must not have one.
func changingTypes() []string {
	return []string{"sync.", "atomic.", "bytes.Buffer", "strings.Builder"}
}

// state forbids work at import and changes to package variables.
func (c *checker) state(p *pkg) {
	vars := map[string]*ast.Ident{}
	for _, f := range p.files {
		if f.test {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				c.initFunction(p, d)
			case *ast.GenDecl:
				c.variables(p, d, vars)
			}
		}
	}
	for _, f := range p.files {
		if !f.test {
			c.changes(p, f, vars)
		}
	}
}

func (c *checker) initFunction(p *pkg, fn *ast.FuncDecl) {
	if fn.Name.Name == "init" && fn.Recv == nil && !c.excused(ruleInit, p, "init") {
		c.report(c.module.at(fn), "do it in a constructor, or at first use with sync.OnceValue",
			"init() is work at import")
	}
}

func (c *checker) variables(p *pkg, d *ast.GenDecl, vars map[string]*ast.Ident) {
	if d.Tok != token.VAR {
		return
	}
	for _, s := range d.Specs {
		spec := s.(*ast.ValueSpec) // a var declaration holds nothing else
		for _, name := range spec.Names {
			if name.Name == "_" { // an interface check
				continue
			}
			vars[name.Name] = name
			if t := typeText(spec); changing(t) && !c.excused(ruleMutable, p, name.Name) {
				c.report(c.module.at(name), "make it a field of what owns it", "the package variable %s has type %s and will change", name.Name, t)
			}
			if call := work(spec.Values); call != "" && !c.excused(ruleWork, p, name.Name) {
				c.report(c.module.at(name), "wrap it: var "+name.Name+" = sync.OnceValue(func() … )",
					"the package variable %s calls %s at import", name.Name, call)
			}
		}
	}
}

func typeText(spec *ast.ValueSpec) string {
	if spec.Type != nil {
		return exprText(spec.Type)
	}
	for _, v := range spec.Values {
		if lit, ok := v.(*ast.CompositeLit); ok {
			return exprText(lit.Type)
		}
	}
	return ""
}

func changing(t string) bool {
	return slices.ContainsFunc(changingTypes(), func(prefix string) bool { return strings.HasPrefix(t, prefix) })
}

// work finds a call that runs at import. Function literals run later; conversions and cheap calls
// are allowed.
func work(values []ast.Expr) (call string) {
	for _, v := range values {
		ast.Inspect(v, func(n ast.Node) bool {
			if _, later := n.(*ast.FuncLit); later {
				return false
			}
			if ce, ok := n.(*ast.CallExpr); ok && call == "" && !cheap(ce) {
				call = exprText(ce.Fun)
			}
			return true
		})
	}
	return call
}

func cheap(ce *ast.CallExpr) bool {
	switch ce.Fun.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ParenExpr, *ast.InterfaceType:
		return true // a conversion
	}
	return slices.Contains(cheapCalls(), exprText(ce.Fun))
}

// changes finds assignments to a package variable or its parts, and uses of its address.
func (c *checker) changes(p *pkg, f *file, vars map[string]*ast.Ident) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		for _, target := range changed(n) {
			name := rootOf(target)
			if name == nil || vars[name.Name] == nil || shadowed(name, vars[name.Name]) || c.excused(ruleMutable, p, name.Name) {
				continue
			}
			c.report(c.module.at(n), "make it a field of what owns it, or pass it in",
				"the package variable %s changes here", name.Name)
		}
		return true
	})
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
			return slices.DeleteFunc([]ast.Expr{n.Key, n.Value}, func(e ast.Expr) bool { return e == nil })
		}
	case *ast.CallExpr:
		if fn := exprText(n.Fun); (fn == "delete" || fn == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// rootOf returns the variable at the root of an expression: m for m[k].f.
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// shadowed reports whether a name is local. The parser binds names to declarations in the same
// file; a package variable from another file stays unbound.
func shadowed(name, packageVar *ast.Ident) bool {
	return name.Obj != nil && name.Obj != packageVar.Obj
}

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
	case *ast.IndexListExpr:
		return exprText(x.X)
	}
	return ""
}
