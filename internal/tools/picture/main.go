// Command picture draws the README's pictures: it starts the real program in a tmux pane, plays a
// scene with a scripted model, and writes the screen as SVG.
//
//	go run ./internal/tools/picture                  # every scene, to testdata/pictures
//	go run ./internal/tools/picture -out DIR NAME…   # some of them, elsewhere
//	go run ./internal/tools/picture -out DIR -size 80x24 -colours light -no-color NAME…
//
// The one rule: nothing in a picture is made up. Only the model's words are scripted; the program
// produces the rest.
//
// Start reading at draw; a scene is a file in scenes/ (scene.go), the terminal is in pane.go, and
// svg.go draws it.
//
// Known limits: tmux and go must be installed. Clocks and durations are those of the run.
package main

import (
	"context"
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed scenes
var scenes embed.FS

func main() {
	out := flag.String("out", filepath.Join("testdata", "pictures"), "folder for the pictures")
	var as scene
	flag.Func("size", "columns and rows of every picture, as 80x24, in the place of the scene's own", as.setSize)
	flag.Func("colours", "dark or light, in the place of the scene's own", as.setColours)
	flag.BoolVar(&as.mono, "no-color", false, "set NO_COLOR")
	program := flag.String("program", "", "the adze to draw, in the place of one that is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *program, as, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, adze string, as scene, names []string) error {
	if _, err := exec.LookPath("tmux"); err != nil {
		return fmt.Errorf("tmux is needed, as the terminal: %w", err)
	}
	all, err := load(scenes)
	if err != nil {
		return err
	}
	if err := known(all, names); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "adze-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if adze == "" {
		adze = filepath.Join(dir, "adze")
		if msg, err := exec.CommandContext(ctx, "go", "build", "-o", adze, ".").CombinedOutput(); err != nil {
			return fmt.Errorf("build adze (from the top of the repository): %w\n%s", err, msg)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, s := range all {
		if len(names) > 0 && !slices.Contains(names, s.name) {
			continue
		}
		if as.w > 0 {
			s.w, s.h = as.w, as.h
		}
		if as.colours.fg != "" {
			s.colours = as.colours
		}
		s.mono = as.mono
		if err := draw(ctx, s, adze, out); err != nil {
			return fmt.Errorf("scene %s: %w", s.name, err)
		}
		fmt.Println(filepath.Join(out, s.name+".svg"))
	}
	return nil
}

func known(all []scene, names []string) error {
	for _, n := range names {
		if !slices.ContainsFunc(all, func(s scene) bool { return s.name == n }) {
			return fmt.Errorf("there is no scene %q in internal/tools/picture/scenes", n)
		}
	}
	return nil
}

func draw(ctx context.Context, s scene, adze, out string) error {
	p, err := open(ctx, s, adze)
	if err != nil {
		return err
	}
	defer p.close()
	for _, step := range s.steps {
		if err := p.play(step); err != nil {
			return err
		}
	}
	shown, err := p.capture()
	if err != nil {
		return err
	}
	picture := svg(parse(shown, s.w, s.h), s.w, s.title, s.colours)
	return os.WriteFile(filepath.Join(out, s.name+".svg"), picture, 0o644)
}

func load(from fs.FS) ([]scene, error) {
	files, err := fs.Glob(from, "scenes/*.txtar")
	if err != nil {
		return nil, err
	}
	var all []scene
	for _, f := range files {
		data, err := fs.ReadFile(from, f)
		if err != nil {
			return nil, err
		}
		s, err := parseScene(strings.TrimSuffix(path.Base(f), ".txtar"), data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
		all = append(all, s)
	}
	return all, nil
}
