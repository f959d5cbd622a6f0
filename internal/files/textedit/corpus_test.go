package textedit

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// specimen is a file to edit.
type specimen struct {
	name  string // with the ending of its language
	lines []string
}

// dialect writes nested statements in the manner of a language. Lines of simple, opening and
// comment hold %s for a name and %d for a number.
type dialect struct {
	ending, unit            string
	simple, opening, middle []string
	comment                 string
	closing                 string // "" where indentation alone closes
}

func dialects() []dialect {
	return []dialect{
		{".py", "    ", []string{"%s = compute(%s, %d)", "self.%s.append(%s)", "return %s", "print(f\"{%s} é of {%s}\")", "raise ValueError(\"no %s\")"},
			[]string{"def %s(self, %s):", "if %s > %d:", "for %s in %s:", "class %s:", "with open(%s) as %s:"}, []string{"else:", "except %s:"}, "# the %s is kept for %s", ""},
		{".py", "  ", []string{"%s = [%s, %d]", "yield %s", "del %s[%d]"}, []string{"def %s(%s):", "while %s != %d:", "try:"}, []string{"finally:"}, "# %s", ""},
		{".py", "        ", []string{"%s = %d", "return %s(%s)"}, []string{"def %s(%s):", "if %s:"}, []string{"else:"}, "# see %s", ""},
		{".yaml", "  ", []string{"%s: %d", "%s: \"%s\"", "- %s", "- name: %s"}, []string{"%s:", "- %s:"}, nil, "# %s", ""},
		{".mk", "\t", []string{"%s := %s", "@echo \"%s\"", "$(%s) -o %s", "rm -f %s"}, []string{"%s: %s"}, nil, "# %s", ""},
		{".hs", "  ", []string{"%s <- %s", "pure (%s, %d)", "| %s > %d = %s"}, []string{"%s %s = do", "case %s of", "where"}, nil, "-- | %s", ""},
		{".fs", "    ", []string{"let %s = %s %d", "printfn \"%%s\" %s", "| %s -> %s"}, []string{"let %s %s =", "match %s with", "if %s then"}, []string{"else"}, "// %s", ""},
		{".nim", "  ", []string{"echo %s, \" \", %s", "let %s = %s(%d)", "result.add(%s)"}, []string{"proc %s(%s: int) =", "for %s in %s:", "block %s:"}, nil, "# %s", ""},
		{".pug", "  ", []string{"p %s and %s", "li: a(href=\"/%s\") %s", "+%s(%d)"}, []string{"div.%s", "ul#%s", "each %s in %s"}, nil, "//- %s", ""},
		{".sass", "  ", []string{"color: %s", "margin: %dpx %dpx", "@include %s(%s)"}, []string{".%s", "&:%s", "@media (min-width: %dpx)"}, nil, "// %s", ""},
		{".coffee", "  ", []string{"%s = %s %d", "console.log %s, %s", "@%s.push %s"}, []string{"%s = (%s) ->", "if %s", "for %s in %s"}, []string{"else"}, "# %s", ""},
		{".md", "  ", []string{"- the %s of **%s**", "* see [%s](#%s)", "%d. first %s, then %s"}, []string{"- %s and what is in it:", "- %s"}, nil, "<!-- %s -->", ""},
		{".go", "\t", []string{"%s := %s(%d)", "return %s, nil", "%s.Lock()", "fmt.Println(\"“%s”\", %s)"}, []string{"if %s != nil {", "for _, %s := range %s {", "switch %s {"}, nil, "// %s is what %s needs.", "}"},
		{".ts", "  ", []string{"const %s = await %s(%d);", "this.%s = %s;", "return { %s, %s };"}, []string{"if (%s) {", "async %s(%s: string) {", "while (%s < %d) {"}, nil, "/* %s */", "}"},
		{".c", "    ", []string{"%s = %s->next;", "free(%s);", "printf(\"%%d\\n\", %s);"}, []string{"if (%s == %d) {", "while (%s) {"}, nil, "/* frees %s */", "}"},
		{".html", "  ", []string{"<p class=\"%s\">%s</p>", "<img src=\"%s.png\" alt=\"%s\">", "<br>"}, []string{"<div id=\"%s\">", "<div>"}, nil, "<!-- %s -->", "</div>"},
		{".lua", "  ", []string{"local %s = %s[%d]", "%s:close()", "return %s"}, []string{"if %s then", "for %s = 1, %d do"}, nil, "-- %s", "end"},
	}
}

