package mcp

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/mcp"
	"adze/internal/text/usage"
)

func (s servers) get() *cobra.Command {
	return &cobra.Command{Use: "get NAME", Annotations: cmd.CallableByTools(), Short: "Show one server: how it is started, its state and its tools; nothing is started",
		Example: "  adze mcp get files\n  adze mcp get files --json | jq .tools", RunE: s.runGet}
}

// serverJSON is the --json object. It leaves out values of variables and headers, which may be
// secrets.
type serverJSON struct {
	line
	Env     []string  `json:"env,omitempty"`
	Headers []string  `json:"headers,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	Last    *mcp.Last `json:"last,omitempty"`
	Log     string    `json:"log,omitempty"`
}

func (s servers) runGet(c *cobra.Command, words []string) error {
	return s.MCP(c.Context(), func(d Manager) error {
		at := slices.IndexFunc(d.All, func(l ServerEntry) bool { return l.Name == words[0] })
		if at < 0 {
			return d.usable(words[0])
		}
		l := d.All[at]
		one := serverJSON{line: lineOf(l, d.Pool)}
		if conf, ok := d.Pool.Server(l.Name); ok {
			one.Env, one.Headers, one.Cwd = slices.Sorted(maps.Keys(conf.Env)), slices.Sorted(maps.Keys(conf.Headers)), conf.Dir
		}
		if last := d.Pool.Last(l.Name); last.State != "" {
			one.Last = &last
		}
		text, file := d.Pool.Log(l.Name)
		if text != "" {
			one.Log = file
		}
		if cmd.Flagged(c, "json") {
			return s.WriteJSON(one)
		}
		row := func(name, value string) {
			if value != "" {
				s.Show("%-13s %s\n", name, value)
			}
		}
		row("name", l.Name)
		row("state", l.State)
		row("why", l.Reason)
		row("from", l.Source)
		row("command", l.Command)
		row("address", l.URL)
		row("folder", one.Cwd)
		row("environment", strings.Join(one.Env, " "))
		row("headers", strings.Join(one.Headers, " "))
		row("title", one.Title)
		row("protocol", one.Protocol)
		if one.Last != nil {
			row("last start", one.Last.State+" at "+one.Last.Time.Local().Format(time.DateTime))
		}
		row("log", one.Log)
		row("tools", strings.Join(one.Tools, " "))
		row("instructions", mcp.Line(one.Instructions, 500))
		return nil
	})
}

func (s servers) switching(verb, short string, off bool) *cobra.Command {
	return &cobra.Command{Use: verb + " NAME", Short: short, Example: "  adze mcp " + verb + " files",
		RunE: func(c *cobra.Command, words []string) error {
			cfg, _, err := s.Config()
			if err != nil {
				return err
			}
			one, mine := cfg.MCP.Servers[words[0]]
			if !mine {
				return s.notMine(c, words[0], off)
			}
			if one.Disabled != off {
				if err := config.SwitchServer(s.ConfigFile(), words[0], off); err != nil {
					return err
				}
			}
			if cmd.Flagged(c, "json") {
				return s.WriteJSON(map[string]any{"name": words[0], "enabled": !off})
			}
			s.Show("%s is %sd\n", words[0], verb)
			return nil
		}}
}

// notMine explains how to enable or disable a project's server.
func (s servers) notMine(c *cobra.Command, name string, off bool) error {
	return s.MCP(c.Context(), func(d Manager) error {
		for _, l := range d.All {
			if l.Name == name {
				return usage.Mistake("adze permission trust "+map[bool]string{true: "revoke", false: "allow"}[off]+" server:"+name+" does it for this folder", "%s is in %s, a file of the project", name, l.Source)
			}
		}
		return d.usable(name)
	})
}
