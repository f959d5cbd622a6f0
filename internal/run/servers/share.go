package servers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"adze/internal/mcp"
	"adze/internal/mcp/consent"
	"adze/internal/mcp/dial"
	"adze/internal/mcp/oauth"
	"adze/internal/text/plural"
	"adze/session"
	"adze/session/api"
	"adze/toolset"
)

// reach sets up servers with an address, their questions to the user, and their shared resources.
func (m *Servers) reach(o *mcp.Options) {
	o.HTTP = dial.Opener(m.loginsOf())
	desk := &consent.Asker{Report: m.notify}
	if ask := m.inquire; ask != nil {
		desk.Open = m.logins.Open
		desk.Ask = func(ctx context.Context, q consent.Question) (string, error) {
			defer m.Waits(q.Server)()
			return ask(ctx, toolset.Inquiry{Asks: "the MCP server " + q.Server, Question: "The MCP server " + q.Server + " asks, and gets your answer: " + q.Text, Choices: q.Choices})
		}
	}
	o.Client = func(server string, c *sdk.ClientOptions) {
		c.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}}
		c.ElicitationHandler = desk.Elicit(server)
	}
	o.Shares = func(ctx context.Context, server string, session *sdk.ClientSession) {
		_ = m.shared.Ask(ctx, server, session) // missing data is requested when needed
	}
}

// AddResources adds the server resources named in a prompt.
func (m *Servers) AddResources(in session.Input) session.Input {
	if m == nil {
		return in
	}
	return m.shared.WithResources(in)
}

// SlashPrompt returns a server's prompt for a slash command.
func (m *Servers) SlashPrompt(name string) (func(context.Context, string) (string, error), bool) {
	p, ok := m.shared.Find(name)
	if !ok {
		return nil, false
	}
	return func(ctx context.Context, rest string) (string, error) { return m.shared.Compose(ctx, p, rest) }, true
}

// Prompts lists server prompts as slash commands.
func (m *Servers) Prompts() (out []api.Named) {
	if m == nil {
		return nil
	}
	for _, p := range m.shared.Prompts() {
		out = append(out, api.Named{Name: p.Label(), Args: p.Hint(), Help: p.Note, From: "MCP server " + p.Server})
	}
	return out
}

// Mentions returns resources that can be completed after an @.
func (m *Servers) Mentions() []string {
	if m == nil {
		return nil
	}
	return m.shared.Mentions()
}

// Rows returns the servers for the interface.
func (m *Servers) Rows(context.Context) (out []api.Server, err error) {
	for _, st := range m.States() {
		conf, _ := m.Server(st.Name)
		row := api.Server{Name: st.Name, From: st.Source, State: st.State, Reason: st.Reason, Title: st.Title, Version: st.Version, Transport: "stdio " + strings.Join(conf.Command, " "), Last: m.LastWords(st.Name)}
		if len(conf.Command) == 0 {
			row.Transport, row.Login = "http "+conf.URL, true
		}
		if c := m.Catalogue(st.Name); c != nil {
			for _, t := range c.Tools {
				if t.Bad == "" {
					row.Tools, row.Bytes = append(row.Tools, t.Name), row.Bytes+len(t.Description)+len(t.Parameters)
				}
			}
		}
		row.Resources, row.Prompts = m.shared.Counts(st.Name)
		out = append(out, row)
	}
	return out, nil
}

// Serve runs the user's action on a server.
func (m *Servers) Serve(ctx context.Context, name, act string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, mcp.DefaultStart+5*time.Second)
	defer cancel()
	switch act {
	case "stop":
		m.Stop(name)
		return name + " is stopped", nil
	case "login":
		return m.login(name)
	}
	if err := m.Await(ctx, name); err != nil {
		return "", fmt.Errorf("%s does not work: %w", name, err)
	}
	if c := m.Catalogue(name); c != nil && (c.Prompts || c.Resources) {
		_ = m.shared.Refresh(ctx, name) // missing data is requested when needed
	}
	all, _ := m.Rows(ctx)
	for _, row := range all {
		if row.Name == name {
			said := fmt.Sprintf("%s works: %s, %s, %s", name, plural.Of(len(row.Tools), "tool"), plural.Of(row.Resources, "resource"), plural.Of(row.Prompts, "prompt"))
			if m.Pending(name).Any() {
				said += "; it says otherwise of its tools than you agreed to: adze mcp test " + name
			}
			return said, nil
		}
	}
	return name + " works", nil
}

// login logs in at a server during a session.
func (m *Servers) login(name string) (string, error) {
	conf, _ := m.Server(name)
	server, err := dial.Server(conf)
	if err != nil {
		return "", err
	}
	_, where, err := m.loginsOf().Login(context.Background(), server, oauth.Options{})
	if err != nil {
		return "", err
	}
	m.Stop(name)
	m.Wake(name)
	return "logged in at " + name + "; the login is in " + where, nil
}

// Answers to a server that requires a login.
const (
	noLogin   = "no"
	logInMore = "log in again for that"
)

// loginsOf returns the login manager with questions to the run's user, if present.
func (m *Servers) loginsOf() oauth.Manager {
	desk := m.logins
	desk.Print = m.notify
	ask := m.inquire
	if ask == nil {
		return desk
	}
	desk.Choose = func(ctx context.Context, server string, issuers []string) string {
		question := "The MCP server " + server + " sends logins to another origin: " + issuers[0] + "\nDo you have an account there, and mean it?"
		if len(issuers) > 1 {
			question = "The MCP server " + server + " takes logins of several. Where do you have an account, and mean it?"
		}
		choices := []string{noLogin}
		for _, issuer := range issuers {
			choices = append(choices, "log in at "+issuer)
		}
		said, err := ask(ctx, toolset.Inquiry{Asks: "adze", Question: question, Choices: choices})
		issuer, ok := strings.CutPrefix(said, "log in at ")
		if err != nil || !ok || !slices.Contains(issuers, issuer) {
			return ""
		}
		return issuer
	}
	desk.RequestScopes = func(ctx context.Context, server string, scopes []string) bool {
		defer m.Waits(server)()
		said, err := ask(ctx, toolset.Inquiry{Asks: "the MCP server " + server, Choices: []string{noLogin, logInMore},
			Question: "The MCP server " + server + " does not allow this call with your login. Log in again, in your browser, for more?\nIt would have: " + strings.Join(scopes, ", ")})
		return err == nil && said == logInMore
	}
	return desk
}
