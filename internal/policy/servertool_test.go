package policy

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
	"adze/tool"
)

// TestRulesForToolsOfServers holds the language of execute(mcp:SERVER TOOL): one for allow, ask and
// deny, with * and {a,b} within a name.
func TestRulesForToolsOfServers(t *testing.T) {
	for _, c := range []struct{ rule, runs, others string }{
		{"mcp:fs read_file", "fs read_file", "fs read_files|fs Read_file|fs xread_file|fs2 read_file|Fs read_file|fs read_|fs resources"},
		{"mcp:fs a.b", "fs a.b|fs a_b|fs a/b", "fs ab"},
		{"mcp:fs read_*", "fs read_file|fs read_|fs read_a_b", "fs read|fs xread_file|fs write_file|git read_file|fs Read_file"},
		{"mcp:fs *_file", "fs read_file|fs _file", "fs file|fs read_files"},
		{"mcp:fs r*d_*e", "fs read_file|fs rd_e", "fs read_files|fs read"},
		{"mcp:fs {read,list}_*", "fs read_file|fs list_all", "fs write_file|fs {read,list}_x"},
		{"mcp:fs {read_file,list}", "fs read_file|fs list", "fs read_|fs lists"},
		{"mcp:fs read_?", "fs read_a", "fs read_|fs read_ab"},
		{"mcp:fs **", "fs read_file|fs x|fs resources", "fs2 read_file|git x"},
		{"mcp:fs read_[a-c]", "fs read_b", "fs read_d|fs read_|fs read_[a-c]"},
		{"mcp:fs [!w]*", "fs read_file|fs x", "fs write_file"},
		{"mcp:fs *", "fs read_file|fs x", "fs2 read_file"},
		{"mcp:fs read_file **", "fs read_file", "fs read_files"},
		{"mcp:{fs,git} read_*", "fs read_file|git read_x", "hub read_x|fs x"},
		{"mcp:fs delete.file", "fs delete_file", "fs deleteXfile|fs delete-file"},
		{"'mcp:fs' 'read_file'", "fs read_file", "fs read_files"},
		{"mcp:fs 'all*[x]'", "fs all*[x]|fs all__x_", "fs allx"},
		{"**", "fs read_file|git x", ""},
	} {
		for effect, want := range map[Effect]int{Allow: 2, Ask: 1, Deny: 0} {
			var rules []string
			if effect != Allow {
				rules = []string{"allow execute"}
			}
			p, without := newPolicy(t, AskFirst, nil, append(rules, string(effect)+" execute("+c.rule+")")...), newPolicy(t, AskFirst, nil, rules...)
			for target := range strings.SplitSeq(c.runs, "|") {
				q := callOf(target)
				if got := rank(decide(t, p, q)); got != want {
					t.Errorf("%s execute(%s): %s: %d", effect, c.rule, target, got)
				}
			}
			for target := range strings.SplitSeq(c.others, "|") {
				if target == "" {
					continue
				}
				if got, old := rank(decide(t, p, callOf(target))), rank(decide(t, without, callOf(target))); got != old {
					t.Errorf("%s execute(%s): %s is %d, without the rule %d", effect, c.rule, target, got, old)
				}
			}
		}
	}
}

func callOf(target string) tool.Question {
	return tool.Question{Call: "c", Needs: []tool.Need{{Permission: tool.Execute, Target: "mcp:" + target, Reach: tool.ServerTool}}}
}

