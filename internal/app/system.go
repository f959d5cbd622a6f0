package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"adze/prompts"
)

// maxInstructions bounds one instruction file; it is paid for at every request.
const maxInstructions = 32 << 10

// systemPrompt renders the system prompt once for a session.
func systemPrompt(o *options, name, dir string, now time.Time) (string, error) {
	extra, err := textOf("--append-system-prompt", o.appendSystem)
	if err != nil {
		return "", err
	}
	if o.system != "" {
		text, err := textOf("--system-prompt", o.system)
		if err == nil && extra != "" {
			text += "\n\n" + extra
		}
		return text, err
	}
	var files []prompts.Instructions
	if !o.bare {
		if files, err = instructions(dir); err != nil {
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
		return "", misuse("check the path", "%s: %v", flag, err)
	}
	return string(raw), nil
}

// instructions reads AGENTS.md from the repository's root down to dir, so that the nearest speaks last.
// Text of a project may be read without consent; it is data for the model, not for adze.
func instructions(dir string) ([]prompts.Instructions, error) {
	top, ok := repository(dir)
	if !ok {
		top = dir
	}
	var files []prompts.Instructions
	for at := dir; ; at = filepath.Dir(at) {
		text, err := instructionText(filepath.Join(at, "AGENTS.md"))
		if err != nil {
			return nil, err
		}
		if text != "" {
			name, _ := filepath.Rel(dir, filepath.Join(at, "AGENTS.md"))
			files = append([]prompts.Instructions{{Path: name, Text: text}}, files...)
		}
		if at == top || at == filepath.Dir(at) {
			return files, nil
		}
	}
}

func instructionText(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	if err != nil {
		return "", misuse("make it readable, or run with --bare", "%v", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", misuse("make it readable, or run with --bare", "%v", err)
	}
	defer f.Close()
	text := make([]byte, min(info.Size(), maxInstructions))
	n, err := f.ReadAt(text, 0)
	if n == 0 && err != nil {
		return "", nil
	}
	if info.Size() > maxInstructions {
		return string(text[:n]) + fmt.Sprintf("\n(cut: the file has %d bytes; read the rest when it matters)", info.Size()), nil
	}
	return string(text[:n]), nil
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
