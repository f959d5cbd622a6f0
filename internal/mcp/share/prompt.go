package share

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/text"
	"adze/session"
)

// maxPrompt limits a server's prompt, in bytes: no output limit applies to it.
const maxPrompt = 256 << 10

// Label returns the prompt's name after a slash.
func (p Prompt) Label() string { return p.Server + ":" + p.Name }

// Hint returns its arguments' usage.
func (p Prompt) Hint() string {
	var words []string
	for _, a := range p.Arguments {
		if a.Required {
			words = append(words, "<"+a.Name+">")
		} else {
			words = append(words, "["+a.Name+"]")
		}
	}
	return strings.Join(words, " ")
}

// Find returns the prompt with a label.
func (s *Catalog) Find(label string) (Prompt, bool) {
	all := s.Prompts()
	i := slices.IndexFunc(all, func(p Prompt) bool { return p.Label() == label })
	if i < 0 {
		return Prompt{}, false
	}
	return all[i], true
}

// Compose gets a prompt from its server with the user's arguments.
func (s *Catalog) Compose(ctx context.Context, p Prompt, rest string) (string, error) {
	fail := func(hint, format string, args ...any) (string, error) {
		return "", &session.ComposeError{Cause: session.CauseUsage, Message: "/" + p.Label() + ": " + fmt.Sprintf(format, args...), Hint: hint}
	}
	given, err := p.fill(rest)
	if err != nil {
		return fail(strings.TrimSpace("write it as /"+p.Label()+" "+p.Hint()), "%v", err)
	}
	err = s.pool.Await(ctx, p.Server)
	session, release := (*sdk.ClientSession)(nil), func() {}
	if err == nil {
		session, release, err = s.pool.Session(ctx, p.Server)
	}
	if err != nil {
		return fail("adze mcp test "+p.Server, "the MCP server does not work: %s", mcp.Line(s.mask(err.Error()), 600))
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	got, err := mcp.WaitFor(ctx, func() (*sdk.GetPromptResult, error) {
		return session.GetPrompt(ctx, &sdk.GetPromptParams{Name: p.Name, Arguments: given})
	})
	if err != nil {
		return fail("adze mcp test "+p.Server, "the MCP server did not give it: %s", mcp.Line(s.mask(s.pool.Failure(p.Server, err)), 600))
	}
	text := s.mask(messages(got.Messages))
	switch {
	case strings.TrimSpace(text) == "":
		return fail("leave it out", "the MCP server gave an empty one")
	case len(text) > maxPrompt:
		return fail("leave it out", "the MCP server gave one of %d bytes, at most %d are sent", len(text), maxPrompt)
	}
	typed := strings.TrimSpace("/" + p.Label() + " " + strings.TrimSpace(rest))
	return fmt.Sprintf("%s\n\n<prompt from=%q>\n%s\n</prompt>", typed, "the MCP server "+p.Server, strings.TrimSpace(text)), nil
}

// messages joins a prompt's messages, with their roles unless all are the user's.
func messages(all []*sdk.PromptMessage) string {
	mixed := slices.ContainsFunc(all, func(m *sdk.PromptMessage) bool { return m != nil && m.Role != "user" })
	var parts []string
	for _, m := range all {
		if m == nil || m.Content == nil {
			continue
		}
		text, _ := mcp.Content([]sdk.Content{m.Content})
		if mixed {
			text = mcp.Line(string(m.Role), 20) + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// fill assigns the user's words to a prompt's arguments: NAME=VALUE by name, others in order; the
// last argument takes all remaining words.
func (p Prompt) fill(rest string) (map[string]string, error) {
	given := map[string]string{}
	var loose []string
	for _, w := range text.Words(rest) {
		name, value, named := strings.Cut(w, "=")
		if named && slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Name == name }) {
			given[name] = value
			continue
		}
		loose = append(loose, w)
	}
	var open []string
	for _, a := range p.Arguments {
		if _, done := given[a.Name]; !done {
			open = append(open, a.Name)
		}
	}
	for i, name := range open {
		switch {
		case len(loose) == 0:
		case i == len(open)-1:
			given[name], loose = strings.Join(loose, " "), nil
		default:
			given[name], loose = loose[0], loose[1:]
		}
	}
	if len(loose) > 0 {
		return nil, fmt.Errorf("it takes no such argument: %s", mcp.Line(loose[0], 60))
	}
	for _, a := range p.Arguments {
		if _, done := given[a.Name]; a.Required && !done {
			return nil, fmt.Errorf("it needs %s", cmp.Or(a.Name+hint(a.Note), a.Name))
		}
	}
	return given, nil
}

func hint(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}
