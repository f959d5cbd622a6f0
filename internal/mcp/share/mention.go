package share

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"adze/session"
	"adze/tool"
)

const maxMentions = 20

type mention struct{ server, uri string }

// mentioned finds @server:uri in a text for existing servers. It must follow a blank, a bracket or
// a quote; a full stop or comma at its end belongs to the sentence.
func mentioned(text string, servers []string) (out []mention) {
	if !strings.Contains(text, "@") { // most prompts
		return nil
	}
	for _, m := range regexp.MustCompile("(?:^|[\\s(\\[\"'`])@([A-Za-z][A-Za-z0-9_.-]*):(\\S+)").FindAllStringSubmatch(text, -1) {
		one := mention{m[1], strings.TrimRight(m[2], ".,;:!?)]}\"'`")}
		if slices.Contains(servers, one.server) && one.uri != "" && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// WithResources adds the resources named in a prompt: each is read by a call of the user, with the
// normal permission check, and placed after the text. It keeps other prompts unchanged.
func (s *Catalog) WithResources(in session.Input) session.Input {
	inner := in.Compose
	if inner == nil && len(mentioned(in.Text, s.pool.Names())) == 0 {
		return in
	}
	text := in.Text
	in.Compose = func(ctx context.Context, run func(tool.RawCall) tool.Outcome) (string, error) {
		if inner != nil {
			var err error
			if text, err = inner(ctx, run); err != nil {
				return "", err
			}
		}
		return s.bring(text, run)
	}
	return in
}

func (s *Catalog) bring(text string, run func(tool.RawCall) tool.Outcome) (string, error) {
	typed, _, _ := strings.Cut(text, "\n\n<") // files' and servers' texts do not count
	all := mentioned(typed, s.pool.Names())
	if len(all) > maxMentions {
		return "", &session.ComposeError{Cause: session.CauseUsage, Message: fmt.Sprintf("the prompt names %d resources of MCP servers", len(all)), Hint: fmt.Sprintf("name at most %d", maxMentions)}
	}
	var b strings.Builder
	b.WriteString(text)
	for _, m := range all {
		raw, _ := json.Marshal(args{Server: m.server, URI: m.uri}) // strings always encode
		o := run(tool.RawCall{Name: ToolName, Arguments: string(raw), Origin: tool.FromCommand})
		if o.Status != tool.Completed {
			return "", &session.ComposeError{Cause: session.CauseUsage, Message: fmt.Sprintf("@%s:%s: %s", m.server, m.uri, o.Output), Hint: "look at its name, or leave it out"}
		}
		fmt.Fprintf(&b, "\n\n<resource server=%q uri=%q>\n%s\n</resource>", m.server, m.uri, strings.TrimRight(o.Output, "\n"))
	}
	return b.String(), nil
}
