package policy

import (
	"net"
	"slices"
	"strings"

	"adze/internal/policy/programs"
	"adze/internal/policy/script"
	"adze/tool"
)

// A Description explains an allow rule to the user. Only [Rule.Describe] and the narrowing for a
// session write these sentences, for the same text in all dialogs and protocols.
// TestOffersSayWhatTheyAllow compares them with the policy's behavior.
type Description struct {
	// Covers describes calls no longer asked about, and Spares similar ones that still are. Saved
	// describes the extra coverage of a saved rule compared to a session's grant; may be empty.
	Covers, StillAsked, Saved string
}

// For a rule without a path, or with one below the workspace.
const everyWorkspace = "in every workspace"

// Describe explains a rule.
func (r Rule) Describe() Description {
	switch {
	case r.Permission == tool.Network:
		return r.describeHost()
	case r.Permission == tool.Read || r.Permission == tool.Write:
		return r.describePath()
	case r.server != nil:
		return r.server.describe()
	case len(r.argv.tokens) == 0 && r.argv.anyRest:
		return Description{
			Covers: "every command, and every tool of every MCP server", StillAsked: "programs behind sudo or sh -c, files that hold secrets or make programs run things", Saved: everyWorkspace,
		}
	}
	return r.describeWords()
}

// describe explains a rule about server tools.
func (m *serverMatcher) describe() Description {
	many := func(pattern string) bool { return strings.ContainsAny(unescaped(pattern, "\x00"), "*?[{") }
	server := "the MCP server " + unescaped(m.server, "")
	if many(m.server) {
		server = "each MCP server " + m.server
	}
	d := Description{StillAsked: "other tools, other servers", Saved: everyWorkspace + ", for any server of that name"}
	switch {
	case strings.Trim(m.tool, "*") == "":
		d.Covers = "any call of any tool of " + server + ", also of tools that it adds later"
		d.StillAsked = "other servers"
	case many(m.tool):
		d.Covers = "any call of each tool " + m.tool + " of " + server + ", whatever its arguments, also of tools that it adds later"
	default:
		d.Covers = "any call of the tool " + unescaped(m.tool, "") + " of " + server + ", whatever its arguments"
	}
	if match(m.tool, "resources") { // the need for reading a server's resources
		d.Covers += ", and reading its resources"
	}
	return d
}

func (t serverTool) need() tool.Need {
	return tool.Need{Permission: tool.Execute, Target: serverPrefix + t.server + " " + t.tool, Reach: tool.ServerTool}
}

// Never covered by a rule about commands.
const neverCovered = "the same behind sudo or sh -c"

// describeWords explains a rule about a command's words.
func (r Rule) describeWords() Description {
	var shown, example []string
	anyWord, head := false, ""
	for i, t := range r.argv.tokens {
		word, one := "*", "x"
		if !t.any {
			word, one = strings.Join(t.oneOf, " or "), t.oneOf[0]
		}
		if i == 0 && !t.any {
			head = word
		}
		if len(t.oneOf) > 1 {
			word = "(" + word + ")"
		}
		anyWord = anyWord || t.any
		shown, example = append(shown, word), append(example, one)
	}
	d := Description{Covers: strings.Join(shown, " ") + " with any options and names", Saved: everyWorkspace}
	switch {
	case !r.argv.anyRest:
		d.Covers, d.StillAsked = strings.Join(shown, " ")+" and nothing behind it", "other arguments, "
	case head != "" && len(example) > 1:
		d.StillAsked = head + " with another subcommand, "
	case head != "":
		d.StillAsked = "other programs, "
	}
	if anyWord {
		d.Covers += " (* is any one word)"
	}
	d.Covers += ", in every folder, also behind CI=1, env, nohup or timeout"
	d.StillAsked += neverCovered
	if looksAt(example) {
		d.StillAsked += ", files known for their secrets"
	}
	if does := r.Effects(); does != "" {
		d.StillAsked += ", " + does
	}
	return d
}

// looksAt reports whether the table knows which files the program reads.
func looksAt(words []string) bool {
	for _, more := range [][]string{nil, {"x"}, {"x", "x"}} {
		var given []script.Word
		for _, w := range append(slices.Clone(words), more...) {
			given = append(given, script.Literal(w))
		}
		if use, ok := programs.Judge(given); ok && len(use.Accesses) > 0 {
			return true
		}
	}
	return false
}

