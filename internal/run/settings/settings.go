// Package settings is the first stage of a run: files, environment and flags, and the run's folder.
// Only that folder is opened here.
//
// The one rule: Settings do not change after Enter. Later stages derive changed copies by
// WithChange.
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
	"strings"
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

// Settings holds a run's parameters before any part is created.
type Settings struct {
	*process.Process
	Request       flags.Request // updated after the folder was chosen
	Places        paths.Places
	Home          string // home folder, "" if unknown
	File          string // user configuration
	Config        config.Config
	Root          *workspace.Root
	ProjectConfig config.Project               // project configuration
	Owner         config.Managed               // configuration by the machine's owner
	Survey        func() ([]trust.Item, error) // lists the project's items, computed once
	Files         *credentials.Files           // learns secrets from files
	Hide          func() *redact.Masker        // masks secrets for the model; nil shows them
	Logins        oauth.Manager                // at MCP servers
	Prompt        string                       // default prompt, for the demo
	Notices       []string                     // for the user
	main          func() string                // main checkout's folder if this is a work tree
	closers       []func()
}

// Read reads a run's settings. The caller must close them.
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

// Begin reads the files of the user and the machine's owner. Nothing is open, and the folder is
// unknown until Enter.
func Begin(p *process.Process, o flags.Request) (*Settings, error) {
	s := &Settings{Process: p, Request: o, Places: paths.FromEnv(p.Getenv), Home: p.Getenv("HOME")}
	s.Request.Run = o.Run.Clone()
	if err := s.OwnFiles.Trusted(); err != nil {
		return nil, err
	}
	if err := s.readFiles(); err != nil {
		return nil, err
	}
	return s, nil
}

// Enter opens the folder and reads its configuration. After an error nothing is open.
func (s *Settings) Enter() error {
	err := s.enter()
	if err != nil {
		s.Close()
	}
	return err
}

// Close releases the folder.
func (s *Settings) Close() {
	for _, end := range slices.Backward(s.closers) {
		end()
	}
	s.closers = nil
}

// WithChange returns a changed copy for later stages.
func (s *Settings) WithChange(change func(*flags.Request, *config.Config)) *Settings {
	other := *s
	change(&other.Request, &other.Config)
	return &other
}

// WithServer returns a copy with an additional MCP server.
func (s *Settings) WithServer(name string, one config.MCPServer) *Settings {
	other := s.WithChange(func(_ *flags.Request, c *config.Config) {
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
		_, main := worktree.Lookup(s.Places.State, s.Root.Dir())
		return main
	})
	s.Survey = sync.OnceValues(s.Project().Survey)
	if s.ProjectConfig, err = config.LoadProject(s.Root.Dir()); err != nil {
		return err
	}
	if warning := s.ProjectConfig.Warning(); warning != "" {
		s.Notices = append(s.Notices, warning)
	}
	return nil
}

// readFiles reads the files of the user and the machine's owner and applies the flags.
func (s *Settings) readFiles() (err error) {
	s.File = config.File(s.Getenv, s.Places.Config)
	s.OwnFiles.Begin(s.Places, s.File)
	if s.Config, err = s.Ring.Load(s.File); err != nil {
		return err
	}
	for _, dir := range []string{s.Places.Config, s.Places.State} {
		var foreign *ownfile.Error
		if err := ownfile.Mine(0).OwnFolder(dir); errors.As(err, &foreign) {
			if dir == s.Places.State {
				return foreign
			}
			return usage.Mistake(foreign.Hint, "%v", foreign)
		}
	}
	if s.Owner, err = config.LoadManaged(s.Places.Managed); err != nil {
		return err
	}
	s.Notices = slices.Concat(s.Notices, s.Config.Warnings(), config.AppendNew(filepath.Join(s.Places.State, "retired.txt"), s.Config.Retired()))
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

// folder returns the run's folder: the demo's copy, a folder, or a work tree. A work tree is
// protected from removal meanwhile.
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
		release, err := worktree.Hold(s.Places.State, dir)
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
	s.Request.Worktree, s.Request.Cwd = "", made.Dir // later sessions in this process use it, too
	return made.Dir, nil
}

// folderOf returns a run's initial folder: --cwd, $AGENT_WORKSPACE_ROOT, or the current one.
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

// RealFolderOf returns that folder with links resolved, as sessions store it.
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

// demoFolder unpacks the demo to a temporary folder, which is kept for the user.
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

// Short returns a path with ~ for the home folder.
func Short(home, path string) string {
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		return "~/" + rest
	}
	return path
}
