package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// patience ends a wait for something that will never be on the screen.
const patience = 30 * time.Second

// scripted is the file of the model's steps; --model script/demo names it.
const scripted = "demo"

// pane is a terminal with the program in it.
type pane struct {
	ctx context.Context
	dir string // everything of the scene
	// ground tells whether the terminal is dark, as rxvt and Konsole do: nobody answers for a pane
	// that has no window.
	ground string
	mono   bool // NO_COLOR is set
	work   string
	adze   string   // the program
	after  []string // commands
}

// open lays out the workspace and starts the program.
func open(ctx context.Context, s scene, adze string) (*pane, error) {
	dir, err := os.MkdirTemp("", "adze-scene-")
	if err != nil {
		return nil, err
	}
	p := &pane{ctx: ctx, dir: dir, ground: s.colours.behind, mono: s.mono}
	work := filepath.Join(dir, "home", s.title)
	if err := p.layOut(s, work); err != nil {
		p.close()
		return nil, err
	}
	// A program that ends leaves its last words on the screen.
	if err := write(filepath.Join(dir, "tmux.conf"), []byte("set -g remain-on-exit on\nset -g status off\n")); err != nil {
		p.close()
		return nil, err
	}
	p.work, p.adze, p.after = work, adze, s.after
	for _, c := range s.before {
		if err := p.shell(c); err != nil {
			p.close()
			return nil, err
		}
	}
	args := []string{"-f", filepath.Join(dir, "tmux.conf"), "new-session", "-d", "-x", strconv.Itoa(s.w), "-y", strconv.Itoa(s.h),
		"-c", work, adze}
	if strings.HasPrefix(s.args[0], "-") {
		args = append(args, "--permission-mode", "ask") // without a mode a first start asks for one
	}
	args = append(args, s.args...)
	if err := p.tmux(args...); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// layOut writes the files of the scene.
func (p *pane) layOut(s scene, work string) error {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	others := map[string][]txtar.File{}
	for _, f := range s.files {
		if name, ok := strings.CutPrefix(f.Name, "script/"); ok {
			model, step := filepath.Dir(name), filepath.Base(name)
			others[model] = append(others[model], txtar.File{Name: step, Data: f.Data})
			continue
		}
		to := filepath.Join(work, f.Name)
		if strings.HasPrefix(f.Name, "home/") {
			to = filepath.Join(p.dir, f.Name)
		}
		if err := write(to, f.Data); err != nil {
			return err
		}
	}
	for model, steps := range others {
		if err := write(filepath.Join(p.dir, "home", model), txtar.Format(&txtar.Archive{Files: steps})); err != nil {
			return err
		}
	}
	if len(s.model) == 0 {
		return nil
	}
	return write(filepath.Join(work, scripted), txtar.Format(&txtar.Archive{Files: s.model}))
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if filepath.Ext(path) == ".sh" {
		mode = 0o755
	}
	return os.WriteFile(path, data, mode)
}

// command is a tmux command.
func (p *pane) command(args ...string) *exec.Cmd {
	return p.own("tmux", append([]string{"-S", filepath.Join(p.dir, "socket")}, args...)...)
}

// shell runs a command of the scene.
func (p *pane) shell(command string) error {
	cmd := p.own("sh", "-ec", command)
	cmd.Dir = p.work
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w %s", command, err, out)
	}
	return nil
}

// own is a program in an environment in which nothing of the user's own shows.
func (p *pane) own(name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.ctx, name, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(p.dir, "home"), "LANG=C.UTF-8",
		"TERM=tmux-256color", "COLORTERM=truecolor", "COLORFGBG=" + p.ground, "GOCACHE=" + goCache(), "TMUX=", "ADZE=" + p.adze}
	if p.mono {
		cmd.Env = append(cmd.Env, "NO_COLOR=1")
	}
	return cmd
}

func (p *pane) tmux(args ...string) error {
	if out, err := p.command(args...).CombinedOutput(); err != nil {
		return fmt.Errorf("tmux %s: %w %s", args[0], err, out)
	}
	return nil
}

// capture is what the screen shows, with its attributes.
func (p *pane) capture() (string, error) {
	out, err := p.command("capture-pane", "-e", "-p", "-N").Output()
	return string(out), err
}

func (p *pane) play(s step) error {
	switch s.verb {
	case "type":
		return p.tmux("send-keys", "-l", s.rest)
	case "key":
		return p.tmux(append([]string{"send-keys"}, strings.Fields(s.rest)...)...)
	}
	return p.wait(s.rest, s.verb == "see")
}

// wait polls until the screen shows the text, or does not.
func (p *pane) wait(text string, shown bool) error {
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		out, err := p.command("capture-pane", "-p").Output()
		if err != nil {
			return err
		}
		if strings.Contains(string(out), "Pane is dead") {
			return fmt.Errorf("the program ended before %q:\n%s", text, out)
		}
		if strings.Contains(string(out), text) == shown {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %q (shown: %t); the screen:\n%s", text, shown, out)
		}
	}
}

// close ends the program and removes the scene's files.
func (p *pane) close() {
	_ = p.command("kill-server").Run() // it may have ended by itself
	for _, c := range p.after {
		_ = p.shell(c) // what it ends may have ended by itself
	}
	_ = os.RemoveAll(p.dir)
}

// goCache is where the go command keeps what it has built; without it every scene would build the
// standard library.
func goCache() string {
	dir, err := os.UserCacheDir()
	if set := os.Getenv("GOCACHE"); set != "" || err != nil {
		return set
	}
	return filepath.Join(dir, "go-build")
}
