package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"

	"adze/internal/config"
	"adze/internal/config/paths"
	"adze/internal/llm/catalog"
	"adze/internal/llm/local"
	"adze/internal/llm/models"
	"adze/internal/sandbox"
	"adze/internal/sandbox/proc"
	"adze/internal/sessiondb"
	"adze/session"
	"adze/toolset"
)

// littleDisk is the space for a long session with many stored outputs, in bytes.
const littleDisk = 200 << 20

// File checks the configuration file.
func (d Doctor) File(file string) Check {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fine("configuration", "none at "+d.tilde(file)+"; the defaults hold")
	}
	return fine("configuration", d.tilde(file))
}

// tilde shortens a path with ~.
func (d Doctor) tilde(path string) string {
	home := d.Getenv("HOME")
	if rest, inside := strings.CutPrefix(path, home+"/"); inside && home != "" {
		return "~/" + rest
	}
	return path
}

// checkModel selects a model as a run does and queries its server.
func (d Doctor) checkModel(ctx context.Context, find *models.Finder, offline bool) []Check {
	m, ok, err := find.Configured()
	if !ok && err == nil && offline {
		return []Check{missingCheck("model", "none is configured, and no server on this machine was looked for", "name one with --model, or run adze doctor without --offline")}
	}
	if !offline && (!ok || err != nil) {
		m, err = find.Choose(ctx)
	}
	if err != nil {
		return []Check{d.failing("model", err)}
	}
	chosen := fine("model", fmt.Sprintf("%s (from %s)", m.Full(), m.Origin))
	if offline {
		return []Check{chosen}
	}
	return []Check{chosen, d.checkServer(ctx, find, m)}
}

func (d Doctor) checkServer(ctx context.Context, find *models.Finder, m models.Model) Check {
	e, ok := find.Serving(m)
	if !ok {
		return fine("server", "none is needed")
	}
	if e.Incomplete() {
		return d.failing("server", e.CheckUsable())
	}
	if p, ok := e.Ollama(); ok {
		return d.checkInstalled(ctx, e, p, m)
	}
	if !e.NeedsKey && e.Cloud == "" {
		return d.checkPlace(ctx, e, m)
	}
	listed, err := e.Models(ctx)
	var failed *session.ProviderError
	switch {
	case errors.As(err, &failed) && (failed.Status == 404 || failed.Status == 405 || e.Cloud != "" && models.MayNotList(err)):
		return fine("server", e.DisplayURL()+" answers, and does not list its models")
	case err != nil:
		return d.failing("server", err)
	case e.Cloud == "" && len(listed) > 0 && !slices.ContainsFunc(listed, func(l local.Model) bool { return l.Name == m.Name }):
		return missingCheck("server", e.DisplayURL()+" answers, and does not list "+m.Name, e.Suggest(m.Name, listed))
	}
	return fine("server", e.DisplayURL()+" answers")
}

// checkTools reads the declared tools as a run does; a broken one is skipped.
func (d Doctor) checkTools(cfg config.Config, at paths.Places) (out []Check) {
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: cfg.Environment, Secrets: models.KeyNames(cfg)})
	own := &toolset.Declared{Dir: filepath.Join(at.Config, "tools")}
	if _, err := toolset.New(toolset.Deps{Shell: toolset.NewShell(proc.Supervisor{}, env), Declared: own}); err != nil {
		return []Check{d.failing("tools", err)}
	}
	for _, mistake := range own.Mistakes {
		out = append(out, missingCheck("tools", mistake.Error(), "fix the file, or remove it: the others work"))
	}
	if len(own.Names) > 0 {
		out = append(out, fine("tools", fmt.Sprintf("%d of your own", len(own.Names))))
	}
	return out
}

// checkStore opens the store as a run does, and writes a file beside it.
func (d Doctor) checkStore(ctx context.Context, at paths.Places) Check {
	path := filepath.Join(at.State, "sessions.db")
	s, err := sessiondb.Open(ctx, path, sessiondb.Options{})
	if err != nil {
		return d.failing("store", fmt.Errorf("%w: %w", sessiondb.ErrOpen, err))
	}
	f, err := os.CreateTemp(at.State, ".doctor-*")
	if err == nil {
		_, err = f.WriteString("written")
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return d.failing("store", fmt.Errorf("%w: %w", sessiondb.ErrOpen, err))
	}
	return fine("store", path)
}

func checkDisk(dir string) Check {
	free, err := freeSpace(dir)
	if err != nil {
		return missingCheck("disk", "the free space of "+dir+" is not known", "look at df")
	}
	found := fmt.Sprintf("%d MB free at %s", free>>20, dir)
	if free < littleDisk {
		return missingCheck("disk", found, "free some: a run ends when it cannot save what it does")
	}
	return fine("disk", found)
}

func checkProgram(name, why string) Check {
	path, err := exec.LookPath(name)
	if err != nil {
		return missingCheck(name, "not found on PATH", "install "+name+": "+why)
	}
	return fine(name, path)
}

