package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// verb is a place that fmt fills in.
var verb = regexp.MustCompile(`%(?:\[\d+\])?[-+# 0]*\d*(?:\.\d+)?[a-zA-Z]`)

// said returns the text of an expression of strings, with … for what differs from run to run. It
// is "" for other expressions.
func said(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return verb.ReplaceAllString(text, "…")
		}
	case *ast.BinaryExpr:
		left, right := said(e.X), said(e.Y)
		if e.Op != token.ADD || left == "" && right == "" {
			return ""
		}
		if left == "" {
			left = "…"
		}
		if right == "" {
			right = "…"
		}
		return left + right
	}
	return ""
}

// texts are the texts of the program: one for each literal, and one for each sum of strings.
func texts(t *testing.T) (out []string) {
	t.Helper()
	files := token.NewFileSet()
	err := filepath.WalkDir("..", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(at, ".go") || strings.HasSuffix(at, "_test.go") {
			return err
		}
		for _, folder := range []string{"testkit", "tools"} {
			if strings.Contains(filepath.ToSlash(at), "/internal/"+folder+"/") {
				return nil
			}
		}
		file, err := parser.ParseFile(files, at, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				if text := said(e); text != "" {
					out = append(out, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// isSaid reports whether a text of the program holds a message. A … of the message stands for one
// of the text; one at its end also for any end.
func isSaid(message string, all []string) bool {
	message = strings.Trim(strings.TrimSuffix(message, ": …"), "… ")
	for _, text := range all {
		if strings.Contains(text, message) {
			return true
		}
	}
	return false
}

// TestMessagesAreSaid looks for each message of the page on troubleshooting in the sources.
func TestMessagesAreSaid(t *testing.T) {
	all := texts(t)
	quoted := regexp.MustCompile("(?m)^### `(.+)`$").FindAllStringSubmatch(Text("troubleshooting"), -1)
	if len(quoted) < 30 {
		t.Errorf("the page has %d messages", len(quoted))
	}
	for _, m := range quoted {
		if !isSaid(m[1], all) {
			t.Errorf("the program never says %q", m[1])
		}
	}
	for message, want := range map[string]bool{"there is no key for …": true, "there is no door for …": false, "cannot reach … at …: …": true} {
		if isSaid(message, all) != want {
			t.Errorf("%q: want %v", message, want)
		}
	}
	headings := strings.Count(Text("troubleshooting"), "\n### ")
	if headings != len(quoted) {
		t.Errorf("%d of %d headings quote no message", headings-len(quoted), headings)
	}
}
