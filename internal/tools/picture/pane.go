package main

import (
	"context"
	"errors"
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

// pane is a scene's program in a terminal.
type pane struct {
	scene
	ctx  context.Context
	dir  string // holds all files
	work string
	adze string // path to the program
}

func open(ctx context.Context, s scene, adze string) (*pane, error) {
	dir, err := os.MkdirTemp("", "adze-scene-")
	if err != nil {
		return nil, err
	}
	p := &pane{scene: s, ctx: ctx, dir: dir, work: filepath.Join(dir, "home", s.title), adze: adze}
	if err := p.begin(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pane) begin() error {
	// A program that ends leaves its last output on the screen.
	config := filepath.Join(p.dir, "tmux.conf")
	if err := errors.Join(p.layOut(), write(config, []byte("set -g remain-on-exit on\nset -g status off\n"))); err != nil {
		return err
	}
	for _, c := range p.before {
		if err := p.shell(c); err != nil {
			return err
		}
	}
	args := []string{"-f", config, "new-session", "-d", "-x", strconv.Itoa(p.w), "-y", strconv.Itoa(p.h), "-c", p.work, p.adze}
	if strings.HasPrefix(p.args[0], "-") {
		args = append(args, "--permission-mode", "ask") // otherwise the first start asks for a mode
	}
	return p.tmux(append(args, p.args...)...)
}

// layOut writes the scene's files. Steps of a model lie in one file: --model script/FILE names it.
func (p *pane) layOut() error {
	models := map[string][]txtar.File{}
	if len(p.model) > 0 {
		models[filepath.Join(p.work, scripted)] = p.model
	}
	for _, f := range p.files {
		to := filepath.Join(p.work, f.Name)
		if name, ok := strings.CutPrefix(f.Name, "script/"); ok {
			at := filepath.Join(p.dir, "home", filepath.Dir(name))
			models[at] = append(models[at], txtar.File{Name: filepath.Base(name), Data: f.Data})
			continue
		}
		if strings.HasPrefix(f.Name, "home/") {
			to = filepath.Join(p.dir, f.Name)
		}
		if err := write(to, f.Data); err != nil {
			return err
		}
	}
	for at, steps := range models {
		if err := write(at, txtar.Format(&txtar.Archive{Files: steps})); err != nil {
			return err
		}
	}
	return os.MkdirAll(p.work, 0o755)
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
		"TERM=tmux-256color", "COLORTERM=truecolor", "COLORFGBG=" + p.colours.behind, "GOCACHE=" + goCache(), "TMUX=", "ADZE=" + p.adze}
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