func (d Doctor) checkShell() Check {
	shell := proc.FindShell(d.Getenv, os.Environ())
	if shell.Path == "" {
		return checkProgram("bash", "no command can run without it")
	}
	if _, err := os.Stat(shell.Path); err != nil {
		return missingCheck("shell", shell.Path+" is not there", "name another with ADZE_SHELL")
	}
	return fine("shell", shell.Name+": "+shell.Path)
}

// Terminal checks the interface's requirements, which --print does not have.
func (d Doctor) Terminal() []Check {
	sandbox := d.checkSandbox()
	if !term.IsTerminal(d.Out.Fd()) {
		return []Check{sandbox, missingCheck("terminal", "the output is not one", "run adze doctor without a pipe to check it; adze --print needs none")}
	}
	width, height, err := term.GetSize(d.Out.Fd())
	name := cmp.Or(d.Getenv("TERM"), terminalOfSystem)
	found := fmt.Sprintf("%s, %d×%d, %s", name, width, height, colours(d.Getenv))
	switch {
	case name == "" || name == "dumb":
		return []Check{sandbox, missingCheck("terminal", found, "set TERM to what your terminal is; until then adze writes plain lines")}
	case err != nil || width < 40 || height < 10:
		return []Check{sandbox, missingCheck("terminal", found, "make the window larger, or use adze --plain")}
	}
	return []Check{sandbox, fine("terminal", found)}
}

// Profile returns the AppArmor profile that lets this program create namespaces.
func Profile() (string, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	return sandbox.Profile(exe), err
}

// checkSandbox tests the sandbox and caches the result until something changes.
func (d Doctor) checkSandbox() Check {
	at := paths.FromEnv(d.Getenv)
	box := sandbox.ForWorkspace(at.State, at.State, at.Config)
	defer box.Close()
	r, err := box.Level(context.Background())
	switch {
	case err != nil:
		return missingCheck("sandbox", "it could not be tested: "+err.Error(), "try again")
	case r.Level == sandbox.Full:
		return fine("sandbox", "full ("+r.Technique.Name()+"); commands run in it in permission mode auto, and always with --sandbox on; jobs run at \"full, live\", which is asked about")
	}
	if r.Level == sandbox.Degraded && r.Technique == sandbox.Landlock {
		open := ""
		if len(r.Open) > 0 {
			open = "; it does not hold " + strings.Join(r.Open, ", ") + ", so each command is asked about"
		}
		return missingCheck("sandbox", "degraded (Landlock and a filter of system calls): in permission mode auto a command that only reads runs in it, and what changes files or needs a network is asked about"+open+" ("+r.Explanation+")", sandbox.Hint(r))
	}
	return missingCheck("sandbox", string(r.Level)+": a command that you allow can do what you can do ("+r.Explanation+")", sandbox.Hint(r))
}

func colours(getenv func(string) string) string {
	switch depth := getenv("COLORTERM"); {
	case getenv("NO_COLOR") != "":
		return "no colours (NO_COLOR)"
	case depth == "truecolor" || depth == "24bit":
		return "all colours"
	case strings.Contains(getenv("TERM"), "256color"):
		return "256 colours"
	}
	return "16 colours"
}

// checkClock compares the clock with the newest date built into the program: with a wrong clock all
// certificates look invalid and expired prices apply.
func checkClock(now time.Time) Check {
	newest := ""
	rows, err := catalog.Rows()
	if err != nil {
		return missingCheck("clock", err.Error(), "this is a bug of adze")
	}
	for _, r := range rows {
		newest = max(newest, r.Date)
	}
	day := now.Format(time.DateOnly)
	if now.AddDate(0, 0, 1).Format(time.DateOnly) < newest { // a day for time zones
		return missingCheck("clock", "it says "+day+", which is before this adze was made", "set the clock: certificates and prices go by it")
	}
	return fine("clock", day)
}

const tmuxPatience = time.Second

func (d Doctor) checkTmux(ctx context.Context) []Check {
	if d.Getenv("TMUX") == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tmuxPatience)
	defer cancel()
	program, env, err := proc.Helper("tmux")
	if err != nil {
		return []Check{missingCheck("tmux", "it does not tell its options: "+err.Error(), "look at: tmux show-options -s")}
	}
	c := exec.CommandContext(ctx, program, "show-options", "-sv", "extended-keys")
	c.Env = env
	keys, err := c.Output()
	switch value := strings.TrimSpace(string(keys)); {
	case err != nil:
		return []Check{missingCheck("tmux", "it does not tell its options", "look at: tmux show-options -s")}
	case value == "off":
		return []Check{missingCheck("tmux", "extended-keys is off: shift+enter and some other keys do not arrive", "put into ~/.tmux.conf: set -s extended-keys on")}
	}
	return []Check{fine("tmux", "extended-keys is on")}
}
