package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session/api"
	"adze/tui/async"
	"adze/tui/draw"
	"adze/tui/list"
	"adze/tui/ui"
)

// servers shows the session's MCP servers.
type servers struct {
	host
	ports  *api.Ports
	picker *list.List
}

func (f *servers) can() string {
	return ui.ReasonIf(f.ports.Servers == nil || f.ports.Serve == nil, "no MCP server is configured; adze mcp add NAME … adds one")
}

// choose lists the servers; Enter opens a server's actions.
func (f *servers) choose() tea.Cmd {
	ask := f.ports.Servers
	f.picker.Begin("MCP servers · "+f.labelOf("list.choose")+" says what can be done", nil, func(c list.Choice) tea.Cmd { return f.chooseAct(c.ID) })
	f.picker.PeekWith("details", func(ctx context.Context, name string) ([]draw.Span, error) {
		s, err := serverOf(ctx, ask, name)
		return serverLines(s), err
	})
	return f.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		all, err := ask(ctx)
		var out []list.Choice
		for _, s := range all {
			note := s.State + " · " + s.Transport + " · " + plural.Of(len(s.Tools), "tool")
			if s.Reason != "" {
				note += " · " + oneRow(s.Reason)
			}
			out = append(out, list.Choice{ID: s.Name, Label: s.Name, Note: note})
		}
		if len(out) == 0 && err == nil {
			out = []list.Choice{{Label: "none", DisabledReason: "adze mcp add NAME … adds one"}}
		}
		return out, err
	})
}

func serverOf(ctx context.Context, ask func(context.Context) ([]api.Server, error), name string) (api.Server, error) {
	all, err := ask(ctx)
	for _, s := range all {
		if s.Name == name {
			return s, err
		}
	}
	return api.Server{Name: name, State: "gone"}, err
}

// chooseAct lists a server's actions.
func (f *servers) chooseAct(name string) tea.Cmd {
	ask := f.ports.Servers
	f.picker.Begin(name, nil, func(c list.Choice) tea.Cmd { return f.serve(name, c.ID) })
	f.picker.PeekWith("details", func(ctx context.Context, _ string) ([]draw.Span, error) {
		s, err := serverOf(ctx, ask, name)
		return serverLines(s), err
	})
	return f.picker.Lookup(func(ctx context.Context) ([]list.Choice, error) {
		s, err := serverOf(ctx, ask, name)
		return actsOf(s), err
	})
}

// actsOf returns a server's actions, with the reason for an unavailable one.
func actsOf(s api.Server) []list.Choice {
	runs := s.State == "ready" || s.State == "starting"
	start := list.Choice{ID: "start", Label: "start it", Note: "its tools come with your next message"}
	stop := list.Choice{ID: "stop", Label: "stop it", Note: "the next call starts it again"}
	login := list.Choice{ID: "login", Label: "log in", Note: "in your browser"}
	switch {
	case runs:
		start.DisabledReason = "it runs"
	case s.State == "held":
		start.DisabledReason = "it may not start: " + oneRow(s.Reason)
	}
	if !runs {
		stop.DisabledReason = "it does not run"
	}
	if !s.Login {
		login.DisabledReason = "only for a server with an address"
	}
	out := []list.Choice{start, stop, {ID: "test", Label: "test it", Note: "ask for its tools, and show what fails"}, login}
	for i := range out {
		if out[i].DisabledReason != "" {
			out[i].Note = ""
		}
	}
	return out
}

// serve runs an action.
func (f *servers) serve(name, act string) tea.Cmd {
	do := f.ports.Serve
	f.showMessage(act + " " + name + "…")
	return async.Try(func() (string, error) { return do(context.Background(), name, act) }, func(text string, err error) tea.Cmd {
		if text != "" {
			f.showMessage(text)
		}
		if err != nil {
			f.showMessage("error: " + err.Error())
		}
		return nil
	})
}

func (f *servers) commands() []command {
	return []command{{name: "servers", help: "MCP servers: see their state and tools; start, stop, test, log in", can: f.can, run: noArgs(f.choose)}}
}

// serverLines returns a server's details. Text from the server is sanitized.
func serverLines(s api.Server) []draw.Span {
	lines := []draw.Span{{Style: draw.Bold, Text: safeterm.Name(s.Name + " · " + s.State)}}
	add := func(name, text string) {
		if text != "" {
			lines = append(lines, draw.Span{Text: safeterm.Name(name + oneRow(text))})
		}
	}
	add("", s.Reason)
	add("it is ", strings.TrimSpace(s.Title+" "+s.Version))
	add("by ", strings.Trim(s.Transport+" · "+s.From, " ·"))
	if s.Resources+s.Prompts > 0 {
		add("shares ", plural.Of(s.Resources, "resource")+", "+plural.Of(s.Prompts, "prompt"))
	}
	if len(s.Tools) > 0 {
		add("", fmt.Sprintf("%s, %.1f KB in a request that offers all", plural.Of(len(s.Tools), "tool"), float64(s.Bytes)/1000))
		add("", strings.Join(s.Tools, ", "))
	}
	if s.Last != "" {
		lines = append(lines, draw.Span{Style: draw.Bold, Text: safeterm.Name("its last output")})
		lines = append(lines, outputLines(s.Last)...)
	}
	return lines
}
