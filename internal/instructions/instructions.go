// Package instructions is what the person and the project tell the model before it begins: the system prompt with the
// files that it holds.
//
// The one rule: text of a project is data for the model, never for adze, and no link leads out of its repository.
//
// Start reading at Source.Render. Known limits: only AGENTS.md of the person and of the folders from the repository's
// root down to the working folder.
package instructions

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"adze/internal/usage"
	"adze/prompts"
	"adze/tool"
)

// maxInstructions bounds one instruction file; it is paid for at every request.
const maxInstructions = 32 << 10

// Source is what the person says of the system prompt: files that take its place or follow it, and whether project
// files are left out.
type Source struct {
	System, Append string
	Bare           bool
}

// Render makes the system prompt of a session once, from the named prompt and the instructions for dir; own is the
// folder of the person's own.
func (o Source) Render(own, name, dir string, now time.Time) (string, error) {
	extra, err := textOf("--append-system-prompt", o.Append)
	if err != nil {
		return "", err
	}
	if o.System != "" {
		text, err := textOf("--system-prompt", o.System)
		if err == nil && extra != "" {
			text += "\n\n" + extra
		}
		return text, err
	}
	var files []prompts.Instructions
	if !o.Bare {
		if files, err = Files(own, dir); err != nil {
			return "", err
		}
	}
	_, inGit := repository(dir)
	return prompts.Render(name, files, extra, prompts.Environment{
		Workspace: dir, Cwd: dir, System: runtime.GOOS + "/" + runtime.GOARCH, Shell: "bash",
		Git: inGit, Date: now.Format(time.DateOnly),
	})
}

func textOf(flag, path string) (string, error) {
	if path == "" {
		return "", nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", usage.Mistake("check the path", "%s: %v", flag, err)
	}
	return string(raw), nil
}

// Files reads the person's own AGENTS.md, then those of the repository from its root down to dir, so
// that the nearest speaks last. Text of a project may be read without consent; it is data for the model, not
// for adze.
func Files(own, dir string) ([]prompts.Instructions, error) {
	top, ok := repository(dir)
	if !ok {
		top = dir
	}
	folders := []string{dir}
	for at := dir; at != top && at != filepath.Dir(at); {
		at = filepath.Dir(at)
		folders = append(folders, at)
	}
	var files []prompts.Instructions
	add := func(folder, within, name string) error {
		text, err := instructionText(filepath.Join(folder, instructionFile), within)
		if text != "" {
			files = append(files, prompts.Instructions{Path: name, Text: text})
		}
		return err
	}
	if err := add(own, own, "the person's own "+instructionFile); err != nil {
		return nil, err
	}
	for _, folder := range slices.Backward(folders) {
		name, err := filepath.Rel(dir, filepath.Join(folder, instructionFile))
		if err != nil {
			return nil, err
		}
		if err := add(folder, top, name); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// instructionFile is the name that assistants agreed on.
const instructionFile = "AGENTS.md"

// instructionText reads one file. A link may lead to another file of the same tree, but not out of it: a
// repository must not be able to send the person's other files to a model.
func instructionText(path, within string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil // missing, or a link that leads nowhere
	}
	if top, err := filepath.EvalSymlinks(within); err != nil || !strings.HasPrefix(real, top+string(filepath.Separator)) {
		return "", nil
	}
	info, err := os.Lstat(real)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(real)
	if err != nil {
		return "", usage.Mistake("make it readable, or run with --bare", "%v", err)
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxInstructions))
	if err != nil {
		return "", usage.Mistake("make it readable, or run with --bare", "%v", err)
	}
	text := strings.ToValidUTF8(string(raw), "\uFFFD")
	if info.Size() > maxInstructions {
		text += fmt.Sprintf("\n(cut: the file has %d bytes; read the rest when it matters)", info.Size())
	}
	return tool.ShownHidden(strings.TrimPrefix(text, "\ufeff")), nil
}

// Hidden tells the person which instructions of a rendered prompt hold what they cannot see.
func (o Source) Hidden(own, dir, system string) (notices []string) {
	if o.Bare || o.System != "" || !strings.Contains(system, "<U+") {
		return nil
	}
	files, _ := Files(own, dir) // they were read a moment ago
	for _, f := range files {
		if n := strings.Count(f.Text, "<U+"); n > 0 {
			notices = append(notices, fmt.Sprintf("%s holds characters that nobody sees (%d); the model is shown them as %.8s", f.Path, n, f.Text[strings.Index(f.Text, "<U+"):]))
		}
	}
	return notices
}

// repository finds the folder that holds .git, upwards from dir. It looks at names only and runs nothing.
func repository(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}
