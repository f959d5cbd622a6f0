// Package settings is the first stage of a run: what files, the environment and flags say, and the
// folder that it works in. Nothing of a run is started or opened here but that folder.
//
// The one rule: Settings do not change after Enter. What a later stage learns makes others of them,
// by With.
//
// Start reading at Read.
package settings

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/files/workspace"
	"adze/internal/llm/credentials"
	"adze/internal/mcp/oauth"
	"adze/internal/osfile/ownfile"
	"adze/internal/project/trust"
	"adze/internal/project/worktree"
	"adze/internal/run/demo"
	"adze/internal/run/flags"
	"adze/internal/run/process"
	"adze/internal/sandbox"
	"adze/internal/text/redact"
	"adze/internal/text/usage"
)

// Settings is what is known of a run before anything of it is made.
type Settings struct {
	*process.Process
	Request flags.Request // as it is after the folder was chosen
	At      paths.Places
	Home    string // the user's; if empty, it is not known
	File    string // the user's configuration
	Config  config.Config
	Root    *workspace.Root
	Says    config.Project               // what the project's own file says
	Owner   config.Managed               // what the owner of this machine says
	Survey  func() ([]trust.Item, error) // what the project would run, looked at once
	Files   *credentials.Files           // learns what is secret in them
	Hide    func() *redact.Masker        // hides secrets from the model; if nil, it sees them
	Logins  oauth.Manager                // at MCP servers
	Prompt  string                       // what to ask when the user gave no prompt: the demo's
	Notices []string                     // for the user
	main    func() string                // the folder of the main checkout, where this one is a work tree
	closers []func()
}