func nouns() []string {
	return strings.Fields("alpha beta gamma delta user session buffer reader count total index result value name path config token state queue worker naïve größe")
}

// fill puts names and numbers into a template.
func fill(rng *rand.Rand, template string) string {
	var args []any
	for i := 0; i+1 < len(template); i++ {
		if template[i] == '%' {
			switch template[i+1] {
			case 's':
				name := noun(rng)
				if rng.IntN(3) > 0 {
					name += "_" + noun(rng)
				}
				args = append(args, name)
			case 'd':
				args = append(args, rng.IntN(100))
			}
			i++
		}
	}
	return fmt.Sprintf(template, args...)
}

// write adds statements of one depth and what is nested in them.
func (l dialect) write(rng *rand.Rand, out *[]string, depth, count int) {
	margin := strings.Repeat(l.unit, depth)
	for i := range count {
		if rng.IntN(8) == 0 && i > 0 {
			*out = append(*out, "")
		}
		if rng.IntN(6) == 0 {
			*out = append(*out, margin+fill(rng, l.comment))
		}
		if depth > 4 || rng.IntN(3) > 0 && depth > 0 {
			*out = append(*out, margin+fill(rng, l.simple[rng.IntN(len(l.simple))]))
			continue
		}
		*out = append(*out, margin+fill(rng, l.opening[rng.IntN(len(l.opening))]))
		l.write(rng, out, depth+1, 1+rng.IntN(4))
		if len(l.middle) > 0 && rng.IntN(4) == 0 {
			*out = append(*out, margin+fill(rng, l.middle[rng.IntN(len(l.middle))]))
			l.write(rng, out, depth+1, 1+rng.IntN(3))
		}
		if l.closing != "" {
			*out = append(*out, margin+l.closing)
		}
	}
}

func (l dialect) specimen(rng *rand.Rand) specimen {
	s := specimen{name: "f" + l.ending}
	l.write(rng, &s.lines, 0, 4+rng.IntN(12))
	return s
}

// twins is a file of blocks that are the same but for one name or two, as handlers and table tests
// are.
func (l dialect) twins(rng *rand.Rand) specimen {
	var body []string
	l.write(rng, &body, 0, 1+rng.IntN(2))
	for len(body) < 4 {
		l.write(rng, &body, 0, 1)
	}
	s := specimen{name: "twins" + l.ending}
	for i := range 2 + rng.IntN(4) {
		own := append([]string{}, body...)
		for range 1 + rng.IntN(2) {
			at := rng.IntN(len(own))
			own[at] = strings.Replace(own[at], "a", fmt.Sprint("a", i), 1)
		}
		s.lines = append(append(s.lines, own...), "")
	}
	return s
}

// sources reads some of this program's own files as they once were, so that what is measured
// changes with the code alone, or all those below ADZE_DISTURB_FILES.
func sources(t testing.TB) (list []specimen) {
	root := os.Getenv("ADZE_DISTURB_FILES")
	if root == "" {
		root = filepath.Join("testdata", "sources")
	}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && len(e.Name()) > 2 && strings.HasPrefix(e.Name(), ".") {
			return fs.SkipDir
		}
		p = strings.TrimSuffix(p, ".txt")
		switch filepath.Ext(p) {
		case ".go", ".md", ".py", ".yaml", ".yml", ".js", ".ts", ".c", ".rs", ".java", ".rb", ".sh", ".css", ".html", ".json", ".mk", ".hs", ".txtar":
		default:
			return nil
		}
		raw, err := os.ReadFile(filepath.Join(filepath.Dir(p), e.Name()))
		if err == nil && len(raw) < 200_000 && len(raw) > 200 && !strings.Contains(string(raw), "\r") {
			list = append(list, specimen{name: p, lines: strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")})
		}
		return nil
	})
	if err != nil || len(list) == 0 {
		t.Fatalf("no sources below %s: %v", root, err)
	}
	return list
}

func noun(rng *rand.Rand) string {
	list := nouns()
	return list[rng.IntN(len(list))]
}

// words splits a line into words, white space and single signs.
func words(s string) (out []string) {
	kind := func(r rune) int {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	last := 0
	for _, r := range s {
		k := kind(r)
		if k != 0 && k == last {
			out[len(out)-1] += string(r)
		} else {
			out = append(out, string(r))
		}
		last = k
	}
	return out
}

func isWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
}
