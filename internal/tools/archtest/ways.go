package archtest

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// There is one way each: internal/sandbox/proc starts processes, internal/osfile/atomicfile
// replaces files, internal/text/lineread reads lines with a length limit, and tool.Runner.Exec runs
// tools, after the policy. The last is checked by types, so that no alias and no function value
// hides a bypass; the others by library names.

// Rules for exceptions; the name is the file's.
const (
	ruleProcess = "starts a process"
	ruleRename  = "gives a file another name"
	ruleLine    = "reads a line in pieces"
	ruleExec    = "runs a call"
)

// way is reserved to one tree.
type way struct {
	rule  string
	tree  string
	fix   string
	names map[string][]string // by package
}

func ways() []way {
	return []way{
		{ruleProcess, "internal/sandbox/proc", "start it with internal/sandbox/proc, which ends what it leaves and puts it into the sandbox", map[string][]string{
			"os/exec":                  {"Command", "CommandContext", "Cmd"},
			"os":                       {"StartProcess"},
			"syscall":                  {"ForkExec", "StartProcess", "Exec", "SYS_EXECVE", "SYS_EXECVEAT", "SYS_FORK", "SYS_VFORK"},
			"golang.org/x/sys/unix":    {"Exec", "SYS_EXECVE", "SYS_EXECVEAT", "SYS_FORK", "SYS_VFORK"},
			"plugin":                   {"Open"},
			"github.com/creack/pty":    {"Start", "StartWithSize", "StartWithAttrs"},
			"golang.org/x/sys/execabs": {"Command", "CommandContext"},
		}},
		{ruleRename, "internal/osfile/atomicfile", "replace a file by internal/osfile/atomicfile, which leaves the old one or the new one, and cleans up", map[string][]string{
			"os":                    {"Rename"},
			"syscall":               {"Rename", "Renameat"},
			"golang.org/x/sys/unix": {"Rename", "Renameat", "Renameat2", "RenameatxNp"},
		}},
		{ruleLine, "internal/text/lineread", "read lines by internal/text/lineread, which bounds them", map[string][]string{"bufio": {"ErrBufferFull"}}},
	}
}

// ways finds uses of reserved names outside their tree, including function values.
func (c *checker) ways(p *pkg) {
	for _, w := range ways() {
		if p.path == w.tree || strings.HasPrefix(p.path, w.tree+"/") {
			continue
		}
		for _, f := range p.files {
			if !f.test {
				c.way(w, p, f)
			}
		}
	}
}

func (c *checker) way(w way, p *pkg, f *file) {
	names := map[string][]string{}
	for _, spec := range f.ast.Imports {
		target, _ := strconv.Unquote(spec.Path.Value)
		forbidden, ok := w.names[target]
		switch {
		case !ok:
		case spec.Name == nil:
			names[path.Base(target)] = forbidden
		case spec.Name.Name == ".":
			c.report(c.module.at(spec), "import it by its name", "%s is imported without a name, which hides that it %s", target, w.rule)
		default:
			names[spec.Name.Name] = forbidden
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(names[x.Name], sel.Sel.Name) && !c.excused(w.rule, p, path.Base(f.path)) {
				c.report(c.module.at(n), w.fix, "%s %s", exprText(sel), w.rule)
			}
		}
		return true
	})
}

// calls finds bypasses of the tool pipeline: uses of Runner.Exec outside the session, uses of a
// tool's Run outside its declaration, and calls to functions declared as one.
func (c *checker) calls() {
	if c.module.find("tool") == nil {
		return
	}
	t := check(c.module)
	runs := t.declaredRuns()
	for _, p := range c.module.packages {
		for _, f := range p.files {
			if !f.test {
				c.waysIn(t, runs, p, f)
			}
		}
	}
}

