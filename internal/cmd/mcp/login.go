package mcp

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/mcp/dial"
	"adze/internal/mcp/oauth"
	"adze/internal/text/safeterm"
	"adze/internal/text/usage"
)

func (s servers) login() *cobra.Command {
	o, secretFrom, inFile := oauth.Options{}, "", false
	c := &cobra.Command{Use: "login NAME", Short: "Log in to a server",
		Long: "Opens the server's login in your browser, and keeps what that brings in the key ring of the system, else in a file that\n" +
			"only you can read. It is refreshed by itself. Where no browser opens, open the address yourself; over ssh, forward the port\n" +
			"that --port names. Where logins are at another origin, or at several, you are asked; --issuer answers that ahead. What stays\n" +
			"the same for each login, and logins that need nobody (CI), stand in the configuration: mcp.servers.NAME.oauth.",
		Example: "  adze mcp login github\n  adze mcp login github --issuer https://login.example.com",
		RunE: func(c *cobra.Command, words []string) error {
			if cmd.Flagged(c, "device") {
				return usage.Mistake("open the address that adze mcp login "+words[0]+" prints in any browser; from another machine, with --port and ssh -L PORT:127.0.0.1:PORT", "--device is gone: no login by a code")
			}
			if o.Secret = s.Getenv(secretFrom); o.Secret != "" {
				s.Hide(o.Secret)
			} else if secretFrom != "" {
				return usage.Mistake("set it, or leave the flag out", "the variable %s is empty", secretFrom)
			}
			return s.at(c, words[0], func(d Manager, at oauth.Server) error { return s.runLogin(c, d.Logins, at, o, inFile) })
		}}
	f := c.Flags()
	f.Bool("device", false, "is gone")
	_ = f.MarkHidden("device")
	f.StringVar(&o.Issuer, "issuer", "", "the `ADDRESS` that gives logins for it, where that is another origin and you mean it")
	f.StringVar(&o.Metadata, "client-metadata", "", "the `ADDRESS` of a client id metadata document about this client")
	f.StringArrayVar(&o.Scopes, "scope", nil, "ask for these `SCOPES` instead of those that it names; again for more")
	f.StringVar(&o.Client, "client-id", "", "the `ID` of a client that you registered there")
	f.StringVar(&secretFrom, "client-secret-from", "", "the `VARIABLE` that holds its secret")
	f.IntVar(&o.Port, "port", 0, "the port on this machine that the browser comes back to; any by default")
	f.BoolVar(&inFile, "file", false, "use the file even where there is a key ring")
	return c
}

// at calls do with a server that has an address.
func (s servers) at(c *cobra.Command, name string, do func(Manager, oauth.Server) error) error {
	return s.MCP(c.Context(), func(d Manager) error {
		if err := d.usable(name); err != nil {
			return err
		}
		conf, _ := d.Pool.Server(name)
		if len(conf.Command) > 0 {
			return usage.Mistake("what it needs to log in stands in its own words, or in its variables", "%s is a program on this machine, and no address", name)
		}
		at, err := dial.Server(conf)
		if err = cmp.Or(conf.Err, err); err != nil {
			return usage.Mistake("adze mcp list shows it", "%s cannot be used: %v", name, err)
		}
		return do(d, at)
	})
}

func (s servers) runLogin(c *cobra.Command, d oauth.Manager, at oauth.Server, o oauth.Options, inFile bool) error {
	var scopes []string
	for _, one := range o.Scopes {
		scopes = append(scopes, strings.Fields(one)...)
	}
	o.Scopes, d.Store.InFile = scopes, inFile
	d.Print = func(line string) { fmt.Fprintf(s.Err, "%s\n", safeterm.Reveal(line)) }
	if term.IsTerminal(s.In.Fd()) {
		d.Choose = s.choose
	}
	kept, where, err := d.Login(c.Context(), at, o)
	if err != nil {
		return told(err)
	}
	if cmd.Flagged(c, "json") {
		return s.WriteJSON(map[string]any{"name": at.Name, "issuer": kept.Issuer, "scopes": kept.Scopes, "where": where, "refreshes": kept.Refresh != ""})
	}
	s.Show("logged in at %s by %s; the login is in %s\n", at.Name, kept.Issuer, where)
	if kept.Refresh == "" && !kept.Expiry.IsZero() {
		s.Show("it holds until %s, and cannot be prolonged\n", kept.Expiry.Local().Format("2006-01-02 15:04"))
	}
	return nil
}

// choose asks the user for a server's issuer.
func (s servers) choose(_ context.Context, server string, issuers []string) string {
	line := func(question string) string {
		fmt.Fprint(s.Err, question)
		text, err := bufio.NewReader(io.LimitReader(s.In, 100)).ReadString('\n')
		if err != nil {
			return ""
		}
		return strings.ToLower(strings.TrimSpace(text))
	}
	if len(issuers) == 1 {
		if said := line(fmt.Sprintf("%s sends logins to another origin: %s\nlog in there? [y/N] ", server, safeterm.Reveal(issuers[0]))); said == "y" || said == "yes" {
			return issuers[0]
		}
		return ""
	}
	fmt.Fprintf(s.Err, "%s takes logins of several:\n", server)
	for i, issuer := range issuers {
		fmt.Fprintf(s.Err, "  %d  %s\n", i+1, safeterm.Reveal(issuer))
	}
	if n, err := strconv.Atoi(line(fmt.Sprintf("log in at which? [1-%d, nothing for none] ", len(issuers)))); err == nil && n >= 1 && n <= len(issuers) {
		return issuers[n-1]
	}
	return ""
}

// told converts an error with a next step for the command line.
func told(err error) error {
	var next interface {
		error
		Next() string
	}
	if errors.As(err, &next) {
		return usage.Mistake(next.Next(), "%s", err.Error())
	}
	return err
}

func (s servers) logout() *cobra.Command {
	return &cobra.Command{Use: "logout NAME", Short: "Delete the login of a server",
		Example: "  adze mcp logout github",
		RunE: func(c *cobra.Command, words []string) error {
			return s.at(c, words[0], func(d Manager, at oauth.Server) error {
				revoked, err := d.Logins.Logout(c.Context(), at)
				if err != nil {
					return told(err)
				}
				if cmd.Flagged(c, "json") {
					return s.WriteJSON(map[string]any{"name": at.Name, "revoked": revoked})
				}
				s.Show("the login at %s is forgotten\n", at.Name)
				if !revoked {
					s.Show("its issuer was not told: it may hold there until it runs out\n")
				}
				return nil
			})
		}}
}
