package policy

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// Effect is a rule's or mode's decision.
type Effect string

// The strongest first.
const (
	Deny  Effect = "deny"
	Ask   Effect = "ask"
	Allow Effect = "allow"
)

// Layer is a rule's source. All layers add up; none is stronger than another.
type Layer string

const (
	Managed     Layer = "machine's owner" // deny and ask only
	CommandLine Layer = "command line"
	User        Layer = "user"
	Project     Layer = "project" // deny and ask only
	builtIn     Layer = "built in"
	granted     Layer = "session" // granted by the user for the session
	person      Layer = "person"
	Lent        Layer = "skills" // folders with the user's skills; never includes a secret
)

// A Rule is one line: effect permission(matcher). Only ParseRule makes one.
type Rule struct {
	Effect     Effect
	Permission tool.Permission
	Matcher    string // as written; empty for the bare permission
	Layer      Layer

	path pathMatcher
	argv argvMatcher
	host hostMatcher
	// For execute(mcp:SERVER TOOL), which is about no program.
	server *serverMatcher
}

// String returns the rule as written.
func (r Rule) String() string {
	if r.Matcher == "" {
		return fmt.Sprintf("%s %s", r.Effect, r.Permission)
	}
	return fmt.Sprintf("%s %s(%s)", r.Effect, r.Permission, r.Matcher)
}

// ParseRule parses the text after --allow or --deny: "write", "execute(go test **)".
//
// Matchers: read and write take a path pattern with ** and {a,b}, relative to the workspace (work:)
// or with an anchor home: or abs:. A bare permission and a pattern without an anchor allow only
// inside the workspace, but deny everywhere. Execute takes a command's words: literal, {a,b}, * for
// one word, ** at the end for the rest; mcp:SERVER TOOL is an MCP server's tool, with path patterns
// in its name and ** for all tools. Network takes [scheme://]host[:port], with *.example.com for
// all names below; an allow rule takes no *.com and no lone *. With unix: it takes an absolute path
// pattern for sockets.
func ParseRule(effect Effect, layer Layer, text string) (Rule, error) {
	text = strings.TrimSpace(text)
	name, matcher, has := strings.Cut(text, "(")
	r := Rule{Effect: effect, Permission: tool.Permission(strings.TrimSpace(name)), Layer: layer}
	if !slices.Contains(permissions(), string(r.Permission)) {
		return Rule{}, unknownPermission(text, name, matcher, has)
	}
	if has {
		inner, closed := strings.CutSuffix(matcher, ")")
		r.Matcher = strings.TrimSpace(inner)
		if !closed || r.Matcher == "" {
			return Rule{}, fmt.Errorf("rule %q: write it as %s or %s(matcher)", text, name, name)
		}
	}
	if err := r.compile(); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", text, err)
	}
	return r, nil
}

func (r *Rule) compile() (err error) {
	switch r.Permission {
	case tool.Read, tool.Write:
		r.path, err = compilePath(r.Matcher, r.Effect)
	case tool.Execute:
		if aboutServer(r.Matcher) {
			r.server, err = compileServer(r.Matcher, r.Effect)
		} else {
			r.argv, err = compileArgv(r.Matcher)
		}
	case tool.Network:
		r.host, err = compileHost(r.Matcher, r.Effect)
	}
	return err
}

func permissions() []string {
	return []string{string(tool.Read), string(tool.Write), string(tool.Execute), string(tool.Network)}
}

// unknownPermission suggests the likely spelling; users write tool names.
func unknownPermission(text, name, matcher string, has bool) error {
	meant := ""
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "bash", "shell", "sh", "run", "exec", "command", "cmd":
		meant = string(tool.Execute)
	case "edit", "multiedit", "create", "patch":
		meant = string(tool.Write)
	case "webfetch", "fetch", "web", "net", "url", "http", "https":
		meant = string(tool.Network)
	case "glob", "grep", "list", "ls", "view", "cat":
		meant = string(tool.Read)
	default:
		if near := tool.Nearest(strings.TrimSpace(name), permissions(), 1); len(near) > 0 {
			meant = near[0]
		}
	}
	if meant == "" {
		return fmt.Errorf("rule %q: there is no permission %q; use one of %s", text, name, strings.Join(permissions(), ", "))
	}
	if has {
		meant = translated(meant, strings.TrimSuffix(matcher, ")"))
	}
	return fmt.Errorf("rule %q: there is no permission %q; did you mean %s?", text, name, meant)
}

// translated converts a rule from another assistant. There a star after a command's words stands
// for the rest, as in Bash(rm:*), and here for one word, so that a literal copy would deny next to
// nothing. Permissions without an equivalent are named as such.
func translated(permission, matcher string) string {
	matcher = strings.TrimSpace(matcher)
	switch tool.Permission(permission) {
	case tool.Execute:
		words := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(matcher, "*"), ":"))
		if strings.HasSuffix(matcher, ":*") || strings.HasSuffix(matcher, " *") {
			matcher = strings.TrimSpace(words + " **")
		}
	case tool.Network:
		matcher = strings.TrimPrefix(matcher, "domain:")
	case tool.Read, tool.Write:
		for _, root := range [][2]string{{"./", "work:"}, {"~/", "home:"}, {"//", "abs:/"}} {
			if rest, ok := strings.CutPrefix(matcher, root[0]); ok {
				matcher = root[1] + rest
			}
		}
	}
	rule := permission + "(" + matcher + ")"
	if _, err := ParseRule(Deny, "", rule); err != nil {
		return permission + "(…)"
	}
	return rule
}

// strongest finds the deciding rule among those that match: deny before ask before allow.
func strongest(rules []Rule, matches func(Rule) bool) (Rule, bool) {
	for _, effect := range []Effect{Deny, Ask, Allow} {
		for _, r := range rules {
			if r.Effect == effect && matches(r) {
				return r, true
			}
		}
	}
	return Rule{}, false
}
