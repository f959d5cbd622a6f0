package instructions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/workspace"
	"adze/tool"
)

// Target is a file to which the user can add a line.
type Target struct {
	Shown string // for people
	Path  string // absolute
	Own   bool   // the user's own, which no tool writes
	New   bool   // it is not there yet
	// Hides is what would not be read any more beside a new file; if empty, nothing.
	Hides string
}

// Targets are the file of the project that speaks for the working folder, the nearest first, else a
// new AGENTS.md there; and the user's own.
func (r *Room) Targets() []Target {
	project := Target{Path: filepath.Join(r.Dir, AgentsFile), New: true}
	for _, folder := range r.chain() {
		if path := current(folder, folder == r.top); path != "" {
			project = Target{Path: path}
			break
		}
	}
	project.Shown = r.shown(project.Path)
	if project.New {
		var hidden []string
		for _, s := range shelves() {
			if exists(filepath.Join(r.Dir, s.dir)) {
				hidden = append(hidden, s.dir)
			}
		}
		project.Hides = strings.Join(hidden, ", ")
	}
	own := Target{Shown: "your " + AgentsFile, Path: filepath.Join(r.Own, AgentsFile), Own: true}
	own.New = !exists(own.Path)
	return []Target{project, own}
}

// current is the file of a folder that is read; if empty, it has none.
func current(folder string, root bool) string {
	list := names()
	if root {
		list = append(list, rootNames()...)
	}
	for _, name := range list {
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			return filepath.Join(folder, name)
		}
	}
	return ""
}

// maxAdded bounds a file that a line is added to.
const maxAdded = 1 << 20

// head is what a new file begins with.
const head = "# Instructions\n\n"

// Says is what a user should know before a line goes there.
func (t Target) Says() string {
	switch {
	case t.Own:
		return "for all your projects"
	case t.Hides != "":
		return "a new file; " + t.Hides + " will not be read beside it"
	case t.New:
		return "a new file"
	}
	return "what the model reads at every start here"
}

// Add is the call that adds a line to a target of the project, for the pipeline to judge and run.
// To the user's own it adds the line itself, and the call is empty.
func (r *Room) Add(ctx context.Context, path, line string) (tool.RawCall, error) {
	line = strings.Join(strings.Fields(line), " ")
	targets := r.Targets()
	at := slices.IndexFunc(targets, func(t Target) bool { return t.Path == path })
	if at < 0 || line == "" {
		return tool.RawCall{}, fmt.Errorf("%s: instructions are not there any more", path)
	}
	t := targets[at]
	if t.Own {
		return tool.RawCall{}, r.addOwn(ctx, line)
	}
	text, err := r.whole(ctx, t)
	if err != nil {
		return tool.RawCall{}, err
	}
	name, args := "edit", map[string]string{"path": path}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	switch said := strings.TrimRight(text, " \t\n"); {
	case text == "":
		name, args["content"] = "write", head+"- "+line+"\n"
	case said == "":
		args["old_string"], args["new_string"] = text, head+"- "+line+"\n"
	default:
		args["old_string"] = last(said)
		args["new_string"] = args["old_string"] + bullet(said) + line
	}
	raw, err := json.Marshal(args)
	return tool.RawCall{Name: name, Arguments: string(raw), Origin: tool.Native}, err
}

func (r *Room) whole(ctx context.Context, t Target) (string, error) {
	if t.New {
		return "", nil
	}
	root := r.tree()
	if root == nil {
		return "", errors.New("the repository cannot be opened")
	}
	p, err := root.Resolve(t.Path)
	if err != nil {
		return "", err
	}
	file, err := root.Open(p)
	if err != nil {
		return "", err
	}
	defer file.Close()
	raw, err := file.Bytes(ctx, maxAdded)
	return string(raw), err
}

// last is the shortest end of a text, in whole lines, that stands in it once.
func last(text string) string {
	at := len(text)
	for at > 0 {
		at = strings.LastIndexByte(text[:at], '\n')
		if end := text[at+1:]; strings.TrimSpace(end) != "" && strings.Index(text, end) == at+1 {
			return end
		}
		at = max(at, 0)
	}
	return text
}

// bullet is what stands between the end of a text and a line that is added: the list goes on, or
// one begins.
func bullet(text string) string {
	line := strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], " \t")
	if marks := []string{"- ", "* ", "+ "}; slices.ContainsFunc(marks, func(m string) bool { return strings.HasPrefix(line, m) }) {
		return "\n" + text[strings.LastIndexByte(text, '\n')+1:len(text)-len(line)] + line[:2]
	}
	return "\n\n- "
}

// addOwn adds a line to the user's own file, which is adze's configuration and no tool's to
// write.
func (r *Room) addOwn(ctx context.Context, line string) error {
	if err := os.MkdirAll(r.Own, 0o700); err != nil {
		return err
	}
	root, err := workspace.Open(r.Own)
	if err != nil {
		return err
	}
	defer root.Close()
	p, err := root.Resolve(AgentsFile)
	if err != nil {
		return err
	}
	_, err = root.Update(ctx, p.Consented(), func(now *workspace.Current) ([]workspace.Splice, error) {
		if !now.Exists || now.Size() == 0 {
			return []workspace.Splice{{Data: []byte(head + "- " + line + "\n")}}, nil
		}
		raw, err := now.Opened.Bytes(ctx, maxAdded)
		if err != nil {
			return nil, err
		}
		text := strings.TrimRight(string(raw), " \t\r\n")
		return []workspace.Splice{{Off: int64(len(text)), Len: int64(len(raw) - len(text)), Data: []byte(bullet(text) + line + "\n")}}, nil
	})
	return err
}
