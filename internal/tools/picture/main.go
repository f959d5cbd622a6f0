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
	"maps"
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
	var over []string // lines of a scene
	for _, verb := range []string{"size", "colours"} {
		flag.Func(verb, "as a line of a scene, in the place of each scene's own", func(text string) error {
			over = append(over, verb+" "+text)
			return nil
		})
	}
	flag.BoolFunc("no-color", "set NO_COLOR", func(string) error { over = append(over, "mono"); return nil })
	program := flag.String("program", "", "the adze to draw, in the place of one that is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *out, *program, over, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, adze string, over, names []string) error {
	if _, err := exec.LookPath("tmux"); err != nil {
		return fmt.Errorf("tmux is needed, as the terminal: %w", err)
	}
	all, err := load(scenes, over...)
	if err != nil {
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
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(all))
	}
	for _, name := range names {
		s, known := all[name]
		if !known {
			return fmt.Errorf("there is no scene %q in internal/tools/picture/scenes", name)
		}
		if err := draw(ctx, s, adze, out); err != nil {
			return fmt.Errorf("scene %s: %w", name, err)
		}
		fmt.Println(filepath.Join(out, name+".svg"))
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

func load(from fs.FS, over ...string) (map[string]scene, error) {
	files, err := fs.Glob(from, "scenes/*.txtar")
	if err != nil {
		return nil, err
	}
	all := map[string]scene{}
	for _, f := range files {
		data, err := fs.ReadFile(from, f)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(path.Base(f), ".txtar")
		if all[name], err = parseScene(name, data, over...); err != nil {
			return nil, fmt.Errorf("%s: %w", f, err)
		}
	}
	return all, nil
}
