package mcp

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/config"
	"adze/internal/mcp/oauth"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
)

func (s servers) add() *cobra.Command {
	var env, headers, login, tools []string
	var timeout time.Duration
	var unpinned bool
	var cwd string
	c := &cobra.Command{Use: "add NAME URL | add NAME -- COMMAND [ARGS...]", Short: "Add a server to your configuration, and try it", Args: cmd.RangeArgs(2, -1),
		Long: "Writes a server into your configuration and starts it once, so that its tools are known and agreed to. One that does not\n" +
			"start is not added, and leaves nothing behind. It has its start_timeout for that (30 s), in which npx may install it. Values may name\n" +
			"variables of yours, ${NAME} or ${NAME:-default}: a secret then stands in no file. Keys of model providers are not given.\n" +
			"A command starts in a folder of its own. ${workspaceFolder} stands for the folder that adze works in.",
		Example: "  adze mcp add files -- npx -y @modelcontextprotocol/server-filesystem '${workspaceFolder}'\n  adze mcp add github https://api.example.com/mcp --header 'Authorization: Bearer ${GITHUB_TOKEN}'\n" +
			"  adze mcp add ci https://api.example.com/mcp --oauth grant=client_credentials --oauth client_id=ci --oauth 'client_secret=${CI_SECRET}'",
		RunE: func(c *cobra.Command, words []string) error {
			one := config.MCPServer{Tools: tools, Call: config.Duration(timeout), Cwd: cwd}
			if strings.HasPrefix(words[1], "https://") || strings.HasPrefix(words[1], "http://") {
				if one.URL = words[1]; len(words) > 2 {
					return usage.Mistake("put an address alone, or a command behind --", "%q follows the address", words[2])
				}
			} else {
				one.Command, one.Args = words[1], words[2:]
			}
			if unpinned {
				one.Pin = "off"
			}
			var err error
			if one.Env, err = pairs(env, "=", "--env"); err != nil {
				return err
			}
			if one.Headers, err = pairs(headers, ":", "--header"); err != nil {
				return err
			}
			if one.OAuth, err = pairs(login, "=", "--oauth"); err != nil {
				return err
			}
			for name := range one.OAuth {
				if !slices.Contains(config.OAuthNames(), name) || one.URL == "" {
					return usage.Mistake("it is for an address, and takes "+strings.Join(config.OAuthNames(), ", "), "--oauth %s is not taken", name)
				}
			}
			return s.runAdd(c, words[0], one)
		}}
	f := c.Flags()
	f.StringArrayVarP(&env, "env", "e", nil, "`NAME=VALUE` in the environment of its program; again for more")
	f.StringArrayVarP(&headers, "header", "H", nil, "`NAME: VALUE` with each request to its address; again for more")
	f.StringArrayVar(&login, "oauth", nil, "`NAME=VALUE` of how one logs in at its address, such as grant=client_credentials; again for more")
	f.StringSliceVar(&tools, "tools", nil, "use only these of its tools; * stands for any rest, a first ! leaves out")
	f.StringVar(&cwd, "cwd", "", "start it in this `FOLDER`; . is the one that adze works in, and you are asked about each")
	f.DurationVar(&timeout, "timeout", 0, "how long a call may take without a sign of progress (default 5m)")
	f.BoolVar(&unpinned, "no-pin", false, "take what it says of its tools as it is, whenever that changes")
	f.Bool("no-test", false, "do not start it")
	f.Bool("replace", false, "in the place of one of this name")
	return c
}

func pairs(texts []string, between, flag string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, between)
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, usage.Mistake("write it as "+flag+" 'NAME"+between+"VALUE'", "%s %q has no name and value", flag, text)
		}
		out[name] = strings.TrimSpace(value)
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, nil
}

