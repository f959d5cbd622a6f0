package highlight

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/testkit/golden"
)

// names are one name of every language.
func names() []string {
	return []string{"go", "python", "ts", "json", "yaml", "toml", "sh", "rust", "cpp", "java", "csharp", "ruby", "php", "sql",
		"css", "make", "docker", "html", "md", "diff", ""}
}

func letters() map[Kind]string {
	return map[Kind]string{Keyword: "k", String: "s", Comment: "c", Number: "n", Function: "f", Type: "t", Property: "p",
		Heading: "h", Added: "a", Removed: "r", Hunk: "u"}
}

// TestLanguages compares the tokens of short programs; a case's input is code, its header names the
// language. A token that is more than text is written as «kind:text».
func TestLanguages(t *testing.T) {
	golden.Cases(t, "../../../testdata/highlight", func(t *testing.T, c *golden.Case) {
		name := strings.TrimSuffix(strings.SplitAfter(t.Name(), "/")[1], ".txtar")
		name, _, _ = strings.Cut(name, "_")
		code, _ := c.Section("code")
		l := Named(name)
		if !l.Known() {
			t.Fatalf("no language %q", name)
		}
		var b strings.Builder
		for _, tok := range l.Tokens(code) {
			if tok.Kind == Text {
				b.WriteString(tok.Text)
				continue
			}
			body := strings.TrimRight(tok.Text, "\n")
			b.WriteString("«" + letters()[tok.Kind] + ":" + body + "»" + tok.Text[len(body):])
		}
		c.Want(t, "want.tokens", b.String())
	})
}

func TestFiles(t *testing.T) {
	for name, known := range map[string]bool{"a.go": true, "x/go.mod": true, `x\Dockerfile`: true, "Makefile": true, "a.b.TSX": true,
		".bashrc": true, "README": false, "a.": false, "": false, "photo.png": false, "dockerfile.dev": true} {
		if ForFile(name).Known() != known {
			t.Errorf("%s: known is %v", name, !known)
		}
	}
}

// same checks that the tokens are the code.
func same(t *testing.T, name, code string) {
	t.Helper()
	var b strings.Builder
	for _, tok := range Named(name).Tokens(code) {
		if tok.Text == "" && code != "" {
			t.Fatalf("%s: an empty token in %q", name, code)
		}
		b.WriteString(tok.Text)
	}
	if b.String() != code {
		t.Fatalf("%s changed %q to %q", name, code, b.String())
	}
}

// TestTextIsKept puts marks of all languages together and shows that nothing is lost.
func TestTextIsKept(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	pieces := []string{"a", "Word", " ", "\n", "\t", "\r\n", `"`, "'", "`", `\`, "/*", "*/", "//", "#", "--", "<!--", "-->", "<a", ">", "=", ":", "key: ",
		"[x]", "$", "${", "}", "$(", ")", "@", "!", "(", "1.5e+3", "0x", "'''", `"""`, `r#"`, `"#`, "/", "é", "日", "\xff", "<", "+", "-", "@@ ", "```", "\x00"}
	for range 20000 {
		var b strings.Builder
		for range rnd.IntN(30) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		same(t, names()[rnd.IntN(len(names()))], b.String())
	}
}

func FuzzTokens(f *testing.F) {
	for i := range names() {
		f.Add(i, "if (a < \"b\") { return 'c' /* d */ } // e\n# f\nkey: <!-- g\n$h @i ${j")
	}
	f.Fuzz(func(t *testing.T, lang int, code string) {
		all := names()
		same(t, all[(lang&0xff)%len(all)], code)
	})
}

// BenchmarkTokens is 64 KB of code, and of what has many beginnings and no end. The bar is what a
// frame may take.
func BenchmarkTokens(b *testing.B) {
	program := "func (s *scanner) next() { // a comment\n\tx := \"text\" + `raw` + 0x12\n\treturn foo(s.pos, 1.5)\n}\n"
	for _, part := range []string{program, `"`, "'''", "/*", "-", "${", "(/", "<a ", "a:", "[", "`", "b\"a"} {
		for _, name := range []string{"go", "ts", "yaml", "rust", "html", "toml", "sh"} {
			code := strings.Repeat(part, 64<<10/len(part))
			b.Run(fmt.Sprintf("%s/%.4q", name, part), func(b *testing.B) {
				b.SetBytes(int64(len(code)))
				for b.Loop() {
					Named(name).Tokens(code)
				}
			})
		}
	}
}
