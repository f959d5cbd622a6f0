package mcp

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/mcp"
	"adze/internal/text/plural"
	"adze/internal/text/safeterm"
	"adze/session"
)

func (s servers) list() *cobra.Command {
	return &cobra.Command{Use: "list", Annotations: cmd.CallableByTools(), Short: "List the servers of your configuration and of this project; none is started", Args: cmd.RangeArgs(0, 0),
		Example: "  adze mcp list\n  adze mcp list --json | jq -r .name", RunE: s.runList}
}

// line is a server in --json.
type line struct {
	ServerEntry
	Seen         bool     `json:"seen"` // its tools are known
	Title        string   `json:"title,omitempty"`
	Protocol     string   `json:"protocol,omitempty"`
	Tools        []string `json:"tools,omitempty"`
	Bytes        int      `json:"bytes,omitempty"` // of all tool definitions
	Instructions string   `json:"instructions,omitempty"`
}

func lineOf(l ServerEntry, p *mcp.Pool) line {
	c, names := p.Catalogue(l.Name), p.ToolNames()[l.Name]
	out := line{ServerEntry: l, Seen: c != nil}
	if c == nil {
		return out
	}
	out.Title, out.Protocol, out.Instructions = c.Title, c.Protocol, c.Instructions
	for _, t := range c.Tools {
		if t.Bad == "" {
			out.Tools = append(out.Tools, names[t.Name])
			out.Bytes += len(t.Description) + len(t.Parameters)
		}
	}
	return out
}

func (s servers) runList(c *cobra.Command, _ []string) error {
	return s.MCP(c.Context(), func(d Manager) error {
		table := s.Columns()
		if len(d.All) == 0 {
			fmt.Fprintln(s.Err, "no MCP server is configured here; adze mcp add NAME -- COMMAND adds one")
		}
		for _, l := range d.All {
			one := lineOf(l, d.Pool)
			if cmd.Flagged(c, "json") {
				if err := s.WriteJSON(one); err != nil {
					return err
				}
				continue
			}
			tools := ""
			if one.Seen {
				tools = fmt.Sprintf("%s, %d KB", plural.Of(len(one.Tools), "tool"), (one.Bytes+1023)>>10)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", safeterm.Name(l.Name), l.State, tools, safeterm.Name(cmp.Or(l.URL, l.Command)), safeterm.Name(cmp.Or(l.Reason, l.Source)))
		}
		return table.Flush()
	})
}

func (s servers) test() *cobra.Command {
	return &cobra.Command{Use: "test NAME", Annotations: cmd.CallableByTools(), Short: "Start a server, and show what it is and which tools it offers",
		Long: "Starts or dials a server, lists its tools and ends it. What it says otherwise than you agreed to is shown, and agreed to by\n" +
			"adze mcp accept. Exits with 8 where it does not work or waits for that.",
		Example: "  adze mcp test files\n  adze mcp test files --json | jq .tools",
		RunE: func(c *cobra.Command, words []string) error {
			_, err := s.runTest(c, words[0])
			return err
		}}
}

// testJSON is the --json object of adze mcp test.
type testJSON struct {
	line
	Works   bool     `json:"works"`
	Took    int64    `json:"took_ms"`
	Differs []string `json:"differs,omitempty"`
	Left    []string `json:"left_out,omitempty"`
	Noise   int      `json:"noise,omitempty"` // lines that were no messages
}

// runTest starts a server and prints its description. It returns the server's failure apart from
// its own error.
func (s servers) runTest(c *cobra.Command, name string) (failed, err error) {
	err = s.MCP(c.Context(), func(d Manager) (err error) {
		failed, err = s.try(c, d, name)
		if text, _ := d.Pool.Log(name); failed != nil && text != "" && !cmd.Flagged(c, "json") {
			s.Show("  adze mcp logs %s shows what it wrote\n", name)
		}
		return err
	})
	return failed, err
}

// try is runTest with an existing Manager.
func (s servers) try(c *cobra.Command, d Manager, name string) (failed, err error) {
	if err := d.usable(name); err != nil {
		return nil, err
	}
	began := time.Now()
	failed = d.Pool.Await(c.Context(), name)
	t := testJSON{Works: failed == nil, Took: time.Since(began).Milliseconds()}
	for _, l := range d.All {
		if l.Name == name {
			if l.State, l.Reason = Ready, ""; failed != nil {
				l.State, l.Reason = Failed, failed.Error()
			}
			t.line = lineOf(l, d.Pool)
		}
	}
	for _, st := range d.Pool.States() {
		if st.Name == name {
			t.Noise = st.Noise
		}
	}
	if known := d.Pool.Catalogue(name); known != nil {
		for _, one := range known.Tools {
			if one.Bad != "" {
				t.Left = append(t.Left, mcp.Line(one.Name, 64)+": "+one.Bad)
			}
		}
	}
	t.Differs = d.Pool.Pending(name).Lines
	if !t.Works || len(t.Differs) > 0 {
		s.Conclude(session.CauseTool, "", "")
	}
	if cmd.Flagged(c, "json") {
		return failed, s.WriteJSON(t)
	}
	s.tell(name, t, d.Pool)
	return failed, nil
}

func (s servers) tell(name string, t testJSON, p *mcp.Pool) {
	if !t.Works {
		s.Show("%s does not work: %s\n", name, t.Reason)
		return
	}
	s.Show("%s works: %s, protocol %s, %s, %d ms\n", name, cmp.Or(t.Title, "without a name"), t.Protocol, plural.Of(len(t.Tools), "tool"), t.Took)
	known, names := p.Catalogue(name), p.ToolNames()[name]
	for _, one := range known.Tools {
		if one.Bad == "" {
			s.Show("  %s: %s\n", names[one.Name], mcp.Line(cmp.Or(one.Description, one.Title), 160))
		}
	}
	for _, left := range t.Left {
		s.Show("  left out: %s\n", left)
	}
	if known.MissingReason != "" {
		s.Show("  there is more: %s\n", known.MissingReason)
	}
	if t.Noise > 0 {
		s.Show("  it wrote %s that were no messages; they are left out\n", plural.Of(t.Noise, "line"))
	}
	if len(t.Differs) > 0 {
		s.Show("It says otherwise than you agreed to:\n  %s\nadze mcp accept %s agrees to that.\n", strings.Join(t.Differs, "\n  "), name)
	}
}

func (s servers) accept() *cobra.Command {
	return &cobra.Command{Use: "accept NAME", Short: "Agree to what a server says of its tools now",
		Long:    "Starts a server, shows what it says otherwise than you agreed to, and agrees to it. Look at it with adze mcp test first.",
		Example: "  adze mcp test files && adze mcp accept files",
		RunE: func(c *cobra.Command, words []string) error {
			return s.MCP(c.Context(), func(d Manager) error {
				if err := d.usable(words[0]); err != nil {
					return err
				}
				if err := d.Pool.Await(c.Context(), words[0]); err != nil {
					return err
				}
				change := d.Pool.Pending(words[0])
				if change.Any() {
					if err := d.Pool.Accept(change); err != nil {
						return err
					}
				}
				if cmd.Flagged(c, "json") {
					return s.WriteJSON(map[string]any{"name": words[0], "accepted": change.Lines})
				}
				if !change.Any() {
					s.Show("%s says what you agreed to\n", words[0])
					return nil
				}
				s.Show("agreed to what %s says now:\n  %s\n", words[0], strings.Join(change.Lines, "\n  "))
				return nil
			})
		}}
}
