package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/tool"
)

// ToolName is the name of the tool for resources.
const ToolName = "mcp_resource"

const readPatience = 2 * time.Minute

const maxShown = 100

type args struct {
	Server string `json:"server,omitempty" doc:"name of the MCP server; empty: list what is known of all"`
	URI    string `json:"uri,omitempty" doc:"address of the resource to read; empty: list those of the server"`
	Query  string `json:"query,omitempty" doc:"list only those with this in their address, name or description"`
}

type meta struct {
	Server   string `json:"mcp_server,omitempty"`
	URI      string `json:"mcp_uri,omitempty"`
	Preview  string `json:"mcp_said,omitempty"` // its beginning
	Count    int    `json:"mcp_found,omitempty"`
	Pictures int    `json:"mcp_pictures,omitempty"`
}

// Tool returns the tool that lists and reads the servers' resources.
func (s *Catalog) Tool() tool.Tool {
	return tool.Define(ToolName, tool.Config[args, meta]{
		Description: "Lists and reads resources (documents, records, files) that MCP servers share. Without a uri it lists; with server and uri it reads that one.",
		Permissions: tool.Requires(tool.Execute),
		Tags:        []string{mcp.Tag, "resource", "read", "document"},
		Aliases:     []string{"read_mcp_resource", "list_mcp_resources", "ReadMcpResourceTool", "ListMcpResourcesTool", "access_mcp_resource", "fetch_mcp_resource"},
		Compat:      tool.Compat{Args: map[string]string{"server_name": "server", "serverName": "server", "url": "uri", "resource": "uri", "resource_uri": "uri", "filter": "query"}},
		Safety:      tool.Safety{ThreatLevel: "medium"}, Capabilities: tool.Capabilities{Attachments: true},
		Redact: tool.Expose("server", "uri", "query", "mcp_server", "mcp_uri", "mcp_found", "mcp_pictures"),
		Needs:  needs,
		Run:    s.run,
		View:   view,
	})
}

// needs requires permission for the server, which may be started. Known lists need none.
func needs(in args) []tool.Need {
	if in.Server == "" {
		return nil
	}
	return []tool.Need{{Permission: tool.Execute, Target: "mcp:" + in.Server + " resources", Reach: tool.ServerTool}}
}

func view(m meta) []tool.Block {
	head := "resources of MCP servers"
	if m.Server != "" {
		head = "MCP server " + m.Server + ", " + cmp.Or(m.URI, "its resources")
	}
	out := tool.Text(head)
	if m.Preview != "" {
		out = append(out, tool.Output("", m.Preview)...)
	}
	return out
}

func (s *Catalog) run(ctx context.Context, _ tool.Context[meta], in args) (tool.Result[meta], error) {
	result := tool.Result[meta]{Title: "resources of MCP servers", Metadata: meta{Server: in.Server, URI: mcp.Line(in.URI, 500)}}
	switch {
	case in.Server == "" && in.URI != "":
		return result, tool.Fail(tool.CodeInvalidArguments, "say which server has %s: %s", mcp.Line(in.URI, 200), s.names())
	case in.Server == "":
		result.Output, result.Metadata.Count = s.all(in.Query)
		return result, nil
	case !slices.Contains(s.pool.Names(), in.Server):
		return result, tool.Fail(tool.CodeNotFound, "there is no MCP server %s; there are %s", mcp.Line(in.Server, 60), s.names())
	case in.URI == "":
		result.Title = "resources of " + in.Server
		if err := s.Refresh(ctx, in.Server); err != nil {
			return result, s.unavailable(ctx, in.Server, err)
		}
		result.Output, result.Metadata.Count = s.listed(in.Server, in.Query)
		return result, nil
	case len(in.URI) > maxURI:
		return result, tool.Fail(tool.CodeInvalidArguments, "the uri has %d bytes, at most %d", len(in.URI), maxURI)
	}
	result.Title = result.Metadata.URI + " of " + in.Server
	got, err := s.fetch(ctx, in.Server, in.URI)
	if err != nil {
		return result, err
	}
	text, pictures := mcp.Content(got)
	result.Metadata.Preview, result.Metadata.Pictures = mcp.Clean(text, 4<<10), len(pictures)
	result.Output, result.Attachments = cmp.Or(text, "(it is empty)"), pictures
	return result, nil
}

func (s *Catalog) fetch(ctx context.Context, server, uri string) ([]sdk.Content, error) {
	ctx, cancel := context.WithTimeout(ctx, readPatience)
	defer cancel()
	session, release, err := s.pool.Session(ctx, server)
	if err != nil {
		return nil, s.unavailable(ctx, server, err)
	}
	defer release()
	got, err := mcp.WaitFor(ctx, func() (*sdk.ReadResourceResult, error) {
		return session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	})
	if err != nil {
		return nil, s.unavailable(ctx, server, err)
	}
	var out []sdk.Content
	for _, c := range got.Contents {
		if c != nil {
			out = append(out, &sdk.EmbeddedResource{Resource: c})
		}
	}
	return out, nil
}

// unavailable explains why a server returned nothing, and the next step.
func (s *Catalog) unavailable(ctx context.Context, server string, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return tool.Fail(tool.CodeTimeout, "the MCP server %s did not answer in time; go on without it", server)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, mcp.ErrNotReady):
		return tool.Fail(tool.CodeTimeout, "the MCP server %s is still starting; go on with something else and try again in a while", server)
	}
	return tool.Fail(tool.CodeIO, "the MCP server %s did not give it: %s", server, mcp.Line(s.mask(s.pool.Failure(server, err)), 600))
}

func (s *Catalog) names() string { return strings.Join(s.pool.Names(), ", ") }

// all lists the known resources of all servers, and names the servers without known ones.
func (s *Catalog) all(query string) (text string, found int) {
	var b strings.Builder
	var unseen []string
	for _, name := range s.pool.Names() {
		has, ok := s.stockOf(name)
		if !ok {
			unseen = append(unseen, name)
		} else if len(has.Resources) > 0 {
			part, n := s.listed(name, query)
			b.WriteString(part)
			found += n
		}
	}
	if found == 0 {
		b.WriteString("no resource is known\n")
	}
	if len(unseen) > 0 {
		fmt.Fprintf(&b, "(not looked at yet: %s; call again with the server's name)\n", strings.Join(unseen, ", "))
	}
	return b.String(), found
}

// listed lists a server's resources that match, one per line.
func (s *Catalog) listed(server, query string) (text string, found int) {
	has, _ := s.stockOf(server)
	var b strings.Builder
	for _, r := range has.Resources {
		if q := strings.ToLower(query); q != "" && !strings.Contains(strings.ToLower(r.URI+" "+r.Name+" "+r.Note), q) {
			continue
		}
		if found++; found > maxShown {
			continue
		}
		fmt.Fprintf(&b, "%s %s", server, mcp.Line(r.URI, maxURI))
		if r.Template {
			b.WriteString(" (a template: fill in what stands in braces)")
		}
		for _, more := range []string{r.Name, r.Media, r.Note} {
			if more != "" {
				b.WriteString("  " + more)
			}
		}
		b.WriteString("\n")
	}
	switch {
	case found == 0:
		fmt.Fprintf(&b, "%s has no resource that fits\n", server)
	case found > maxShown:
		fmt.Fprintf(&b, "(%d more; narrow it with query)\n", found-maxShown)
	case has.Truncated:
		fmt.Fprintf(&b, "(%s has more than are listed; read them by their uri)\n", server)
	}
	return s.mask(b.String()), found
}
