package discovery_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"adze/internal/project/discovery"
)

// What YAML libraries refuse and people write is read as it was meant.
func TestFrontMatterAsPeopleWriteIt(t *testing.T) {
	for name, c := range map[string]struct{ file, key, want, body string }{
		"plain":               {"---\ndescription: Fix an issue\n---\nbody\n", "description", "Fix an issue", "body\n"},
		"colon":               {"---\ndescription: Use when: tests fail\n---\nb", "description", "Use when: tests fail", "b"},
		"address":             {"---\nurl: https://example.com/a:b\n---\n", "url", "https://example.com/a:b", ""},
		"star":                {"---\nglobs: *.ts\n---\n", "globs", "*.ts", ""},
		"brackets":            {"---\nargument-hint: [a] [b]\n---\n", "argument-hint", "[a] [b]", ""},
		"number sign":         {"---\nargument-hint: [issue #] [n]\n---\n", "argument-hint", "[issue #] [n]", ""},
		"comment":             {"---\nmodel: small # cheap\n---\n", "model", "small", ""},
		"double quotes":       {"---\ndescription: \"a: \\\"b\\\"\\n\\u00e9\"  # c\n---\n", "description", "a: \"b\"\n\u00e9", ""},
		"single quotes":       {"---\ndescription: 'it''s'\n---\n", "description", "it's", ""},
		"quotes within":       {"---\ndescription: \"a\" or \"b\"\n---\n", "description", `"a" or "b"`, ""},
		"literal block":       {"---\ndescription: |-\n  one\n    two\n\n  three\nmodel: x\n---\n", "description", "one\n  two\n\nthree", ""},
		"folded block":        {"---\ndescription: >\n  one\n  two\n\n  three\n---\n", "description", "one two\nthree", ""},
		"goes on":             {"---\ndescription: one\n  two\n  three: four\nmodel: x\n---\n", "description", "one two three: four", ""},
		"byte order mark":     {"\ufeff---\r\ndescription: x\r\n---\r\nb\r\n", "description", "x", "b\n"},
		"UTF-16":              {"\xff\xfe" + wide("---\r\ndescription: café\r\n---\r\nb\r\n"), "description", "café", "b\n"},
		"Latin-1":             {"---\ndescription: caf\xe9\n---\nna\xefve\n", "description", "café", "naïve\n"},
		"tabs":                {"---\ndescription:\tx\nmetadata:\n\tauthor: me\n---\n", "description", "x", ""},
		"twice":               {"---\nmodel: a\nmodel: b\n---\n", "model", "b", ""},
		"other writing":       {"---\nargumentHint: x\n---\n", "argument-hint", "x", ""},
		"no end":              {"---\ndescription: x\nmodel: y\n\n# Title\n", "description", "x", "\n# Title\n"},
		"no end, no blank":    {"---\ndescription: x\nDo it.\n", "description", "x", "Do it.\n"},
		"dots end":            {"---\ndescription: x\n...\nb", "description", "x", "b"},
		"none":                {"# Title\n---\ndescription: x\n---\n", "description", "", "# Title\n---\ndescription: x\n---\n"},
		"empty":               {"---\n---\nb", "description", "", "b"},
		"quotes do not end":   {"---\ndescription: \"a\n---\nb", "description", "\"a", "b"},
		"rule in the body":    {"---\ndescription: x\n---\na\n---\nb", "description", "x", "a\n---\nb"},
		"a line is no field":  {"---\ndescription: x\nExamples of it\nmodel: y\n---\n", "model", "y", ""},
		"escapes stay":        {"---\ndescription: a\\nb <example>\n---\n", "description", `a\nb <example>`, ""},
		"a fence in a block":  {"---\ndescription: |\n  a\n  ---\n  b\n---\n", "description", "a\n---\nb", ""},
		"comment for a value": {"---\ndescription: # none\nmodel: y\n---\n", "description", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			front, body := discovery.Parse(c.file)
			if got := front.Text(c.key); got != c.want {
				t.Errorf("%s is %q, want %q", c.key, got, c.want)
			}
			if body != c.body {
				t.Errorf("the body is %q, want %q", body, c.body)
			}
		})
	}
}

