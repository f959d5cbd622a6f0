package archtest

import (
	"cmp"
	"go/ast"
	"go/types"
	"io/fs"
	"slices"
	"strings"
)

// Reach is the number of functions that can access a struct type's state. A function in the type's
// package counts if it uses one of the unexported fields, or if its receiver or a parameter is the
// type or a struct with a field of the type. Turning methods into functions or moving them between
// files does not change it; only splitting the state does.
type Reach struct {
	Type      string // package path and name, such as tui.model
	Functions int
}

// Reaches returns the reach of every struct type with unexported fields, largest first, without
// test files.
func Reaches(root fs.FS) ([]Reach, error) {
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	t := check(m)
	owners, stateful := map[*types.Var]*types.TypeName{}, map[*types.TypeName]bool{}
	for _, p := range t.packages {
		for _, name := range p.Scope().Names() {
			if tn, ok := p.Scope().Lookup(name).(*types.TypeName); ok && !tn.IsAlias() {
				for _, field := range fieldsOf(tn.Type()) {
					if !field.Exported() {
						owners[field], stateful[tn] = tn, true
					}
				}
			}
		}
	}
	reach := map[*types.TypeName]int{}
	for _, p := range m.packages {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && !f.test {
					for tn := range t.touches(fn, owners) {
						if stateful[tn] && tn.Pkg().Path() == m.name+"/"+p.path {
							reach[tn]++
						}
					}
				}
			}
		}
	}
	var out []Reach
	for tn, n := range reach {
		out = append(out, Reach{strings.TrimPrefix(tn.Pkg().Path(), m.name+"/") + "." + tn.Name(), n})
	}
	slices.SortFunc(out, func(a, b Reach) int {
		return cmp.Or(cmp.Compare(b.Functions, a.Functions), cmp.Compare(a.Type, b.Type))
	})
	return out, nil
}

// touches returns the struct types that a function can access: those of its receiver and its
// parameters, of their fields, and the owners of the fields that it uses.
func (t *typed) touches(fn *ast.FuncDecl, owners map[*types.Var]*types.TypeName) map[*types.TypeName]bool {
	out := map[*types.TypeName]bool{}
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params} {
		if list == nil {
			continue
		}
		for _, param := range list.List {
			typ := t.info.Types[param.Type].Type
			out[structOf(typ)] = true
			for _, field := range fieldsOf(typ) {
				out[structOf(field.Type())] = true
			}
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if field, ok := t.info.Uses[id].(*types.Var); ok && field.IsField() {
				out[owners[field.Origin()]] = true
			}
		}
		return true
	})
	delete(out, nil)
	return out
}

// fieldsOf returns the fields of the named struct type behind a type.
func fieldsOf(typ types.Type) (out []*types.Var) {
	if tn := structOf(typ); tn != nil {
		out = slices.Collect(tn.Type().Underlying().(*types.Struct).Fields())
	}
	return out
}

// structOf returns the named struct type behind pointers, slices, arrays and maps, or nil.
func structOf(typ types.Type) *types.TypeName {
	for {
		switch t := types.Unalias(typ).(type) {
		case interface{ Elem() types.Type }:
			typ = t.Elem()
		case *types.Named:
			if _, ok := t.Underlying().(*types.Struct); ok {
				return t.Origin().Obj()
			}
			return nil
		default:
			return nil
		}
	}
}