func (s servers) runAdd(c *cobra.Command, name string, one config.MCPServer) error {
	cfg, _, err := s.Config()
	if err != nil {
		return err
	}
	former, there := cfg.MCP.Servers[name]
	if there && !cmd.Flagged(c, "replace") {
		return usage.Mistake("--replace puts this one in its place", "there is a server %s already", name)
	}
	if err := one.Check(name); err != nil {
		return usage.Mistake("adze mcp add --help shows how", "the server %s cannot be added: %v", name, err)
	}
	if one.Cwd == "" && slices.ContainsFunc(one.Args, relative) {
		fmt.Fprintf(s.Err, "hint: %s starts in a folder of its own, from where . and .. count; '${workspaceFolder}' stands for the folder that adze works in\n", safeterm.Name(name))
	}
	if cmd.Flagged(c, "no-test") {
		if err := config.KeepServer(s.ConfigFile(), name, one); err != nil {
			return err
		}
		s.added(c, name)
		return nil
	}
	var failed error
	var waits string
	err = s.TryMCP(c.Context(), name, one, func(d Manager) (err error) {
		if waits = waiting(d, name); waits != "" {
			return nil
		}
		if failed, err = s.try(c, d, name); failed != nil && !wantsLogin(failed) {
			if words := d.Pool.LastWords(name); words != "" && !cmd.Flagged(c, "json") {
				fmt.Fprintf(s.Err, "It wrote:\n  %s\n", strings.ReplaceAll(safeterm.Reveal(words).String(), "\n", "\n  "))
			}
			if !there || !reflect.DeepEqual(former, one) {
				d.Pool.Forget(name) // otherwise each run would start it
			}
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case failed == nil || wantsLogin(failed):
		if err := config.KeepServer(s.ConfigFile(), name, one); err != nil {
			return err
		}
		s.added(c, name)
		if waits != "" && !cmd.Flagged(c, "json") {
			s.Show("it was not started: %s\n", waits)
		}
	case there:
		fmt.Fprintf(s.Err, "%s stays as it was in %s; --no-test replaces it anyway\n", safeterm.Name(name), s.ConfigFile())
	default:
		fmt.Fprintf(s.Err, "%s was not added; --no-test adds it anyway\n", safeterm.Name(name))
	}
	return nil
}

func wantsLogin(err error) bool { return errors.As(err, new(*oauth.LoginRequired)) }

// waiting returns the reason why a server of the user does not start in this folder, or "".
func waiting(d Manager, name string) string {
	for _, l := range d.All {
		if l.Name == name && l.Mine && l.State == NeedsConsent {
			return l.Reason
		}
	}
	return ""
}

// relative reports whether an argument depends on the current folder.
func relative(word string) bool {
	return word == "." || word == ".." || strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../")
}

func (s servers) added(c *cobra.Command, name string) {
	if !cmd.Flagged(c, "json") {
		s.Show("added %s to %s\n", name, s.ConfigFile())
	}
}

func (s servers) remove() *cobra.Command {
	return &cobra.Command{Use: "remove NAME", Short: "Remove a server from your configuration",
		Long:    "Removes a server from your configuration, and forgets its tools. One of a project stays in its file:\nadze permission trust revoke server:NAME takes your consent back.",
		Example: "  adze mcp remove files",
		RunE: func(c *cobra.Command, words []string) error {
			name := words[0]
			if err := s.MCP(c.Context(), func(d Manager) error {
				for _, l := range d.All {
					if l.Name == name && !l.Mine {
						return usage.Mistake("adze permission trust revoke server:"+name+" takes your consent back", "%s is in %s, a file of the project", name, l.Source)
					}
				}
				d.Pool.Forget(name)
				return nil
			}); err != nil {
				return err
			}
			was, err := config.DropServer(s.ConfigFile(), name)
			if err != nil {
				return err
			}
			if !was {
				return usage.Mistake("adze mcp list shows them", "there is no MCP server %q", name)
			}
			if cmd.Flagged(c, "json") {
				return s.WriteJSON(map[string]string{"name": name, "state": "removed"})
			}
			s.Show("removed %s from %s\n", name, s.ConfigFile())
			return nil
		}}
}