func TestFrontMatterLists(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{" Read, Grep, Bash(git add:*, git commit:*)", "Read|Grep|Bash(git add:*, git commit:*)"},
		{" Bash(git *) Read", "Bash(git *)|Read"},
		{` [read, "a, b", 'c']`, "read|a, b|c"},
		{"\n  - read\n  - \"*.{ts,tsx}\" # these\n  - plain # c", "read|*.{ts,tsx}|plain"},
		{"\n- read\n- grep", "read|grep"},
		{" **/*.{ts,tsx},*.js", "**/*.{ts,tsx}|*.js"},
		{" \"*\"", "*"},
		{"", ""},
	} {
		front, _ := discovery.Parse("---\ntools:" + c.value + "\nmodel: x\n---\n")
		got, ok := front.List("allowed-tools", "tools")
		if !ok || strings.Join(got, "|") != c.want || front.Text("model") != "x" {
			t.Errorf("%q gives %q (%v), want %q", c.value, got, ok, c.want)
		}
	}
}

// Of a map it is known that it is one, so that nothing in it is taken for a list or for a field.
func TestFrontMatterMaps(t *testing.T) {
	front, _ := discovery.Parse("---\ntools:\n  edit: deny\n  bash:\n    \"git push *\": ask\npermission: {read: true, bash: false}\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      command: ./x.sh\n    - y\nname: n\n---\n")
	for _, key := range []string{"tools", "permission", "hooks"} {
		if field, ok := front.Field(key); !ok || !field.Map || len(field.List()) > 0 {
			t.Errorf("%s is %+v", key, field)
		}
	}
	if len(front.Fields) != 4 || front.Text("name") != "n" || len(front.Notes) != 0 {
		t.Errorf("%d fields, name %q, notes %q", len(front.Fields), front.Text("name"), front.Notes)
	}
}

// Front matter that is none, or a bomb, is bounded.
func TestFrontMatterIsBounded(t *testing.T) {
	for name, file := range map[string]string{
		"long line":  "---\ndescription: " + strings.Repeat("x", 1<<20) + "\n---\nb",
		"many lines": "---\n" + strings.Repeat("a: b\n", 100_000) + "---\nb",
		"never ends": "---\n" + strings.Repeat("a: b\n", 100_000),
	} {
		if front, body := discovery.Parse(file); front.Problem == "" || body != "" || len(front.Fields) > 0 {
			t.Errorf("%s: problem %q, %d fields, %d bytes of body", name, front.Problem, len(front.Fields), len(body))
		}
	}
	deep := "---\n"
	for n := range 100 {
		deep += strings.Repeat(" ", n) + "a:\n"
	}
	discovery.Parse(deep + "---\n")
	discovery.Parse("---\na: " + strings.Repeat("[", 15000) + "\n---\n")
	if front, body := discovery.Parse("---\n" + "a: b\n\n" + strings.Repeat("A long body.\n", 5000)); front.Problem != "" || front.Text("a") != "b" || len(body) < 60000 {
		t.Errorf("a long body behind front matter without an end: %q, %d bytes", front.Problem, len(body))
	}
}

func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{"---\na: b\n---\nc", "---\na: |\n  b\n c:\n   - d\n   - e: f\n     g: h\n", "---\n\"a\": 'b''c' # d\nx: [1, {2: 3}]\n---", "---\n- a\n-\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		front, body := discovery.Parse(file)
		if len(body) > len(strings.ToValidUTF8(file, "\uFFFD")) {
			t.Fatal("the body is longer than the file")
		}
		if again, other := discovery.Parse(file); fmt.Sprint(again) != fmt.Sprint(front) || other != body {
			t.Fatal("read twice it says two things")
		}
		for _, field := range front.Fields {
			if field.Key == "" || strings.Contains(field.Key, "\n") {
				t.Fatalf("a key is %q", field.Key)
			}
			field.List()
		}
		front.Text("a")
		front.List("a")
	})
}

// wide is a text in UTF-16, its small end first.
func wide(text string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}
