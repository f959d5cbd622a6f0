package markdown

import (
	"fmt"
	"strings"
	"testing"
)

// outline reads a text and writes its blocks: one line each, with their containers.
func outline(text string) string {
	var out []string
	for _, b := range Read(text) {
		var at strings.Builder
		for _, c := range b.In {
			switch {
			case c.Quote:
				at.WriteString("> ")
			case c.Fresh:
				at.WriteString(c.Mark() + " ")
			default:
				at.WriteString(". ")
			}
		}
		name := [...]string{"none", "p", "h", "code", "html", "table", "rule", "empty"}[b.Kind]
		if b.Level > 0 {
			name += fmt.Sprint(b.Level)
		}
		if b.Info != "" {
			name += ":" + b.Info
		}
		if b.Gap {
			name = "~" + name
		}
		out = append(out, fmt.Sprintf("%s%s %q", &at, name, b.Text))
	}
	return strings.Join(out, "\n")
}

func TestBlocks(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"paragraphs", "a\nb\n\nc", "p \"a\\nb\"\n~p \"c\""},
		{"headings", "# a #\n###### b\n####### c\n#d", "h1 \"a\"\nh6 \"b\"\np \"####### c\\n#d\""},
		{"underlined headings", "a\nb\n===\nc\n---", "h1 \"a\\nb\"\nh2 \"c\""},
		{"rules", "***\n- - -\n__ _", "rule \"\"\nrule \"\"\nrule \"\""},
		{"fence", "```go x\na\n\n  b\n```\nc", "code:go x \"a\\n\\n  b\"\np \"c\""},
		{"longer fence", "~~~~\n~~~\n~~~~", "code \"~~~\""},
		{"fence without an end", "```\na", "code \"a\""},
		{"fence that is indented", "  ```\n   a\n b\n  ```", "code \" a\\nb\""},
		{"tabs of a fence stay", "```\na:\n\tb\n\t\tc\n```\n- ```\n  \td\n\te\n  ```", "code \"a:\\n\\tb\\n\\t\\tc\"\n- code \"\\td\\n  e\""},
		{"no fence in a line of code", "``` a`b", "p \"``` a`b\""},
		{"indented code", "    a\n\n      b\n\nc", "code \"a\\n\\n  b\"\n~p \"c\""},
		{"indented text goes on", "a\n    b", "p \"a\\nb\""},
		{"nested lists", "- a\n  - b\n    1. c\n- d", "- p \"a\"\n. - p \"b\"\n. . 1. p \"c\"\n- p \"d\""},
		{"numbers count on", "3. a\n3. b\n\n7) c", "3. p \"a\"\n4. p \"b\"\n7) ~p \"c\""},
		{"blocks of an item", "- a\n\n  b\n\n      c\n- d\n\ne", "- p \"a\"\n. ~p \"b\"\n. ~code \"c\"\n- p \"d\"\n~p \"e\""},
		{"item of code", "1. ```sh\n   a\n   ```", "1. code:sh \"a\""},
		{"code ends with its item", "- ```\n  a\nb", "- code \"a\"\np \"b\""},
		{"empty items", "-\n- a\n-\n\nb", "- empty \"\"\n- p \"a\"\n- empty \"\"\n~p \"b\""},
		{"a number goes on in a paragraph", "in\n1984. b\n1. c", "p \"in\\n1984. b\"\n1. p \"c\""},
		{"quotes", "> a\nb\n>> c\n\nd", "> p \"a\\nb\"\n> > p \"c\"\n~p \"d\""},
		{"code ends with its quote", "> ```\n> a\nb", "> code \"a\"\np \"b\""},
		{"item in a quote", "> - a\n> - b", "> - p \"a\"\n> - p \"b\""},
		{"tabs", "-\ta\n\n\tb\n\n\tc", "- p \"a\"\n. ~p \"b\"\n. ~p \"c\""},
		{"html", "<div>\na\n\nb <i>c</i>\n<!-- x\n\ny -->\nd", "html \"<div>\\na\"\n~p \"b <i>c</i>\"\nhtml \"<!-- x\\n\\ny -->\"\np \"d\""},
		{"table", "a|b\n-|-:\n1|2\n\n3", "table \"a|b\\n1|2\"\n~p \"3\""},
		{"table below text", "x\n|a|\n|-|\n|1|\n# h", "p \"x\"\ntable \"|a|\\n|1|\"\nh1 \"h\""},
		{"no table", "a|b\n-\n\nc\n-|-", "h2 \"a|b\"\n~p \"c\\n-|-\""},
		{"table in an item", "- a|b\n  -|-\n  1|2", "- table \"a|b\\n1|2\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := outline(tt.in); got != tt.want {
				t.Errorf("%q\ngot:\n%s\nwant:\n%s", tt.in, got, tt.want)
			}
		})
	}
}