// Read makes the settings of a run. Who gets them closes them.
func Read(p *process.Process, o flags.Request) (*Settings, error) {
	s, err := Begin(p, o)
	if err == nil {
		err = s.Enter()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Begin reads the files of the user and of the machine's owner. Nothing is open yet, and the folder
// is not known before Enter.
func Begin(p *process.Process, o flags.Request) (*Settings, error) {
	s := &Settings{Process: p, Request: o, At: paths.Of(p.Getenv), Home: p.Getenv("HOME")}
	s.Request.Run = o.Run.Clone()
	if err := s.Own.Trusted(); err != nil {
		return nil, err
	}
	if err := s.readFiles(); err != nil {
		return nil, err
	}
	return s, nil
}

// Enter goes to the folder and reads what it says. After an error nothing is open.
func (s *Settings) Enter() error {
	err := s.enter()
	if err != nil {
		s.Close()
	}
	return err
}

// Close lets go of the folder.
func (s *Settings) Close() {
	for _, end := range slices.Backward(s.closers) {
		end()
	}
	s.closers = nil
}

// With are the same settings but for a change, for the stages after this one.
func (s *Settings) With(change func(*flags.Request, *config.Config)) *Settings {
	other := *s
	change(&other.Request, &other.Config)
	return &other
}

// WithServer are the same settings with one more MCP server, which stands in no file.
func (s *Settings) WithServer(name string, one config.MCPServer) *Settings {
	other := s.With(func(_ *flags.Request, c *config.Config) {
		all := map[string]config.MCPServer{}
		maps.Copy(all, c.MCP.Servers)
		all[name], c.MCP.Servers = one, all
	})
	other.Survey = sync.OnceValues(other.Project().Survey)
	return other
}

func (s *Settings) enter() error {
	dir, err := s.folder()
	if err != nil {
		return err
	}
	if s.Root, err = workspace.OpenWith(dir, workspace.Options{FS: s.Request.Files}); err != nil {
		return usage.Mistake("name a folder that exists", "%v", err)
	}
	s.closers = append(s.closers, func() { s.Root.Close() })
	s.Logins = s.loginsIn(s.Root.Dir())
	s.Files = &credentials.Files{Ring: s.Ring, Root: s.Root.Dir()}
	s.Files.Begin()
	s.main = sync.OnceValue(func() string {
		_, main := worktree.Of(s.At.State, s.Root.Dir())
		return main
	})
	s.Survey = sync.OnceValues(s.Project().Survey)
	if s.Says, err = config.LoadProject(s.Root.Dir()); err != nil {
		return err
	}
	if warning := s.Says.Warning(); warning != "" {
		s.Notices = append(s.Notices, warning)
	}
	return nil
}

// readFiles reads the files of the user and of the machine's owner, and lays the flags over them.
func (s *Settings) readFiles() (err error) {
	s.File = config.File(s.Getenv, s.At.Config)
	s.Own.Begin(s.At, s.File)
	if s.Config, err = s.Ring.Load(s.File); err != nil {
		return err
	}
	for _, dir := range []string{s.At.Config, s.At.State} {
		var foreign *ownfile.Error
		if err := ownfile.Mine(0).Own(dir); errors.As(err, &foreign) {
			if dir == s.At.State {
				return foreign
			}
			return usage.Mistake(foreign.Hint, "%v", foreign)
		}
	}
	if s.Owner, err = config.LoadManaged(s.At.Managed); err != nil {
		return err
	}
	s.Notices = slices.Concat(s.Notices, s.Config.Warnings(), config.Untold(filepath.Join(s.At.State, "retired.txt"), s.Config.Retired()))
	if !s.Config.ShowSecrets {
		s.Hide = s.Ring.Mask
	}
	if err := s.Config.RequireSandbox(s.Owner, s.Request.Sandbox); err != nil {
		return err
	}
	s.Request.Merge(&s.Config)
	if _, err := sandbox.ParseSetting(s.Config.Sandbox.Use); err != nil {
		return usage.Mistake("on runs commands in the sandbox only, off never does", "%s: %v", s.Config.Origin("sandbox"), err)
	}
	return nil
}

// folder goes to where this run works: the demo's copy, or a folder, or a work tree of it that the
// user names. A work tree is kept from being removed meanwhile.
func (s *Settings) folder() (dir string, err error) {
	if s.Request.Demo {
		dir, err = s.demoFolder()
	} else {
		dir, err = folderOf(s.Process, &s.Request.Run)
	}
	if err != nil {
		return "", err
	}
	if s.Request.Worktree == "" {
		release, err := worktree.Hold(s.At.State, dir)
		if err == nil {
			s.closers = append(s.closers, release)
		}
		return dir, err
	}
	made, err := TreesOf(s.Process, s.Config, dir).Make(context.Background(), dir, s.Request.Worktree)
	if err != nil {
		return "", err
	}
	s.closers, s.Notices = append(s.closers, made.Release), append(s.Notices, made.Notices...)
	s.Request.Worktree, s.Request.Cwd = "", made.Dir // what this run goes on with works there, too
	return made.Dir, nil
}

// folderOf is the folder that a run is begun in: $AGENT_WORKSPACE_ROOT, --cwd, or here.
func folderOf(p *process.Process, o *flags.Run) (string, error) {
	if root := p.Getenv("AGENT_WORKSPACE_ROOT"); root != "" && o.Cwd == "" {
		return root, nil
	}
	if o.Cwd != "" {
		return o.Cwd, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", usage.Mistake("change to a folder that exists, or use --cwd", "the current folder cannot be found: %v", err)
	}
	return dir, nil
}

// RealFolderOf is the same folder as sessions remember it.
func RealFolderOf(p *process.Process, o *flags.Run) (string, error) {
	dir, err := folderOf(p, o)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	return dir, nil
}

// demoFolder unpacks the demo's program to a temporary folder, which stays: the user may want to
// look.
func (s *Settings) demoFolder() (string, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", usage.Mistake("install Go, or start adze with a model", "the demo runs go test, and there is no go in PATH")
	}
	dir, err := os.MkdirTemp("", "adze-demo-")
	if err != nil {
		return "", usage.Mistake("make room there, or set TMPDIR", "the demo needs a temporary folder: %v", err)
	}
	if err := demo.Unpack(dir); err != nil {
		return "", err
	}
	s.Request.Allow = append(s.Request.Allow, demo.Allow)
	if s.Request.Mode == "" {
		s.Request.Mode = "edits"
	}
	s.Prompt = demo.Prompt
	s.Notices = append(s.Notices, demo.Notice, "demo: the program is in "+dir)
	return dir, nil
}
