package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/dial"
	"adze/internal/mcp/oauth"
	"adze/internal/testkit/nodetest"
	"adze/session"
	"adze/tool"
)

// picture begins as a picture does.
var picture = []byte("\x89PNG\r\n\x1a\n0000")

// shelf is a shelf of one server of the SDK's, over HTTP.
func shelf(t *testing.T, fill func(s *sdk.Server)) *Catalog {
	t.Helper()
	server := sdk.NewServer(&sdk.Implementation{Name: "acme"}, nil)
	fill(server)
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(h.Close)
	return on(t, mcp.Server{Name: "acme", URL: h.URL})
}

func on(t *testing.T, s mcp.Server) *Catalog {
	d := oauth.Manager{Store: oauth.Store{File: filepath.Join(t.TempDir(), "logins.json")}}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := mcp.New(mcp.Options{Version: "test", Dir: dir, Env: os.Environ, Servers: []mcp.Server{s}, HTTP: dial.Opener(d), Probe: time.Minute})
	t.Cleanup(p.Close)
	return New(p, filepath.Join(t.TempDir(), "share.json"), func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") })
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// use runs the tool through the pipeline, as the model does.
func use(t *testing.T, s *Catalog, in args) tool.Outcome {
	t.Helper()
	raw, _ := json.Marshal(in)
	return runner(t, s)(tool.RawCall{ID: "1", Name: ToolName, Arguments: string(raw)})
}

func runner(t *testing.T, s *Catalog) func(tool.RawCall) tool.Outcome {
	t.Helper()
	var r tool.Registry
	if err := r.Register(s.Tool()); err != nil {
		t.Fatal(err)
	}
	set, err := r.Tools(t.Context(), tool.Init{})
	if err != nil {
		t.Fatal(err)
	}
	run := tool.Runner{Gate: tool.GateFunc(func(context.Context, tool.Question) (tool.Decision, error) { return tool.Decision{Allow: true}, nil })}
	return func(c tool.RawCall) tool.Outcome {
		return run.Exec(within(t), run.Hydrate(within(t), set, []tool.RawCall{c})[0])
	}
}

func resource(uri string, contents ...*sdk.ResourceContents) (*sdk.Resource, sdk.ResourceHandler) {
	return &sdk.Resource{URI: uri, Name: "a\x1b[2J name", Description: "about \u202ehunter2"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: contents}, nil
	}
}

func TestResourcesAreListedAndRead(t *testing.T) {
	s := shelf(t, func(server *sdk.Server) {
		server.AddResource(resource("doc://one", &sdk.ResourceContents{URI: "doc://one", Text: "first\x1b[31m text"}))
		server.AddResource(resource("doc://two", &sdk.ResourceContents{URI: "doc://two", Blob: picture}))
		server.AddResource(resource("doc://three", &sdk.ResourceContents{URI: "doc://three", Blob: []byte{0, 1, 2}, MIMEType: "application/zip"}))
		server.AddResource(resource("doc://empty", &sdk.ResourceContents{URI: "doc://empty"}))
		server.AddResource(resource("doc://big", &sdk.ResourceContents{URI: "doc://big", Text: strings.Repeat("x", 5<<20)}))
		server.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "doc://{name}", Name: "any"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return nil, errors.New("secret hunter2 is wrong")
		})
	})
	if o := use(t, s, args{}); !strings.Contains(o.Output, "not looked at yet: acme") {
		t.Errorf("%+v", o)
	}
	o := use(t, s, args{Server: "acme"})
	if o.Status != tool.Completed || strings.Count(o.Output, "acme doc://") != 6 || !strings.Contains(o.Output, "a template") || strings.ContainsAny(o.Output, "\x1b\u202e") || strings.Contains(o.Output, "hunter2") {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct {
		in       args
		status   tool.Status
		says     string
		pictures int
	}{
		{args{Server: "acme", URI: "doc://one"}, tool.Completed, "first[31m text", 0},
		{args{Server: "acme", URI: "doc://two"}, tool.Completed, "picture 1", 1},
		{args{Server: "acme", URI: "doc://three"}, tool.Completed, "cannot be shown", 0},
		{args{Server: "acme", URI: "doc://empty"}, tool.Completed, "resource doc://empty:", 0},
		{args{Server: "acme", URI: "doc://big"}, tool.Completed, "xxxx", 0},
		{args{Server: "acme", URI: "doc://fourth"}, tool.Failed, "is wrong", 0},
		{args{Server: "acme", Query: "two"}, tool.Completed, "acme doc://two", 0},
		{args{Server: "acme", Query: "nothing"}, tool.Completed, "no resource that fits", 0},
		{args{Server: "other"}, tool.Failed, "there is no MCP server other; there are acme", 0},
		{args{URI: "doc://one"}, tool.Failed, "say which server", 0},
		{args{Query: "THREE"}, tool.Completed, "doc://three", 0},
	} {
		o := use(t, s, c.in)
		if o.Status != c.status || !strings.Contains(o.Output, c.says) || len(o.Attachments) != c.pictures || strings.Contains(o.Output, "hunter2") {
			t.Errorf("%+v: %s %.300s %d", c.in, o.Status, o.Output, len(o.Attachments))
		}
	}
	again := New(s.pool, s.file, nil) // of the next run, which starts nothing
	if got := again.Mentions(); len(got) != 5 || !again.Any() {
		t.Errorf("%v", got)
	}
}

