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
	owners := t.owners()
	stateful := map[*types.TypeName]bool{}
	for _, tn := range owners {
		stateful[tn] = true
	}
	touched := map[*types.TypeName]map[*ast.FuncDecl]bool{}
	for _, p := range m.packages {
		for _, f := range p.files {
			if f.test {
				continue
			}
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				for name := range t.touches(m.name+"/"+p.path, fn, owners, stateful) {
					if touched[name] == nil {
						touched[name] = map[*ast.FuncDecl]bool{}
					}
					touched[name][fn] = true
				}
			}
		}
	}
	var out []Reach
	for name, functions := range touched {
		where := strings.TrimPrefix(name.Pkg().Path(), m.name+"/")
		out = append(out, Reach{where + "." + name.Name(), len(functions)})
	}
	slices.SortFunc(out, func(a, b Reach) int {
		return cmp.Or(cmp.Compare(b.Functions, a.Functions), cmp.Compare(a.Type, b.Type))
	})
	return out, nil
}

// owners maps every unexported field to its struct type.
func (t *typed) owners() map[*types.Var]*types.TypeName {
	out := map[*types.Var]*types.TypeName{}
	for _, p := range t.packages {
		for _, name := range p.Scope().Names() {
			tn, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || tn.IsAlias() {
				continue
			}
			if st, ok := tn.Type().Underlying().(*types.Struct); ok {
				for field := range st.Fields() {
					if field := field; !field.Exported() {
						out[field] = tn
					}
				}
			}
		}
	}
	return out
}

// touches returns the types in owners that a function can access, without duplicates; stateful
// holds the same types.
func (t *typed) touches(in string, fn *ast.FuncDecl, owners map[*types.Var]*types.TypeName, stateful map[*types.TypeName]bool) map[*types.TypeName]bool {
	out := map[*types.TypeName]bool{}
	take := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			for _, tn := range held(t.info.Types[field.Type].Type) {
				if stateful[tn] && tn.Pkg().Path() == in {
					out[tn] = true
				}
			}
		}
	}
	take(fn.Recv)
	take(fn.Type.Params)
	ast.Inspect(fn, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			if field, ok := t.info.Uses[id].(*types.Var); ok && field.IsField() {
				if tn := owners[field.Origin()]; tn != nil {
					out[tn] = true
				}
			}
		}
		return true
	})
	return out
}

// held returns the named struct types that a value gives access to: its own, and its fields'.
func held(typ types.Type) []*types.TypeName {
	own := structOf(typ)
	if own == nil {
		return nil
	}
	out := []*types.TypeName{own.Origin().Obj()}
	st := own.Underlying().(*types.Struct)
	for field := range st.Fields() {
		if n := structOf(field.Type()); n != nil {
			out = append(out, n.Origin().Obj())
		}
	}
	return out
}

// structOf returns the named struct type behind a pointer, slice, array or map, or nil.
func structOf(typ types.Type) *types.Named {
	for range 4 {
		switch t := types.Unalias(typ).(type) {
		case *types.Pointer:
			typ = t.Elem()
		case *types.Slice:
			typ = t.Elem()
		case *types.Array:
			typ = t.Elem()
		case *types.Map:
			typ = t.Elem()
		case *types.Named:
			if _, ok := t.Underlying().(*types.Struct); ok {
				return t
			}
			return nil
		default:
			return nil
		}
	}
	return nil
}
