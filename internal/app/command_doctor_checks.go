package app

import (
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
	"golang.org/x/sys/unix"

	"adze/internal/catalog"
	"adze/internal/config"
	"adze/internal/llm/discover"
	"adze/internal/models"
	"adze/internal/proc"
	"adze/internal/store"
	"adze/session"
	"adze/toolset"
)

// littleDisk is what a long session with many cut outputs may take, in bytes.
const littleDisk = 200 << 20

func (a *app) checkFile(file string) check {
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fine("configuration", "none at "+a.tilde(file)+"; the defaults hold")
	}
	return fine("configuration", a.tilde(file))
}

// tilde writes a path as the person writes it.
func (a *app) tilde(path string) string {
	home := a.getenv("HOME")
	if rest, inside := strings.CutPrefix(path, home+"/"); inside && home != "" {
		return "~/" + rest
	}
	return path
}

// checkModel chooses as a run does, then asks the server of the model.
func (a *app) checkModel(ctx context.Context, cfg config.Config, offline bool) []check {
	m, ok, err := a.models(cfg).Configured()
	if !ok && err == nil && offline {
		return []check{lacks("model", "none is configured, and no Ollama was looked for", "name one with --model, or run adze doctor without --offline")}
	}
	if !ok && err == nil {
		m, err = a.models(cfg).Choose(ctx)
	}
	if err != nil {
		return []check{failing("model", err)}
	}
	chosen := fine("model", fmt.Sprintf("%s (from %s)", m.Full(), m.Origin))
	if offline {
		return []check{chosen}
	}
	return []check{chosen, a.checkServer(ctx, cfg, m)}
}

func (a *app) checkServer(ctx context.Context, cfg config.Config, m models.Model) check {
	e, ok := a.models(cfg).Serving(m)
	if !ok {
		return fine("server", "none is needed")
	}
	if e.Missing() {
		return failing("server", e.Lacking())
	}
	if p, ok := e.Ollama(); ok {
		return checkInstalled(ctx, p, e.Shown(), m)
	}
	if !e.NeedsKey {
		return a.checkPlace(ctx, e, m)
	}
	listed, err := e.Server().Models(ctx)
	var failed *session.ProviderError
	switch {
	case errors.As(err, &failed) && (failed.Status == 404 || failed.Status == 405):
		return fine("server", e.Shown()+" answers, and does not list its models")
	case err != nil:
		return failing("server", err)
	case len(listed) > 0 && !slices.ContainsFunc(listed, func(l discover.Model) bool { return l.Name == m.Name }):
		return lacks("server", e.Shown()+" answers, and does not list "+m.Name, "adze models --check lists what it has")
	}
	return fine("server", e.Shown()+" answers")
}

// checkTools reads the declared tools as a run does; a mistake leaves out one of them.
func (a *app) checkTools(cfg config.Config, at places) (out []check) {
	env := proc.Environ(os.Environ(), proc.EnvPolicy{Allow: cfg.Environment, Secrets: models.KeyNames(cfg)})
	own := &toolset.Declared{Dir: filepath.Join(at.config, "tools")}
	if _, err := toolset.New(toolset.Deps{Shell: toolset.NewShell(proc.Supervisor{}, env), Declared: own}); err != nil {
		return []check{failing("tools", err)}
	}
	for _, mistake := range own.Mistakes {
		out = append(out, lacks("tools", mistake.Error(), "mend the file, or remove it: the others work"))
	}
	if len(own.Names) > 0 {
		out = append(out, fine("tools", fmt.Sprintf("%d of your own", len(own.Names))))
	}
	return out
}

// checkStore opens the store as a run does, and writes beside it.
func checkStore(ctx context.Context, at places) check {
	path := filepath.Join(at.state, "sessions.db")
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return failing("store", fmt.Errorf("%w: %w", errStoreOpen, err))
	}
	f, err := os.CreateTemp(at.state, ".doctor-*")
	if err == nil {
		_, err = f.WriteString("written")
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return failing("store", fmt.Errorf("%w: %w", errStoreOpen, err))
	}
	return fine("store", path)
}

func checkDisk(dir string) check {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return lacks("disk", "the free space of "+dir+" is not known", "look at df")
	}
	free := uint64(st.Bavail) * uint64(st.Bsize)
	found := fmt.Sprintf("%d MB free at %s", free>>20, dir)
	if free < littleDisk {
		return lacks("disk", found, "free some: a run ends when it cannot save what it does")
	}
	return fine("disk", found)
}

func checkJobs(at places) check {
	stale, err := proc.NewLedger(filepath.Join(at.state, "jobs")).Stale()
	if err != nil {
		return lacks("jobs", err.Error(), "make the folder readable")
	}
	if stale > 0 {
		return lacks("jobs", fmt.Sprintf("an adze that was killed may have left %d running", stale), "the next run ends them")
	}
	return fine("jobs", "none is left of earlier runs")
}

func checkProgram(name, why string) check {
	path, err := exec.LookPath(name)
	if err != nil {
		return lacks(name, "not found on PATH", "install "+name+": "+why)
	}
	return fine(name, path)
}

// checkTerminal looks at what the interface needs; --print needs none of it.
func (a *app) checkTerminal() []check {
	sandbox := lacks("sandbox", "none: a command that you allow can do what you can do", "allow only what you would run yourself, or work in a container")
	if !term.IsTerminal(a.out.Fd()) {
		return []check{sandbox, lacks("terminal", "the output is not one", "run adze doctor without a pipe to check it; adze --print needs none")}
	}
	width, height, err := term.GetSize(a.out.Fd())
	name := a.getenv("TERM")
	found := fmt.Sprintf("%s, %d×%d, %s", name, width, height, colours(a.getenv))
	switch {
	case name == "" || name == "dumb":
		return []check{sandbox, lacks("terminal", found, "set TERM to what your terminal is; until then adze writes plain lines")}
	case err != nil || width < 40 || height < 10:
		return []check{sandbox, lacks("terminal", found, "make the window larger, or use adze --plain")}
	}
	return []check{sandbox, fine("terminal", found)}
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

// checkClock compares the clock with the newest date that the program itself knows: with a clock that is far
// off, every certificate seems false, and prices that ended still hold.
func checkClock(now time.Time) check {
	newest := ""
	rows, err := catalog.Known()
	if err != nil {
		return lacks("clock", err.Error(), "this is a bug of adze")
	}
	for _, r := range rows {
		newest = max(newest, r.Date)
	}
	day := now.Format(time.DateOnly)
	if now.AddDate(0, 0, 1).Format(time.DateOnly) < newest { // a day, for the other side of the earth
		return lacks("clock", "it says "+day+", which is before this adze was made", "set the clock: certificates and prices go by it")
	}
	return fine("clock", day)
}

// tmuxPatience is how long a tmux may take to tell an option.
const tmuxPatience = time.Second

// checkTmux looks at what a tmux around adze lets through.
func (a *app) checkTmux(ctx context.Context) []check {
	if a.getenv("TMUX") == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, tmuxPatience)
	defer cancel()
	keys, err := exec.CommandContext(ctx, "tmux", "show-options", "-sv", "extended-keys").Output()
	switch value := strings.TrimSpace(string(keys)); {
	case err != nil:
		return []check{lacks("tmux", "it does not tell its options", "look at: tmux show-options -s")}
	case value == "off":
		return []check{lacks("tmux", "extended-keys is off: shift+enter and some other keys do not arrive", "put into ~/.tmux.conf: set -s extended-keys on")}
	}
	return []check{fine("tmux", "extended-keys is on")}
}