func TestInline(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain", "plain"},
		{"a **b** c", "a |S:b| c"},
		{"*a **b** c*", "E:a |SE:b|E: c"},
		{"***a***", "SE:a"},
		{"**a *b***", "S:a |SE:b"},
		{"_a_b_c_", "E:a_b_c"},
		{"~~a~~ b~c", "K:a| b~c"},
		{"`a*b*`", "C:a*b*"},
		{"`` a`b ``", "C:a`b"},
		{"**a `b`**", "S:a |SC:b"},
		{"2 * 3 * 4", "2 * 3 * 4"},
		{"snake_case_name", "snake_case_name"},
		{"**open", "**|open"},
		{`\*no\*`, `*no|*`},
		{"a &amp; b&nbsp;&x;", "a |&| b|\u00a0|&x;"},
		{"[a *b*](http://x_y_z)", "L:a |EL:b|A: (http://x_y_z)"},
		{"[http://x](http://x)", "L:http://x"},
		{"[a](<b c> \"t\") [d](e(f)g) [h] (i)", "L:a|A: (b c)| |L:d|A: (e(f)g)| |[|h] (i)"},
		{"![a](b.png)", "H:image: |L:a|A: (b.png)"},
		{"[a [b](c) d](e)", "[|a |L:b|A: (c)| d](e)"},
		{"see https://a.b/c_d_e. **https://x**", "see |L:https://a.b/c_d_e|. |SL:https://x"},
		{"<https://a> <b@c.de> <i x='*'>*", "L:https://a| |L:b@c.de| |<i x='*'>|*"},
		{"a<br>b\nc\\\nd  \ne", "a|/|b|/|c|/|d|/|e"},
		{strings.Repeat("word ", 12) + "\nb", strings.TrimRight(strings.Repeat("word ", 12), " ") + "| |b"},
		{strings.Repeat("word ", 12) + " \nb", strings.TrimRight(strings.Repeat("word ", 12), " ") + "|/|b"},
		{"", ""},
	}
	for _, tt := range tests {
		spans, _ := Inline(tt.in)
		var got []string
		for _, s := range spans {
			got = append(got, written(s))
			if s.Exact && tt.in[s.Offset:s.Offset+len(s.Text)] != s.Text {
				t.Errorf("%q: %q is said to be at %d", tt.in, s.Text, s.Offset)
			}
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, strings.Join(got, "|"), tt.want)
		}
	}
}

func written(s Span) string {
	if s.Form == Break {
		return "/"
	}
	name := ""
	for i, c := range "SEKCLAH" {
		if s.Form&(1<<i) != 0 {
			name += string(c)
		}
	}
	if name != "" {
		name += ":"
	}
	return name + s.Text
}

// TestSettled shows that what is settled reads the same whatever follows.
func TestSettled(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want int
	}{{"plain", 5}, {"a *b", 2}, {"a *b* c", 7}, {"a [b](c", 2}, {"a `b", 2}, {"a <b", 2}, {"x **a** ~~b", 8}} {
		if _, got := Inline(tt.in); got != tt.want {
			t.Errorf("%q: settled %d, want %d", tt.in, got, tt.want)
		}
	}
}

// TestCloneLeavesItsOriginal shows that what is tried with a copy changes nothing.
func TestCloneLeavesItsOriginal(t *testing.T) {
	var p Parser
	p.Line("- a")
	c := p.Clone()
	c.Line("***")
	c.End()
	p.Line("  b")
	p.End()
	if b := p.Finished(); len(b) != 1 || string(b[0].Text) != "a\nb" {
		t.Errorf("%+v", b)
	}
}

// TestHostile shows that marks without end cost their length.
func TestHostile(t *testing.T) {
	for _, s := range []string{"*", "**a ", "_a*", "[", "![](", "`", "<a ", "](", "[a](", "~~a", "&", "\\", "``a` "} {
		Inline(strings.Repeat(s, 4<<10/len(s)))
	}
	var p Parser
	for range 50 {
		p.Line(strings.Repeat("> - 1. ", 300) + "a")
	}
	p.End()
	if len(p.Finished()) == 0 {
		t.Error("nothing was read")
	}
}
