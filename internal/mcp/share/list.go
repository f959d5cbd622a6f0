package share

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
)

// Limits of the lists. They note if something was left out.
const (
	maxEntries   = 1000 // for resources, templates and prompts each
	maxArguments = 20
	maxURI       = 2000 // bytes
	maxNote      = 300
	listPatience = 30 * time.Second
)

// Refresh reads and stores a server's resources and prompts, if it declares some, starting it if
// needed.
func (s *Catalog) Refresh(ctx context.Context, server string) error {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	if err := s.pool.Await(ctx, server); err != nil {
		return err
	}
	session, release, err := s.pool.Session(ctx, server)
	if err != nil {
		return err
	}
	defer release()
	return s.Ask(ctx, server, session)
}

// Ask is like Refresh for a running server.
func (s *Catalog) Ask(ctx context.Context, server string, session *sdk.ClientSession) error {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	began := time.Now()
	has, err := mcp.WaitFor(ctx, func() (stock, error) { return list(ctx, session) })
	if err == nil {
		s.keep(server, began, has)
	}
	return err
}

func list(ctx context.Context, session *sdk.ClientSession) (has stock, err error) {
	hello := session.InitializeResult()
	if hello == nil || hello.Capabilities == nil {
		return has, nil
	}
	if hello.Capabilities.Resources != nil {
		if err := resources(ctx, session, &has); err != nil {
			return has, err
		}
	}
	if hello.Capabilities.Prompts == nil {
		return has, nil
	}
	return has, each(session.Prompts(ctx, nil), &has.Truncated, func(p *sdk.Prompt) {
		if p == nil || !plain(p.Name) || len(p.Name) > 100 {
			return
		}
		one := Prompt{Name: p.Name, Note: mcp.Line(cmp.Or(p.Description, p.Title), maxNote)}
		for _, a := range p.Arguments[:min(len(p.Arguments), maxArguments)] {
			if a != nil {
				one.Arguments = append(one.Arguments, Argument{mcp.Line(a.Name, 60), mcp.Line(a.Description, maxNote), a.Required})
			}
		}
		has.Prompts = append(has.Prompts, one)
	})
}

func resources(ctx context.Context, session *sdk.ClientSession, has *stock) error {
	err := each(session.Resources(ctx, nil), &has.Truncated, func(r *sdk.Resource) {
		if r != nil && len(r.URI) <= maxURI {
			has.Resources = append(has.Resources, Entry{URI: r.URI, Name: mcp.Line(cmp.Or(r.Title, r.Name), 100), Note: mcp.Line(r.Description, maxNote), Media: mcp.Line(r.MIMEType, 60), Bytes: r.Size})
		}
	})
	if err != nil {
		return err
	}
	err = each(session.ResourceTemplates(ctx, nil), &has.Truncated, func(r *sdk.ResourceTemplate) {
		if r != nil && len(r.URITemplate) <= maxURI {
			has.Resources = append(has.Resources, Entry{URI: r.URITemplate, Name: mcp.Line(cmp.Or(r.Title, r.Name), 100), Note: mcp.Line(r.Description, maxNote), Media: mcp.Line(r.MIMEType, 60), Template: true})
		}
	})
	if err != nil && strings.Contains(err.Error(), "ethod not found") {
		return nil // templates have no capability of their own
	}
	return err
}

// each reads a list up to the limit. The library requests page after page, even repeated ones: the
// limit ends full pages, and the timeout empty ones.
func each[T any](all iter.Seq2[T, error], more *bool, take func(T)) error {
	n := 0
	for one, err := range all {
		if err != nil {
			return fmt.Errorf("its list: %w", err)
		}
		if n++; n > maxEntries {
			*more = true
			return nil
		}
		take(one)
	}
	return nil
}

// plain reports whether a name can be written in a prompt: no blanks or invisible characters.
func plain(name string) bool {
	return name != "" && mcp.Line(name, maxURI) == name && !strings.ContainsAny(name, " \t\n")
}
