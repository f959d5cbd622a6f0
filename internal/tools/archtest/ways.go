package archtest

import (
	"go/ast"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Rules for exceptions; the name is the file's.
const (
	ruleRename = "gives a file another name"
	ruleLine   = "reads a line in pieces"
	ruleExec   = "runs a call"
)

// way reserves names of libraries to one tree.
type way struct{ rule, tree, fix, names string }

var ways = []way{
	{ruleRename, "internal/osfile/atomicfile", "replace a file by internal/osfile/atomicfile, which leaves the old one or the new one, and cleans up",
		"os.Rename syscall.Rename syscall.Renameat golang.org/x/sys/unix.Rename golang.org/x/sys/unix.Renameat golang.org/x/sys/unix.Renameat2 golang.org/x/sys/unix.RenameatxNp"},
	{ruleLine, "internal/text/lineread", "read lines by internal/text/lineread, which bounds them", "bufio.ErrBufferFull"},
}

// starting names what starts a process. A file may use it if its row in starts.go says so.
const starting = "os/exec.Command os/exec.CommandContext os/exec.Cmd os.StartProcess syscall.ForkExec syscall.StartProcess syscall.Exec syscall.SYS_EXECVE " +
	"syscall.SYS_EXECVEAT syscall.SYS_FORK syscall.SYS_VFORK golang.org/x/sys/unix.Exec golang.org/x/sys/unix.SYS_EXECVE golang.org/x/sys/unix.SYS_EXECVEAT " +
	"golang.org/x/sys/unix.SYS_FORK golang.org/x/sys/unix.SYS_VFORK plugin.Open github.com/creack/pty.Start github.com/creack/pty.StartWithSize " +
	"github.com/creack/pty.StartWithAttrs golang.org/x/sys/execabs.Command golang.org/x/sys/execabs.CommandContext"

const supervised = "internal/sandbox/proc"

// ways checks a file for what only one place does. Function values count as calls do, and tools are
// known by their types, so that no alias hides one.
func (c *checker) ways(p *pkg, f *file, runs map[types.Object]bool, listed map[string]start) {
	places, direct := 0, false
	reserve := func(n ast.Node, name string) {
		if slices.Contains(strings.Fields(starting), name) {
			places++
			direct = true
		}
		for _, w := range ways {
			if slices.Contains(strings.Fields(w.names), name) && !covers(w.tree, p.path) && !c.excused(w.rule, p, path.Base(f.path)) {
				c.report(c.module.at(n), w.fix, "%s %s", name, w.rule)
			}
		}
	}
	for _, spec := range f.ast.Imports {
		if target, _ := strconv.Unquote(spec.Path.Value); spec.Name != nil && spec.Name.Name == "." && strings.Contains(" "+starting, " "+target+".") {
			c.report(c.module.at(spec), "import it by its name", "%s is imported without a name, which hides what starts a process", target)
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if library, ok := c.info.Uses[x].(*types.PkgName); ok {
					reserve(n, library.Imported().Path()+"."+n.Sel.Name)
				}
			}
			switch c.member(n) {
			case "Runner.Exec":
				if p.path != "session" && !c.excused(ruleExec, p, path.Base(f.path)) {
					c.report(c.module.at(n), "make it a call of a session", "tool.Runner.Exec is used outside of the session")
				}
			case "Config.Run":
				if p.path != "tool" {
					c.report(c.module.at(n), "make it a call, and have a runner run it", "the code of a tool is reached around the gate")
				}
			}
		case *ast.CallExpr:
			if runs[c.object(n.Fun)] {
				c.report(c.module.at(n), "make it a call, and have a runner run it", "%s is the code of a tool, and is called around the gate", exprText(n.Fun))
			}
		case *ast.CompositeLit:
			if named := c.named(n); named == supervised+".Command" && (p.path != supervised || len(n.Elts) > 0) {
				places++
			}
		}
		return true
	})
	row := listed[f.path]
	delete(listed, f.path)
	if places != row.places {
		c.report(f.path, "start it with internal/sandbox/proc, which ends what it leaves; say in starts.go who is asked before it, where it starts and where it looks for programs",
			"it starts a process at %d places, and %d are listed", places, row.places)
	} else if direct == (row.direct == "") && !covers(supervised, p.path) {
		c.report(f.path, "start it with internal/sandbox/proc, or give the reason in starts.go", "it starts a process itself: %t; the reason for that: %q", direct, row.direct)
	}
}

// named returns the type of an expression without a pointer and arguments, such as
// "internal/sandbox/proc.Command".
func (c *checker) named(e ast.Expr) string {
	t := c.info.Types[e].Type
	if t == nil {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(types.TypeString(t, nil), "*"), "[")
	return strings.TrimPrefix(name, c.module.name+"/")
}

// member returns the type and the field or method of package tool that a selector names, or "".
func (c *checker) member(n *ast.SelectorExpr) string {
	if of, ok := strings.CutPrefix(c.named(n.X), "tool."); ok && (of == "Runner" || of == "Config") {
		return of + "." + n.Sel.Name
	}
	return ""
}

// runsOfTools returns the functions and methods that are the Run of a tool.
func (c *checker) runsOfTools() map[types.Object]bool {
	out := map[types.Object]bool{}
	for e := range c.info.Types {
		lit, ok := e.(*ast.CompositeLit)
		if !ok || c.named(lit) != "tool.Config" {
			continue
		}
		for _, e := range lit.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok && exprText(kv.Key) == "Run" {
				if o := c.object(kv.Value); o != nil {
					out[o] = true
				}
			}
		}
	}
	return out
}

// object returns the function that an expression names, or nil.
func (c *checker) object(e ast.Expr) types.Object {
	var name *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		name = e.Sel
	case *ast.ParenExpr:
		return c.object(e.X)
	case *ast.IndexExpr:
		return c.object(e.X)
	}
	if f, ok := c.info.Uses[name].(*types.Func); ok {
		return f.Origin()
	}
	return nil
}

// typed is the module with its own types; unknown imports are no error.
type typed struct {
	module   *module
	info     *types.Info
	packages map[string]*types.Package
}

func check(m *module) *typed {
	t := &typed{module: m, packages: map[string]*types.Package{}, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
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
	p := types.NewPackage(target, path.Base(target))
	p.MarkComplete()
	if len(files) > 0 {
		config := types.Config{Importer: t, Error: func(error) {}, FakeImportC: true}
		p, _ = config.Check(target, t.module.fset, files, t.info) // unknown names are no error here
	}
	t.packages[target] = p
	return p, nil
}
