package main

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// scene is one picture: a workspace, the scripted model's output, and the user's actions.
//
// The archive's comment has a word and its value on each line:
//
//	title TEXT        of the window
//	size 100x30       columns and rows
//	colours dark      or light: the terminal's own
//	mono              set NO_COLOR
//	adze FLAG VALUE   how the program is started, a flag a line; the scripted model is script/demo
//	before COMMAND    of the shell in the workspace, before the program ($ADZE) starts
//	after COMMAND     likewise, when the picture is drawn
//	see TEXT          wait until the screen shows it
//	unsee TEXT        wait until it does not
//	type TEXT
//	key NAME…         by tmux's names: Enter, F3, C-o
//
// Its files are the model's steps (named 1, 2, …, as in internal/llm/script), the user's home
// (named home/…), other models' steps (named script/MODEL/1, …; the file is $HOME/MODEL), and the
// workspace.
type scene struct {
	name, title string
	w, h        int
	colours     palette
	mono        bool
	args        []string
	steps       []step
	model       []txtar.File
	before      []string // commands
	after       []string
	files       []txtar.File
}

type step struct{ verb, rest string }

// parseScene reads a scene. Lines of over count in the place of its own.
func parseScene(name string, data []byte, over ...string) (scene, error) {
	a := txtar.Parse(data)
	s := scene{name: name, title: "adze", w: 100, h: 30, colours: dark}
	for _, f := range a.Files {
		if f.Name[0] >= '0' && f.Name[0] <= '9' || strings.Contains(f.Name, ": ") { // a subagent's steps begin with its name
			s.model = append(s.model, f)
		} else {
			s.files = append(s.files, f)
		}
	}
	for _, line := range append(strings.Split(string(a.Comment), "\n"), over...) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "", "#":
		case "title":
			s.title = rest
		case "size":
			if _, err := fmt.Sscanf(rest, "%dx%d", &s.w, &s.h); err != nil {
				return s, fmt.Errorf("size %q: want 100x30", rest)
			}
		case "colours":
			p, ok := map[string]palette{"dark": dark, "light": light}[rest]
			if s.colours = p; !ok {
				return s, fmt.Errorf("colours %q: want dark or light", rest)
			}
		case "mono":
			s.mono = true
		case "adze":
			s.args = append(s.args, strings.SplitN(rest, " ", 2)...)
		case "before":
			s.before = append(s.before, rest)
		case "after":
			s.after = append(s.after, rest)
		case "see", "unsee", "type", "key":
			s.steps = append(s.steps, step{verb, rest})
		default:
			return s, fmt.Errorf("unknown word %q", verb)
		}
	}
	if len(s.args) == 0 || len(s.steps) == 0 {
		return s, fmt.Errorf("a scene needs a line adze and something to see")
	}
	return s, nil
}