// describePath explains a rule about files.
func (r Rule) describePath() Description {
	does := map[tool.Permission]string{tool.Read: "reads of ", tool.Write: "edits to "}[r.Permission]
	at := r.path.pattern
	folder, below := strings.CutSuffix(at, "/**")
	patterned := func(s string) bool { return strings.ContainsAny(unescaped(s, "\x00"), "*?[]{}") }
	d := Description{}
	switch {
	case at == "**":
		d.Covers = does + "every file" + r.path.lies()
	case below && !patterned(folder):
		d.Covers = does + "every file below " + unescaped(folder, "") + r.path.lies()
	case patterned(at):
		d.Covers = does + "every file that is called " + at + r.path.lies()
	default:
		d.Covers = does + unescaped(at, "") + r.path.lies()
		if r.Permission == tool.Read {
			d.Covers += ", or each list and search of it"
		}
	}
	d.StillAsked = "other files, another kind of access"
	if r.path.anchor == "work" {
		d.Saved = everyWorkspace
	}
	const secrets = "files known for their secrets"
	switch {
	case !below && at != "**":
	case r.Permission == tool.Write:
		d.StillAsked = "files elsewhere, files that make other programs run things"
	case r.Layer == granted:
		d.StillAsked, d.Saved = "files elsewhere, "+secrets, also(d.Saved, "with "+secrets)
	case r.Matcher == "":
		d.StillAsked = "files elsewhere, " + secrets
	default:
		d.Covers, d.StillAsked = d.Covers+", also "+secrets, "files elsewhere"
	}
	return d
}

// lies describes the location of an anchor's paths.
func (m pathMatcher) lies() string {
	return map[string]string{"work": " in the workspace", "home": " in the home folder"}[m.anchor]
}

// describeHost explains a rule about addresses.
func (r Rule) describeHost() Description {
	m := r.host
	host := m.host
	switch {
	case m.sockets != nil:
		return Description{Covers: "the socket " + unescaped(m.sockets.pattern, "") + ", for commands in the sandbox: its server does what they ask of it, outside", StillAsked: "other sockets, ports", Saved: everyWorkspace}
	case m.suffix != "":
		host = "each host below " + strings.TrimPrefix(m.suffix, ".")
	case host == "":
		return Description{Covers: "every page of every host on the usual ports", StillAsked: "other ports"}
	}
	d := Description{Covers: "every page of " + host + " on the usual ports, by http and https", StillAsked: "other hosts, hosts below it, other ports"}
	switch {
	case m.port != "" && m.scheme == "" && ofThisMachine(host):
		d.Covers, d.StillAsked = "the program of this machine that serves port "+m.port+", for pages and for commands in the sandbox", "other hosts, other ports"
	case m.port != "" && m.scheme != "":
		d.Covers = "every page at " + m.scheme + "://" + net.JoinHostPort(host, m.port)
	case m.port != "":
		d.Covers = "every page of " + host + " on port " + m.port
	case m.scheme != "":
		d.Covers = "every page of " + host + " by " + m.scheme + " on its usual port"
	}
	if m.scheme != "" {
		d.StillAsked += ", other schemes"
	}
	if m.suffix != "" {
		d.StillAsked = strings.Replace(d.StillAsked, "hosts below it, ", "", 1)
	}
	return d
}

// describe explains a session grant, which covers less than its rule if it has a key.
func (g grant) describe() (Description, error) {
	r, err := ParseRule(Allow, granted, strings.TrimPrefix(g.rule, "allow "))
	if g.key == "" {
		if err != nil { // it contains text that no rule can express, such as a line end
			return Description{}, err
		}
		return r.Describe(), nil
	}
	d := Description{}
	if err == nil {
		d.Saved = r.Describe().Saved
	}
	switch g.kind {
	case tool.Execute:
		d.Covers = "exactly this command, in this folder"
		d.StillAsked = "other arguments, other folders, other variables, or behind sudo, env or sh -c"
		if d.Saved != "" {
			d.Saved = "in every folder, also behind CI=1, env, nohup or timeout"
		}
	case tool.Network:
		d.Covers, d.StillAsked = "every page at this address", "other hosts, hosts below it, other ports, other schemes"
	case tool.Read:
		d.Covers, d.StillAsked = "reads of "+g.name+", or each list and search of it", "other files, another kind of access"
	case tool.Write:
		d.Covers, d.StillAsked = "edits to "+g.name, "other files, another kind of access"
	}
	return d, nil
}