// TestRulesForToolsOfServersThatCannotBeRead says what is wrong with them.
func TestRulesForToolsOfServersThatCannotBeRead(t *testing.T) {
	for text, part := range map[string]string{
		"mcp:fs": "name a tool", "mcp:": "server is missing", "mcp:fs write_file /tmp/**": "whatever its arguments", "mcp:fs read_file x": "whatever its arguments",
		"mcp:* read_*": "name the server", "mcp:f? x": "name the server", "mcp:fs [": "not a pattern", "mcp:fs {a": "not a pattern",
	} {
		if _, err := ParseRule(Allow, User, "execute("+text+")"); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseRule(Deny, User, "execute(mcp:* delete_*)"); err != nil {
		t.Errorf("a deny may name every server: %v", err)
	}
}

// TestAProgramIsNoToolOfAServer: a rule for a tool lets no shell command run that is spelled as it,
// a deny of one forbids no command, and a call that names no tool is none.
func TestAProgramIsNoToolOfAServer(t *testing.T) {
	p := newPolicy(t, AskFirst, nil, "allow execute(mcp:fs **)")
	for _, text := range []string{"mcp:fs read_file", "env mcp:fs read_file", "mcp:fs read_file; ls"} {
		if d := decide(t, p, run(text)); d.Allow {
			t.Errorf("%s: %+v", text, d)
		}
	}
	if d := decide(t, p, callOf("fs read_file x")); d.Allow {
		t.Errorf("%+v", d)
	}
	p = newPolicy(t, Yolo, nil, "deny execute(mcp:fs **)")
	for _, text := range []string{"mcp:fs read_file", "$X read_file", "( unfinished"} {
		if d := decide(t, p, run(text)); !d.Allow {
			t.Errorf("%s: %+v", text, d)
		}
	}
	for _, n := range []tool.Need{{Permission: tool.Write, Target: "mcp:fs x", Reach: tool.ServerTool}, {Permission: tool.Execute, Target: "ls", Reach: tool.ServerTool}} {
		if d := decide(t, p, tool.Question{Needs: []tool.Need{n}}); d.Allow {
			t.Errorf("%+v", d)
		}
	}
	for _, mode := range []Mode{Plan, AskFirst, Edits, Auto} {
		if d := decide(t, newPolicy(t, mode, nil), callOf("fs read_file")); d.Allow {
			t.Errorf("in mode %s without a rule: %+v", mode, d)
		}
	}
	if d := decide(t, newPolicy(t, Plan, nil, "allow execute(mcp:fs **)"), callOf("fs read_file")); d.Allow {
		t.Errorf("in plan: %+v", d)
	}
}

// TestAToolOfAServerIsOfferedFirst: the tool, and the whole server only as a choice of its own that
// says so. Where nobody is there the denial names the rule.
func TestAToolOfAServerIsOfferedFirst(t *testing.T) {
	s := &answers{answers: []Answer{{Choice: Session}}}
	p := newPolicy(t, AskFirst, s.ask)
	if d := decide(t, p, callOf("fs write_file")); !d.Allow || d.Rule != "allow execute(mcp:fs write_file)" {
		t.Errorf("%+v", d)
	}
	offers := s.prompts[0].Offers
	if len(offers) != 2 || DefaultOffer(offers) != 0 || offers[0].Kind != ToolOffer || offers[1].Kind != ServerOffer || !strings.Contains(offers[1].Covers, "any tool of the MCP server fs") {
		t.Fatalf("%+v", offers)
	}
	d := decide(t, newPolicy(t, AskFirst, nil), callOf("fs write_file"))
	if d.Allow || len(d.Offers) != 1 || d.Offers[0] != "execute(mcp:fs write_file)" {
		t.Errorf("%+v", d)
	}
	if d := decide(t, newPolicy(t, AskFirst, nil, "ask execute(mcp:fs write_*)"), callOf("fs write_file")); d.Allow || d.Offers != nil {
		t.Errorf("an ask rule wants to be asked each time: %+v", d)
	}
}

// TestPatternsOfNamesAreThoseOfARegularExpression compares generated rules with a reading of their
// patterns that shares nothing with the gate's.
func TestPatternsOfNamesAreThoseOfARegularExpression(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	word := func(letters string, most int) string {
		var b strings.Builder
		for range 1 + rng.IntN(most) {
			b.WriteByte(letters[rng.IntN(len(letters))])
		}
		return b.String()
	}
	matched := 0
	for range effort.Rounds(400, 3000, 30_000) {
		pattern := word("ab_**?", 5)
		expression := strings.NewReplacer("*", ".*", "?", ".").Replace(pattern)
		if rng.IntN(3) == 0 {
			one, other := word("ab*", 2), word("ab_", 2)
			pattern += "{" + one + "," + other + "}"
			expression += "(" + strings.ReplaceAll(one, "*", ".*") + "|" + other + ")"
		}
		want := regexp.MustCompile("^" + expression + "$")
		p := newPolicy(t, AskFirst, nil, "allow execute(mcp:s "+pattern+")")
		for range 10 {
			name := word("ab_-", 5)
			got := decide(t, p, callOf("s "+name)).Allow
			if got != want.MatchString(name) {
				t.Errorf("mcp:s %s: %s is allowed: %v", pattern, name, got)
			}
			if got {
				matched++
			}
		}
	}
	if matched < 100 {
		t.Errorf("only %d matches", matched)
	}
}

// TestAProgramIsNotOfferedAsAServer: a rule for a program that is called as a server would allow
// the tools of that server, or be none.
func TestAProgramIsNotOfferedAsAServer(t *testing.T) {
	p := newPolicy(t, AskFirst, nil)
	for _, line := range []string{"mcp: x", "mcp:fs read_file", "mcp:fs read_file x", "mcp:fs"} {
		v := p.judge(AskFirst, tool.Need{Permission: tool.Execute, Target: line})
		if offers := offersFor([]verdict{v}); v.effect != Ask || len(offers) > 0 {
			t.Errorf("%q: %s, offered %+v", line, v.effect, offers)
		}
	}
}
