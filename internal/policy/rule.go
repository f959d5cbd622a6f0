package policy

import (
	"fmt"
	"slices"
	"strings"

	"adze/tool"
)

// Effect is what a rule or a mode says about a need.
type Effect string

// Effects, the strongest first.
const (
	Deny  Effect = "deny"
	Ask   Effect = "ask"
	Allow Effect = "allow"
)

// Layer says where a rule comes from. All layers add up; none is stronger than another.
type Layer string

// Layers.
const (
	Managed     Layer = "machine's owner" // deny and ask only
	CommandLine Layer = "command line"
	User        Layer = "user"
	Project     Layer = "project" // deny and ask only
	builtIn     Layer = "built in"
	granted     Layer = "session" // a user said yes for the rest of the session
	person      Layer = "person"
	Lent        Layer = "skills" // the folders of the user's skills; it never reaches a secret
)

// Rule is one line: effect permission(matcher). Only ParseRule makes one.
type Rule struct {
	Effect     Effect
	Permission tool.Permission
	Matcher    string // as written; if empty, the bare permission
	Layer      Layer

	path pathMatcher
	argv argvMatcher
	host hostMatcher
	// server is set for execute(mcp:SERVER TOOL), which is about no program.
	server *serverMatcher
}

// String is the rule as it is written.
func (r Rule) String() string {
	if r.Matcher == "" {
		return fmt.Sprintf("%s %s", r.Effect, r.Permission)
	}
	return fmt.Sprintf("%s %s(%s)", r.Effect, r.Permission, r.Matcher)
}

// ParseRule reads what follows --allow or --deny: "write", "execute(go test **)".
//
// Matchers: read and write take a path pattern with ** and {a,b}, relative to the workspace (work:)
// or with an anchor home: or abs:. A bare permission and a pattern without an anchor allow only
// inside the workspace, but deny everywhere. Execute takes the words of a command: literal, {a,b},
// * for one word, ** at the end for the rest; mcp:SERVER TOOL is a tool of an MCP server, with the
// patterns of paths in its name and ** for all of its tools. Network takes [scheme://]host[:port],
// with *.example.com for all names below; a rule that allows takes no *.com and no lone *. With
// unix: it takes an absolute path pattern of sockets.
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

// unknownPermission suggests the spelling that was probably meant; people write the names of tools.
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

// translated is a rule of another assistant in the words of this one: there a star behind a
// command's words stands for the rest, as in Bash(rm:*), and here for one word, so that a deny
// taken over letter by letter would stop next to nothing. What has no such words here is named
// without them.
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

// strongest finds the rule that decides among those that match: deny before ask before allow.
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
