package prose

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Rooms are the folders with texts for users.
func Rooms() []string {
	return []string{"tui", "session", "internal/cmd", "internal/run", "internal/policy", "internal/config", "internal/sandbox", "internal/undo"}
}

// Texts lists the user-visible texts in the rooms below root: string literals with words, by file,
// in order. Added literals are one text, with … for the values between them.
func Texts(root fs.FS, rooms []string) (string, error) {
	var out strings.Builder
	for _, room := range rooms {
		err := fs.WalkDir(root, room, func(at string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "highlight") {
				return fs.SkipDir
			}
			if d.IsDir() || path.Ext(at) != ".go" || strings.HasSuffix(at, "_test.go") {
				return nil
			}
			raw, err := fs.ReadFile(root, at)
			if err != nil {
				return err
			}
			texts, err := textsOf(at, raw)
			if err == nil && len(texts) > 0 {
				fmt.Fprintf(&out, "\n%s\n", at)
				for _, text := range texts {
					fmt.Fprintf(&out, "    %s\n", text)
				}
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return strings.TrimPrefix(out.String(), "\n"), nil
}

func textsOf(name string, source []byte) (out []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	take := func(text string) {
		if text = strings.Join(strings.Fields(text), " "); says(text) && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec, *ast.Field: // a struct tag
			if f, ok := n.(*ast.Field); ok && f.Tag != nil {
				f.Tag = nil
			}
			_, imports := n.(*ast.ImportSpec)
			return !imports
		case *ast.BinaryExpr:
			if n.Op == token.ADD && added(n) != "" {
				take(added(n))
				return false
			}
		case *ast.BasicLit:
			take(literal(n))
		}
		return true
	})
	return out, nil
}

// added returns a sum of strings as one text, or "" for another sum.
func added(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		return literal(e)
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return ""
		}
		left, right := added(e.X), added(e.Y)
		if left == "" && right == "" {
			return ""
		}
		return cmp.Or(left, "…") + cmp.Or(right, "…")
	}
	return ""
}

func literal(l *ast.BasicLit) string {
	if l.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return ""
	}
	return text
}

// says reports whether a text is prose: not a name, a pattern, a query or a list of programs.
func says(text string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	if len(words) < 2 || !strings.Contains(text, " ") {
		return false
	}
	if strings.ContainsAny(text, "\x1b\x00") || strings.Contains(text, `(?`) || strings.HasPrefix(text, "#!") {
		return false
	}
	if len(words) > 5 && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(little(), strings.ToLower(w)) }) {
		return false
	}
	for _, query := range []string{"SELECT ", "INSERT ", "CREATE ", "DELETE ", "UPDATE ", "PRAGMA "} {
		if strings.Contains(text, query) {
			return false
		}
	}
	return true
}

// little are words that occur in sentences but not in lists of names.
func little() []string {
	return strings.Fields("a an and are as at be by for from has have in is it its no not of on or that the this to was what with")
}
