package guard

import (
	"context"
	"errors"
	"fmt"
	"os"

	configpaths "adze/internal/config/paths"
	"adze/internal/llm/models"
	"adze/internal/mcp"
	"adze/internal/policy"
	"adze/internal/project/trust"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
	"adze/tool"
	"adze/toolset"
)

// MayTake returns a check for a user's hook or formatter: it runs normally if it takes no code from
// this folder or the user has consented; otherwise only in a full sandbox.
func (g *Guard) MayTake(kind, name string, words []string, shell string) func() (inside bool, err error) {
	s := g.settings
	return func() (bool, error) {
		p := s.Project()
		if p.ProjectCode(words, shell) == "" {
			return false, nil
		}
		for _, i := range s.Takers() {
			if i.Kind != kind || i.ID != name {
				continue
			}
			err := p.Holds(p.Named(i))
			if err != nil && g.Cage.Full() {
				return true, nil
			}
			return false, err
		}
		return false, nil
	}
}

// MayServe checks a server right before it starts or is contacted: the project's item must be
// unchanged since the user's consent, and no deny rule may apply.
func (g *Guard) MayServe(one mcp.Server, holds map[string]trust.Item) error {
	if i, ok := holds[one.Name]; ok {
		if err := g.settings.Project().Holds(i); err != nil {
			return err
		}
	}
	if g.Gate.Mode() == policy.Plan { // planning changes nothing: each call is judged separately
		return nil
	}
	need := tool.Need{Permission: tool.Network, Target: one.URL}
	if len(one.Command) > 0 {
		need = tool.Need{Permission: tool.Execute, Target: trust.Item{Argv: one.Command}.Command()}
	}
	if why := g.Gate.Forbids(need); why != "" {
		return errors.New(why)
	}
	return nil
}

// ReachFor asks for permission for a sandboxed server to reach a host.
func (g *Guard) ReachFor(ctx context.Context, host string, port uint16) error {
	d, err := g.Gate.Decide(ctx, tool.Question{
		Tool: tool.Definition{Name: "mcp"}, Needs: []tool.Need{{Permission: tool.Network, Target: fmt.Sprintf("https://%s:%d", host, port)}}, Validated: true,
	})
	if err == nil && !d.Allow {
		err = fmt.Errorf("%w: %s", tool.ErrDenied, d.Reason)
	}
	return err
}

// MayAttach checks the user's attachments against the rules: the user's choice replaces a question,
// but not a denial.
func (g *Guard) MayAttach(paths []string) error {
	for _, path := range paths {
		if why := g.Gate.Forbids(tool.Need{Permission: tool.Read, Target: configpaths.Absolute(path)}); why != "" {
			return usage.Mistake("attach another file, or change the rule", "--attach %s: %s", path, why)
		}
	}
	return nil
}

// NewShell returns a shell for one session or subagent.
func (g *Guard) NewShell() *toolset.Shell {
	s := g.settings
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: s.Config.Environment, Secrets: models.KeyNames(s.Config)})
	shell := toolset.NewShell(g.Supervisor(), env)
	shell.MayLeave = g.Cage.Setting == sandbox.Auto
	shell.InUse = g.Cage.Box.DatabaseInUse
	shell.OnRun = func(c toolset.RanCommand) {
		if at := g.begun(); at != nil {
			at.ran(c)
		}
	}
	if s.Hide != nil {
		shell.Mask = func() *redact.Stream { return s.Hide().Stream() }
	}
	g.shells.Add(shell.Jobs())
	return shell
}