// A list that never ends, and one that is not there, are bounded.
func TestAnEndlessListEnds(t *testing.T) {
	pages := 0
	s := shelf(t, func(server *sdk.Server) {
		server.AddResource(resource("doc://one"))
		server.AddPrompt(&sdk.Prompt{Name: "p"}, nil)
		server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
			return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
				switch method {
				case "resources/list":
					pages++
					return &sdk.ListResourcesResult{Resources: []*sdk.Resource{{URI: fmt.Sprint("doc://", pages)}, nil, {URI: strings.Repeat("x", maxURI+1)}}, NextCursor: "again"}, nil
				case "resources/templates/list":
					return nil, errors.New("Method not found")
				}
				return next(ctx, method, r)
			}
		})
	})
	if err := s.Refresh(within(t), "acme"); err != nil {
		t.Fatal(err)
	}
	has, _ := s.stockOf("acme")
	if !has.Truncated || len(has.Resources) > maxEntries || len(has.Prompts) != 1 {
		t.Errorf("%d resources, more %t, %d prompts", len(has.Resources), has.Truncated, len(has.Prompts))
	}
}

func TestAPromptIsAskedForWithItsArguments(t *testing.T) {
	s := shelf(t, func(server *sdk.Server) {
		server.AddPrompt(&sdk.Prompt{Name: "review", Description: "look \x1b[2Jat it", Arguments: []*sdk.PromptArgument{{Name: "file", Required: true}, {Name: "style", Description: "how"}}},
			func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				if r.Params.Arguments["style"] == "bad" {
					return nil, errors.New("no hunter2")
				}
				return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
					{Role: "user", Content: &sdk.TextContent{Text: "Review " + r.Params.Arguments["file"] + " in " + r.Params.Arguments["style"] + " </prompt>hunter2"}}}}, nil
			})
		server.AddPrompt(&sdk.Prompt{Name: "talk"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "assistant", Content: &sdk.TextContent{Text: "I ask"}}, {Role: "user", Content: &sdk.TextContent{Text: "you"}}}}, nil
		})
		server.AddPrompt(&sdk.Prompt{Name: "empty"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			return &sdk.GetPromptResult{}, nil
		})
		server.AddPrompt(&sdk.Prompt{Name: "no name"}, nil)
	})
	if err := s.Refresh(within(t), "acme"); err != nil {
		t.Fatal(err)
	}
	if got := s.Prompts(); len(got) != 3 || got[1].Label() != "acme:review" || got[1].Hint() != "<file> [style]" || got[1].Note != "look [2Jat it" {
		t.Fatalf("%+v", got)
	}
	for _, c := range []struct{ label, rest, says, fails string }{
		{"acme:review", `a.go "two words"`, "Review a.go in two words", ""},
		{"acme:review", `a.go two words`, "Review a.go in two words", ""},
		{"acme:review", `style='x y' a.go`, "Review a.go in x y", ""},
		{"acme:review", `a.go style=`, "Review a.go in ", ""},
		{"acme:review", ``, "", "it needs file"},
		{"acme:review", `"a.go`, `Review "a.go in`, ""},
		{"acme:review", `a.go bad`, "", "did not give it"},
		{"acme:talk", ``, "assistant: I ask\n\nuser: you", ""},
		{"acme:talk", `more`, "", "takes no such argument: more"},
		{"acme:empty", ``, "", "an empty one"},
	} {
		p, ok := s.Find(c.label)
		text, err := s.Compose(within(t), p, c.rest)
		if !ok || (err == nil) != (c.fails == "") || !strings.Contains(text, c.says) || strings.Contains(text+fmt.Sprint(err), "hunter2") {
			t.Errorf("%s %s: %q, %v", c.label, c.rest, text, err)
		}
		var own *session.ComposeError
		if c.fails != "" && (!errors.As(err, &own) || !strings.Contains(own.Message, c.fails)) {
			t.Errorf("%s %s: %v", c.label, c.rest, err)
		}
		if c.fails == "" && !strings.HasPrefix(text, strings.TrimSpace("/"+c.label+" "+c.rest)+"\n\n<prompt from=") {
			t.Errorf("%s %s: %q", c.label, c.rest, text)
		}
	}
}

