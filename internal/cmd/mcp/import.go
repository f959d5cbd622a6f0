package mcp

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/mcp/clients"
	"adze/internal/project/discovery"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
)

func (s servers) importing() *cobra.Command {
	var from []string
	c := &cobra.Command{Use: "import [NAME...]", Short: "Import servers from other assistants", Args: cmd.RangeArgs(0, -1),
		Long: "Looks for MCP servers in your configurations of other assistants (" + strings.Join(clients.Names(), ", ") + "),\n" +
			"shows them, and writes those that you want into your configuration. Values of variables and headers are taken over as they\n" +
			"stand there. Nothing is started: adze mcp test NAME tries one. Servers of a project's own files are not taken over: they are\n" +
			"used where they stand, after adze permission trust allow.",
		Example: "  adze mcp import                     # show, and ask\n  adze mcp import github files --yes\n  adze mcp import --from cursor --yes",
		RunE: func(c *cobra.Command, names []string) error {
			for _, client := range from {
				if !slices.Contains(clients.Names(), client) {
					return usage.Mistake("it is one of "+strings.Join(clients.Names(), ", "), "adze knows no assistant %q", client)
				}
			}
			return s.runImport(c, names, from)
		}}
	f := c.Flags()
	f.StringSliceVar(&from, "from", nil, "only those of these `ASSISTANTS`")
	f.BoolP("yes", "y", false, "write them without asking")
	return c
}

// importJSON is another assistant's server in --json.
type importJSON struct {
	Name     string   `json:"name"`
	Client   string   `json:"client"`
	Source   string   `json:"from"`
	State    string   `json:"state"` // new, there, different, broken, imported
	Reason   string   `json:"why,omitempty"`
	Command  []string `json:"command,omitempty"`
	URL      string   `json:"url,omitempty"`
	Env      []string `json:"env,omitempty"`
	Disabled bool     `json:"off,omitempty"`

	entry config.MCPServer
}

func (s servers) runImport(c *cobra.Command, names, from []string) error {
	cfg, _, err := s.Config()
	if err != nil {
		return err
	}
	all := s.offers(cfg, names, from)
	for _, name := range names {
		if !slices.ContainsFunc(all, func(o importJSON) bool { return o.Name == name }) {
			return usage.Mistake("adze mcp import shows them", "no other assistant has a server %q", name)
		}
	}
	var fresh []int
	table := s.Columns()
	for i, o := range all {
		if o.State == "new" {
			fresh = append(fresh, i)
		}
		what := strings.Join(append(slices.Clone(o.Command), o.URL), " ")
		if len(o.Env) > 0 {
			what += " (with " + strings.Join(o.Env, ", ") + ")"
		}
		if o.Disabled {
			what += " (disabled)"
		}
		if o.Reason != "" {
			what = o.Reason
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", safeterm.Name(o.Name), o.State, safeterm.Name(strings.TrimSpace(what)), safeterm.Name(o.Source))
	}
	asJSON := cmd.Flagged(c, "json")
	if !asJSON {
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if len(fresh) > 0 && s.agrees(c, len(fresh)) {
		for _, i := range fresh {
			if err := config.KeepServer(s.ConfigFile(), all[i].Name, all[i].entry); err != nil {
				return err
			}
			all[i].State = "imported"
		}
		if !asJSON {
			s.Show("added %s to %s; adze mcp test NAME tries one\n", plural.Of(len(fresh), "server"), s.ConfigFile())
		}
	} else if len(fresh) == 0 && !asJSON {
		s.Show("there is nothing to take over\n")
	}
	for _, o := range all {
		if asJSON {
			if err := s.WriteJSON(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// agrees asks the user to confirm writing n servers.
func (s servers) agrees(c *cobra.Command, n int) bool {
	switch {
	case cmd.Flagged(c, "yes"):
		return true
	case cmd.Flagged(c, "json") || !term.IsTerminal(s.In.Fd()):
		fmt.Fprintf(s.Err, "nothing was written; --yes takes over %s\n", plural.Of(n, "server"))
		return false
	}
	fmt.Fprintf(s.Err, "take over %s into %s? [y/N] ", plural.Of(n, "server"), s.ConfigFile())
	line, err := bufio.NewReader(io.LimitReader(s.In, 100)).ReadString('\n')
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y")
}

// offers lists other assistants' servers; the first one with a name counts.
func (s servers) offers(cfg config.Config, names, from []string) (out []importJSON) {
	dir, _ := s.CurrentFolder() // without it, servers for one folder are not found
	top, _ := discovery.Repository(dir)
	taken := map[string]config.MCPServer{}
	maps.Copy(taken, cfg.MCP.Servers)
	for _, f := range clients.Find(s.Getenv("HOME"), s.Getenv, top) {
		if len(names) > 0 && !slices.Contains(names, f.Name) || len(from) > 0 && !slices.Contains(from, f.Client) {
			continue
		}
		o := importJSON{Name: f.Name, Client: f.Client, Source: f.Source, State: "new", Reason: f.Problem, Command: f.Command, URL: f.URL, Env: slices.Sorted(maps.Keys(f.Env)), Disabled: f.Disabled, entry: entryOf(f)}
		if err := o.entry.Check(f.Name); err != nil && o.Reason == "" {
			o.Reason = err.Error()
		}
		was, there := taken[f.Name]
		switch {
		case o.Reason != "":
			o.State = "broken"
		case there && reflect.DeepEqual(was, o.entry):
			o.State = "there"
		case there:
			o.State, o.Reason = "different", "another server has its name; adze mcp add --replace puts this one in its place"
		default:
			taken[f.Name] = o.entry
		}
		out = append(out, o)
	}
	return out
}

func entryOf(f clients.ServerEntry) config.MCPServer {
	e := config.MCPServer{Cwd: f.Dir, URL: f.URL, Disabled: f.Disabled, Start: config.Duration(f.Start), Call: config.Duration(f.Call), Tools: f.Tools}
	if len(f.Command) > 0 {
		e.Command, e.Args = f.Command[0], f.Command[1:]
	}
	if len(e.Args) == 0 {
		e.Args = nil
	}
	if len(f.Env) > 0 {
		e.Env = f.Env
	}
	if len(f.Headers) > 0 {
		e.Headers = f.Headers
	}
	if f.SSE {
		e.Type = "sse"
	}
	return e
}