func (c *checker) waysIn(t *typed, runs map[types.Object]bool, p *pkg, f *file) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			switch used := t.info.Uses[n.Sel]; {
			case t.member(used, "Runner", "Exec") && p.path != "session" && !c.excused(ruleExec, p, path.Base(f.path)):
				c.report(c.module.at(n), "make it a call of a session", "tool.Runner.Exec is used outside of the session")
			case t.member(used, "Config", "Run") && p.path != "tool":
				c.report(c.module.at(n), "make it a call, and have a runner run it", "the code of a tool is reached around the gate")
			}
		case *ast.CallExpr:
			if runs[t.called(n)] {
				c.report(c.module.at(n), "make it a call, and have a runner run it", "%s is the code of a tool, and is called around the gate", exprText(n.Fun))
			}
		}
		return true
	})
}

// typed is the module with its own types; unknown imports are no error.
type typed struct {
	module   *module
	info     *types.Info
	packages map[string]*types.Package
}

func check(m *module) *typed {
	t := &typed{module: m, packages: map[string]*types.Package{}, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	for _, p := range m.packages {
		_, _ = t.Import(m.name + "/" + p.path)
	}
	return t
}

// Import implements types.Importer.
func (t *typed) Import(target string) (*types.Package, error) {
	if done, ok := t.packages[target]; ok {
		return done, nil
	}
	var files []*ast.File
	if own, ok := strings.CutPrefix(target, t.module.name+"/"); ok {
		if p := t.module.find(own); p != nil {
			for _, f := range p.files {
				if !f.test {
					files = append(files, f.ast)
				}
			}
		}
	}
	if len(files) == 0 {
		unknown := types.NewPackage(target, path.Base(target))
		unknown.MarkComplete()
		t.packages[target] = unknown
		return unknown, nil
	}
	config := types.Config{Importer: t, Error: func(error) {}, FakeImportC: true}
	p, _ := config.Check(target, t.module.fset, files, t.info) // unknown names are no error here
	t.packages[target] = p
	return p, nil
}

// member reports whether an object is a field or method of a type in package tool, for any
// instance.
func (t *typed) member(used types.Object, of, name string) bool {
	if used == nil || used.Name() != name || used.Pkg() == nil || used.Pkg().Path() != t.module.name+"/tool" {
		return false
	}
	named, ok := used.Pkg().Scope().Lookup(of).(*types.TypeName)
	if !ok {
		return false
	}
	if f, ok := used.(*types.Func); ok {
		return sameOrigin(receiverOf(f), named)
	}
	v, ok := used.(*types.Var)
	if !ok || !v.IsField() {
		return false
	}
	st, ok := named.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range st.Fields() {
		if field == v.Origin() {
			return true
		}
	}
	return false
}

func receiverOf(f *types.Func) types.Type {
	if sig, ok := f.Type().(*types.Signature); ok && sig.Recv() != nil {
		return sig.Recv().Type()
	}
	return nil
}

func sameOrigin(t types.Type, named *types.TypeName) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && n.Origin().Obj() == named
}

// declaredRuns returns the functions and methods assigned to a tool's Run.
func (t *typed) declaredRuns() map[types.Object]bool {
	out := map[types.Object]bool{}
	for _, p := range t.module.packages {
		for _, f := range p.files {
			if f.test {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				lit, ok := n.(*ast.CompositeLit)
				if !ok || !t.isConfig(lit) {
					return true
				}
				for _, e := range lit.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Run" {
							if o := t.object(kv.Value); o != nil {
								out[o] = true
							}
						}
					}
				}
				return true
			})
		}
	}
	return out
}

func (t *typed) isConfig(lit *ast.CompositeLit) bool {
	tool := t.packages[t.module.name+"/tool"]
	named, ok := tool.Scope().Lookup("Config").(*types.TypeName)
	return ok && t.info.Types[lit].Type != nil && sameOrigin(t.info.Types[lit].Type, named)
}

func (t *typed) called(call *ast.CallExpr) types.Object { return t.object(call.Fun) }

func (t *typed) object(e ast.Expr) types.Object {
	var used types.Object
	switch e := e.(type) {
	case *ast.Ident:
		used = t.info.Uses[e]
	case *ast.SelectorExpr:
		used = t.info.Uses[e.Sel]
	case *ast.ParenExpr:
		return t.object(e.X)
	case *ast.IndexExpr:
		return t.object(e.X)
	}
	if f, ok := used.(*types.Func); ok {
		return f.Origin()
	}
	return nil
}
