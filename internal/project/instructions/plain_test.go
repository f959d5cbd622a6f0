package instructions

import (
	"slices"
	"strings"
	"testing"
)

// TestPlain: claude-code 2.1.332 sent comments beside text, in lists and in indented code with
// CLAUDE.md, and left out those that begin a line.
func TestPlain(t *testing.T) {
	for _, c := range []struct{ in, out, imports string }{
		{"a <!-- b @x --> c", "a <!-- b @x --> c", ""},
		{"    <!-- a -->\n- <!-- b -->\n", "    <!-- a -->\n- <!-- b -->\n", ""},
		{" <!-- a --> b\n", "  b\n", ""},
		{"a\n  <!-- b\n\nc --> \nd", "a\nd", ""},
		{"<!-- a -->\nb\n", "b\n", ""},
		{"a <!-- b\nc\n--> d\ne", "a <!-- b\nc\n--> d\ne", ""},
		{"a <!-- open", "a <!-- open", ""},
		{"`<!-- a --> @b` @c", "`<!-- a --> @b` @c", "c"},
		{"``a ` <!-- b -->`` @d", "``a ` <!-- b -->`` @d", "d"},
		{"` <!-- a -->", "` <!-- a -->", ""},
		{"```\n<!-- a -->\n@b\n```\n@c", "```\n<!-- a -->\n@b\n```\n@c", "c"},
		{"~~~~\n```\n~~~\n@b\n~~~~\n(@c)", "~~~~\n```\n~~~\n@b\n~~~~\n(@c)", "c)"},
		{"```go\n@b", "```go\n@b", ""},
		{"a@b @ @", "a@b @ @", ""},
		{"- @x/y.md, and", "- @x/y.md, and", "x/y.md,"},
		{"<!-- ``` -->\n@a\n", "@a\n", "a"},
	} {
		out, imports := plain(c.in)
		if got := strings.Join(imports, " "); out != c.out || got != c.imports {
			t.Errorf("%q becomes %q with %q, want %q with %q", c.in, out, got, c.out, c.imports)
		}
	}
}

func TestImportsAreBounded(t *testing.T) {
	if _, imports := plain(strings.Repeat("@a ", 10_000)); len(imports) != maxImports {
		t.Errorf("%d imports", len(imports))
	}
}

// FuzzPlain: what is left is of the text, in its order; only comments go; what stands between
// fences stays whole.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{"a <!-- b --> c", "```\n<!-- x -->\n```", "`@a` @b\n<!--\n@c\n-->@d", "~~~\n``` <!-- \n~~~\n-->", "\x00@\xff <!--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, imports := plain(text)
		if !strings.Contains(text, "-->") && out != text {
			t.Fatalf("%q became %q without a comment", text, out)
		}
		at := 0
		for _, b := range []byte(out) {
			i := strings.IndexByte(text[at:], b)
			if i < 0 {
				t.Fatalf("%q became %q, which is not of it", text, out)
			}
			at += i + 1
		}
		if slices.ContainsFunc(imports, func(name string) bool {
			return strings.ContainsAny(name, " \t\n`") || !strings.Contains(text, "@"+name)
		}) {
			t.Fatalf("%q imports %q", text, imports)
		}
		fenced := "```\n" + strings.NewReplacer("`", "'", "~", "-").Replace(text) + "\n```\n"
		if got, imports := plain(fenced); got != fenced || len(imports) > 0 {
			t.Fatalf("code %q became %q and imports %q", fenced, got, imports)
		}
	})
}
