package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"adze/internal/policy/script"
	"adze/internal/text/braces"
	"adze/tool"
)

// Prefix for an MCP server in rules and needs.
const serverPrefix = "mcp:"

// serverTool is an MCP server's tool in a need: mcp:SERVER TOOL.
type serverTool struct{ server, tool string }

// serverToolOf parses a need's target. It returns false unless the form is exact.
func serverToolOf(target string) (serverTool, bool) {
	rest, ok := strings.CutPrefix(target, serverPrefix)
	server, name, _ := strings.Cut(rest, " ")
	return serverTool{server, tool.PlainName(name)}, ok && server != "" && name != "" && !strings.ContainsAny(server+name, " \t\r\n")
}

// serverMatcher is a compiled execute(mcp:SERVER TOOL). Both names are patterns like paths, with *,
// ?, [a-z] and {a,b}.
type serverMatcher struct {
	server, tool string
	names        []string // both, without braces
}

// aboutServer reports whether a matcher is about MCP tools, not programs.
func aboutServer(matcher string) bool {
	return strings.HasPrefix(strings.TrimLeft(matcher, `'"`), serverPrefix)
}

func compileServer(matcher string, effect Effect) (*serverMatcher, error) {
	words, err := splitMatcher(matcher)
	if err != nil {
		return nil, err
	}
	m := &serverMatcher{server: strings.TrimPrefix(words[0].pattern(), serverPrefix)}
	switch {
	case m.server == "":
		return nil, errors.New("the server is missing; write mcp:SERVER TOOL")
	case effect == Allow && hasWildcard(m.server):
		return nil, fmt.Errorf("%s%s would allow tools of servers that are added later; name the server", serverPrefix, m.server)
	case len(words) == 1:
		return nil, fmt.Errorf("name a tool of the server, as in %[1]s%[2]s read_file or %[1]s%[2]s read_*; ** stands for all of its tools", serverPrefix, m.server)
	case len(words) > 3, len(words) == 3 && words[2] != mword{text: "**"}:
		return nil, errors.New("a rule about a tool of an MCP server ends with the name of the tool: it is about every call, whatever its arguments")
	}
	m.tool = words[1].toolPattern()
	for _, pattern := range []string{m.server, m.tool} {
		if !doublestar.ValidatePattern(pattern) || strings.Contains(pattern, "/") {
			return nil, fmt.Errorf("%q is not a pattern of names; use *, ?, [a-z] and {a,b}", pattern)
		}
	}
	names, ok := braces.Alternatives(strings.ReplaceAll(m.server+" "+m.tool, "[!", "[^"), braces.MaxExpansions)
	if m.names = names; !ok {
		return nil, fmt.Errorf("the braces of %q stand for more than %d patterns; write several rules", matcher, braces.MaxExpansions)
	}
	for _, pattern := range m.names {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%q is not a pattern of names; use *, ?, [a-z] and {a,b}", pattern)
		}
	}
	return m, nil
}

// pattern returns a word as a pattern; a quoted one is literal.
func (w mword) pattern() string {
	if w.quoted {
		return escapeGlob(w.text)
	}
	return w.text
}

// hasWildcard reports whether a pattern matches other names than itself.
func hasWildcard(pattern string) bool { return strings.ContainsAny(unescaped(pattern, "\x00"), "*?[") }

// toolPattern returns a word as a pattern for tool names in the form of tool.PlainName.
func (w mword) toolPattern() string {
	return strings.Map(func(r rune) rune {
		if !w.quoted && strings.ContainsRune(`*?[]{},^!\`, r) || tool.PlainName(string(r)) == string(r) {
			return r
		}
		return '_'
	}, w.text)
}

func (m *serverMatcher) matches(t serverTool) bool {
	name := strings.ReplaceAll(t.server, "/", "\x00") + " " + t.tool // a star does not match a slash
	return slices.ContainsFunc(m.names, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// calls reports whether an execute rule covers a server's tool: by name, or everything.
func (r Rule) calls(t serverTool) bool {
	if r.server != nil {
		return r.server.matches(t)
	}
	words := []script.Word{script.Literal(serverPrefix + t.server), script.Literal(t.tool)}
	return r.argv.covers(words)
}

// judgeServerTool judges a call to an MCP server's tool. Rules match the tool only, not its
// arguments.
func (p *Policy) judgeServerTool(mode Mode, v verdict) verdict {
	t, ok := serverToolOf(v.need.Target)
	if !ok || v.need.Permission != tool.Execute {
		return v.mistaken(fmt.Errorf("%s is not a tool of an MCP server", quote(v.need.Target)))
	}
	doing := "calling " + quote(v.need.Target)
	r, found := strongest(p.rulesFor(tool.Execute), func(r Rule) bool { return r.calls(t) })
	switch {
	case found && r.Effect == Deny:
		v.reason = deniedBy(doing, r)
		return v.withRule(r)
	case found:
		v.reason = doing + " is asked for by a rule"
		return v.withRule(r)
	}
	v.server = t
	v.effect, v.layer, v.reason = mode.byDefault(tool.Execute, false), layerOf(mode), doing+" needs approval"
	return v
}

// rule allows the tool, and wide its whole server.
func (t serverTool) rule() string {
	return fmt.Sprintf("allow execute(%s %s)", quoteWord(serverPrefix+t.server), quoteWord(t.tool))
}

func (t serverTool) wide() string {
	return fmt.Sprintf("allow execute(%s **)", quoteWord(serverPrefix+t.server))
}