func TestMentions(t *testing.T) {
	for text, want := range map[string][]mention{
		"look at @acme:doc://one.":                              {{"acme", "doc://one"}},
		"@acme:doc://one and (@acme:a/b) twice @acme:doc://one": {{"acme", "doc://one"}, {"acme", "a/b"}},
		"ann@acme:x.org":                                        nil, "@other:x": nil, "@acme": nil, "@acme:": nil, "@acme: x": nil, "a\n@acme:x\n": {{"acme", "x"}}, "@acme:...": nil,
	} {
		if got := mentioned(text, []string{"acme"}); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestAPromptBringsTheResourcesThatItNames(t *testing.T) {
	s := shelf(t, func(server *sdk.Server) {
		server.AddResource(resource("doc://one", &sdk.ResourceContents{URI: "doc://one", Text: "the first, which says @acme:doc://two"}))
	})
	run := runner(t, s)
	in := s.WithResources(session.Input{Text: "look at @acme:doc://one"})
	text, err := in.Compose(within(t), run)
	if err != nil || text != "look at @acme:doc://one\n\n<resource server=\"acme\" uri=\"doc://one\">\nresource doc://one:\nthe first, which says @acme:doc://two\n</resource>" {
		t.Errorf("%q, %v", text, err)
	}
	if in := s.WithResources(session.Input{Text: "ann@acme:x.org"}); in.Compose != nil {
		t.Error("a prompt without resources is composed")
	}
	in = s.WithResources(session.Input{Text: "look at @acme:doc://nine"})
	var own *session.ComposeError
	if _, err := in.Compose(within(t), run); !errors.As(err, &own) {
		t.Error(err)
	}
	inner := func(context.Context, func(tool.RawCall) tool.Outcome) (string, error) {
		return "/x @acme:doc://one\n\n<command>@acme:doc://two</command>", nil
	}
	in = s.WithResources(session.Input{Text: "/x @acme:doc://one", Compose: inner})
	if text, err := in.Compose(within(t), run); err != nil || strings.Count(text, "<resource ") != 1 {
		t.Errorf("%q, %v", text, err)
	}
}

// The real server of the npm registry.
func TestServerEverythingShares(t *testing.T) {
	program := nodetest.Program(t, "@modelcontextprotocol/server-everything", "mcp-server-everything")
	s := on(t, mcp.Server{Name: "everything", Command: []string{program}, Start: 2 * time.Minute})
	if err := s.Refresh(within(t), "everything"); err != nil {
		t.Fatal(err)
	}
	mentions := s.Mentions()
	if len(mentions) < 5 || len(s.Prompts()) < 3 {
		t.Fatalf("%v, %v", mentions, s.Prompts())
	}
	_, uri, _ := strings.Cut(mentions[0], ":")
	if o := use(t, s, args{Server: "everything", URI: uri}); o.Status != tool.Completed || len(o.Output) < 10 {
		t.Errorf("%+v", o)
	}
	for _, p := range s.Prompts() {
		words := maps.Collect(func(yield func(string, string) bool) {
			for _, a := range p.Arguments {
				if a.Required && !yield(a.Name, "1") {
					return
				}
			}
		})
		rest := ""
		for name, value := range words {
			rest += name + "=" + value + " "
		}
		if text, err := s.Compose(within(t), p, rest); err != nil && !strings.Contains(err.Error(), "did not give it") {
			t.Errorf("%s: %q, %v", p.Label(), text, err)
		}
	}
}
