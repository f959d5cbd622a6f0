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

// For text that never appears on the screen.
const patience = 30 * time.Second

// The file with the model's steps; --model script/demo names it.
const scripted = "demo"

type pane struct {
	ctx context.Context
	dir string // holds all files
	// ground tells the program whether the terminal is dark, like rxvt and Konsole: a pane without
	// a window answers no query.
	ground string
	mono   bool // sets NO_COLOR
	work   string
	adze   string   // path to the program
	after  []string // commands
}

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
	// A program that ends leaves its last output on the screen.
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
		args = append(args, "--permission-mode", "ask") // otherwise the first start asks for a mode
	}
	args = append(args, s.args...)
	if err := p.tmux(args...); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

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

func (p *pane) command(args ...string) *exec.Cmd {
	return p.own("tmux", append([]string{"-S", filepath.Join(p.dir, "socket")}, args...)...)
}

func (p *pane) shell(command string) error {
	cmd := p.own("sh", "-ec", command)
	cmd.Dir = p.work
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w %s", command, err, out)
	}
	return nil
}

// own returns a program with an environment free of the user's settings.
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

// capture returns the screen with its attributes.
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

func (p *pane) close() {
	_ = p.command("kill-server").Run() // it may have exited
	for _, c := range p.after {
		_ = p.shell(c) // the process may have exited
	}
	_ = os.RemoveAll(p.dir)
}

// goCache returns the go build cache; without it every scene would build the standard library.
func goCache() string {
	dir, err := os.UserCacheDir()
	if set := os.Getenv("GOCACHE"); set != "" || err != nil {
		return set
	}
	return filepath.Join(dir, "go-build")
}
