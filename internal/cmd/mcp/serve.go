package mcp

import (
	"github.com/spf13/cobra"

	"adze/internal/cmd"
	"adze/internal/policy/policyconfig"
	"adze/internal/text/usage"
)

// Serve holds the options of adze mcp serve.
type Serve struct {
	policyconfig.Flags
	Tools, NoTools []string
	Model          string // for tasks; "" for the configured one
	HTTP           string // local address; "" for stdin and stdout
	TokenFile      string // "" for a new token, printed once
	NoSession      bool   // store nothing
}

func (s servers) serve() *cobra.Command {
	var o Serve
	c := &cobra.Command{Use: "serve", Annotations: cmd.CallableByTools(), Short: "Offer adze's tools to an MCP client, over stdin and stdout or HTTP", Args: cmd.RangeArgs(0, 0),
		Long: "The tools work in this folder, or in that of --cwd. Each call passes rules, mode, sandbox and log as a model's own: what is to be\n" +
			"asked is asked through the client where it takes questions, else it is denied with the rule that would allow it. The calls of a\n" +
			"client are a session: adze sessions, adze audit and adze undo know it. The tool task gives work to a subagent with the\n" +
			"configured model. Over HTTP the address is on this machine alone, at the path /mcp, for who sends the token\n" +
			"in the header Authorization, as a Bearer.",
		Example: `  adze mcp serve --cwd ~/src/app                              # for a client that starts it
  adze mcp serve --tools read,grep,glob                       # reading only
  adze mcp serve --allow 'execute(go test **)'                # for a client that takes no questions
  adze mcp serve --http :7070 --token-file ~/.adze-token`,
		RunE: func(*cobra.Command, []string) error {
			if o.TokenFile != "" && o.HTTP == "" {
				return usage.Mistake("add --http :7070", "--token-file is about HTTP")
			}
			return s.ServeTools(o)
		}}
	o.Add(c)
	f := c.Flags()
	f.StringSliceVar(&o.Tools, "tools", nil, "offer only these tools")
	f.StringSliceVar(&o.NoTools, "no-tools", nil, "do not offer these tools")
	f.StringVar(&o.Model, "model", "", "`PROVIDER/NAME` of the model that works on tasks")
	f.StringVar(&o.HTTP, "http", "", "listen on this `ADDRESS` of this machine instead, such as :7070")
	f.StringVar(&o.TokenFile, "token-file", "", "with --http: the `FILE` with the token, made where it is not there (default: a new token, told once on stderr)")
	f.BoolVar(&o.NoSession, "no-session", false, "save nothing")
	return c
}
