package policy

import (
	"net/netip"
	"strings"
	"testing"

	"adze/tool"
)

func TestRulesOpenOnlyWhatTheyName(t *testing.T) {
	const loop, ten = "127.0.0.1:8080", "10.1.2.3:80"
	for name, c := range map[string]struct {
		mode  Mode
		rules []string
		host  string
		at    string
		want  bool
	}{
		"nothing":                      {Yolo, nil, "127.0.0.1", loop, false},
		"bare rule":                    {Yolo, []string{"allow network"}, "127.0.0.1", loop, false},
		"the address":                  {AskFirst, []string{"allow network(http://127.0.0.1:8080)"}, "127.0.0.1", loop, true},
		"the address, other port":      {Yolo, []string{"allow network(http://127.0.0.1:8081)"}, "127.0.0.1", loop, false},
		"the address, usual port":      {Yolo, []string{"allow network(http://127.0.0.1)"}, "127.0.0.1", loop, false},
		"a name that leads there":      {Yolo, []string{"allow network(evil.example:8080)"}, "evil.example", loop, false},
		"a suffix":                     {Yolo, []string{"allow network(*.example:8080)"}, "a.example", loop, false},
		"a name, and the address":      {Yolo, []string{"allow network(corp.example)", "allow network(10.1.2.3)"}, "corp.example", ten, true},
		"localhost":                    {Yolo, []string{"allow network(http://localhost:8080)"}, "localhost", loop, true},
		"localhost in version 6":       {Yolo, []string{"allow network(http://localhost:8080)"}, "localhost", "[::1]:8080", true},
		"localhost that leads away":    {Yolo, []string{"allow network(http://localhost:80)"}, "localhost", ten, false},
		"version 6":                    {Yolo, []string{"allow network(http://[0:0::1]:8080)"}, "::1", "[::1]:8080", true},
		"denied as well":               {Yolo, []string{"allow network(http://127.0.0.1:8080)", "deny network(127.0.0.1)"}, "127.0.0.1", loop, false},
		"denied for one scheme":        {Yolo, []string{"allow network(127.0.0.1:8080)", "deny network(https://127.0.0.1:8080)"}, "127.0.0.1", loop, false},
		"asked for":                    {Yolo, []string{"allow network(http://127.0.0.1:8080)", "ask network"}, "127.0.0.1", loop, false},
		"metadata, named":              {AskFirst, []string{"allow network(http://169.254.169.254)"}, "169.254.169.254", "169.254.169.254:80", true},
		"metadata, by a rule for all":  {Yolo, []string{"allow network"}, "169.254.169.254", "169.254.169.254:80", false},
		"an address behind the number": {Yolo, []string{"allow network(http://127.0.0.1:8080)"}, "127.0.0.2", "127.0.0.2:8080", false},
	} {
		p := newPolicy(t, c.mode, nil, c.rules...)
		if got := p.NamesAddress(c.host, netip.MustParseAddrPort(c.at)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestRulesOpenPortsTheyWriteOut(t *testing.T) {
	p := newPolicy(t, Yolo, nil, "allow network(docs.example:8443)", "allow network(*.test.example:9000)", "allow network(plain.example)")
	for host, c := range map[string]struct {
		port uint16
		want bool
	}{"docs.example": {8443, true}, "other.example": {8443, false}, "a.test.example": {9000, true}, "plain.example": {8080, false}} {
		if got := p.NamesPort(host, c.port); got != c.want {
			t.Errorf("%s:%d: %v", host, c.port, got)
		}
	}
}

func TestRedirectsFollowRules(t *testing.T) {
	p := newPolicy(t, Yolo, nil, "allow network(*.docs.example)", "deny network(bad.docs.example)", "allow network")
	for url, want := range map[string]bool{
		"https://a.docs.example/x": true, "https://bad.docs.example/": false, "https://else.example/": false, "http://127.0.0.1/": false, "::": false,
	} {
		if got := p.Follows(url); got != want {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// What a user said yes to for the session counts as named; what was asked once does not.
func TestAGrantNamesItsAddress(t *testing.T) {
	at := netip.MustParseAddrPort("127.0.0.1:8080")
	for answer, want := range map[Answer]bool{{Choice: Once}: false, {Choice: Session}: true} {
		s := &answers{answers: []Answer{answer}}
		p := newPolicy(t, AskFirst, s.ask)
		decide(t, p, tool.Question{Needs: []tool.Need{{Permission: tool.Network, Target: "http://127.0.0.1:8080/x"}}})
		if got := p.NamesAddress("127.0.0.1", at); got != want {
			t.Errorf("%v: %v", answer, got)
		}
	}
}

// Ports and sockets of this machine are allowed to commands in the sandbox by their own rules alone.
func TestRulesOpenPortsAndSocketsOfThisMachine(t *testing.T) {
	for name, c := range map[string]struct {
		rules, target string
		want          Effect
	}{
		"no rule":              {"", "tcp://localhost:5432", Ask},
		"bare":                 {"allow network", "tcp://localhost:5432", Ask},
		"bare, socket":         {"allow network", "unix:/run/docker.sock", Ask},
		"bare deny":            {"deny network", "unix:/run/docker.sock", Deny},
		"deny of all hosts":    {"deny network(*)", "tcp://localhost:5432", Deny},
		"the port":             {"allow network(localhost:5432)", "tcp://localhost:5432", Allow},
		"by number":            {"allow network(127.0.0.1:5432)", "tcp://localhost:5432", Allow},
		"by number, version 6": {"deny network([::1]:5432)", "tcp://localhost:5432", Deny},
		"another port":         {"allow network(localhost:5433)", "tcp://localhost:5432", Ask},
		"no port":              {"allow network(localhost)", "tcp://localhost:80", Ask},
		"another host":         {"allow network(db.example:5432)", "tcp://localhost:5432", Ask},
		"a page":               {"allow network(http://localhost:5432)", "tcp://localhost:5432", Ask},
		"below a folder":       {"allow network(unix:/run/postgresql/**)", "unix:/run/postgresql/.s.PGSQL.5432", Allow},
		"the socket":           {"allow network(unix:/run/docker.sock)", "unix:/run/docker.sock", Allow},
		"another socket":       {"allow network(unix:/run/docker.sock)", "unix:/run/docker.sock.2", Ask},
		"a deny of sockets":    {"deny network(unix:/**)", "unix:/run/docker.sock", Deny},
		"asked for":            {"ask network", "tcp://localhost:5432", Ask},
		"sockets are no hosts": {"allow network(unix:/run/**)", "https://run", Ask},
	} {
		var rules []string
		if c.rules != "" {
			rules = []string{c.rules}
		}
		p := newPolicy(t, Auto, nil, rules...)
		v := p.judgeHost(Auto, verdict{need: tool.Need{Permission: tool.Network, Target: c.target}})
		if v.effect != c.want {
			t.Errorf("%s: %s", name, v.effect)
		}
		// Mode yolo asks nobody, and opens them no wider.
		yolo := c.want
		if yolo == Ask && !strings.HasPrefix(c.target, "https") {
			yolo = Deny
		} else if yolo == Ask {
			yolo = Allow
		}
		if v := p.judge(Yolo, v.need); v.effect != yolo {
			t.Errorf("%s, mode yolo: %s", name, v.effect)
		}
		if len(v.offers) != 1 {
			t.Fatalf("%s: %+v", name, v.offers)
		}
		// What is offered allows that, and one beside it is still asked about.
		p = newPolicy(t, Auto, nil, v.offers[0].rule)
		beside := v.need
		beside.Target = strings.NewReplacer("https://", "https://other.", "localhost:", "localhost:1", "unix:", "unix:/other").Replace(v.need.Target)
		for need, want := range map[tool.Need]Effect{v.need: Allow, beside: Ask} {
			if e := p.judgeHost(Auto, verdict{need: need}).effect; e != want {
				t.Errorf("%s: %s after %s: %s", name, need.Target, v.offers[0].rule, e)
			}
		}
	}
	for _, matcher := range []string{"unix:", "unix:run/x", "unix:/**", "unix:/*", "unix:~/x", "tcp://localhost:1"} {
		if r, err := ParseRule(Allow, User, "network("+matcher+")"); err == nil {
			t.Errorf("%s is a rule", r)
		}
	}
}

// TestBracesOfAPathRuleAreWrittenOut: doublestar 4.10.4 matches .env by .env*, but not by
// .env*{,.local}. A denial must cover each file that one of its alternatives names.
func TestBracesOfAPathRuleAreWrittenOut(t *testing.T) {
	for pattern, names := range map[string]string{
		".env*{,.local}": ".env .env.local .env.test.local", "**/{id_*,*.key}{,.pub}": "a/id_rsa id_rsa.pub a.key.pub", "{a/b,*}{,.bak}": "c a/b c.bak",
		"[{a,b}].txt": "a.txt {.txt",
	} {
		p := newPolicy(t, Yolo, nil, "deny read("+pattern+")")
		for name := range strings.FieldsSeq(names) {
			if d := decide(t, p, tool.Question{Needs: []tool.Need{{Permission: tool.Read, Target: name}}}); d.Allow || d.Rule == "" {
				t.Errorf("%s does not cover %s: %+v", pattern, name, d)
			}
		}
	}
}
