package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"adze/internal/fleet/batch"
	"adze/internal/text/braces"
)

// Limits restricts tasks on a worker. A batch comes from another machine and user, so the zero
// value allows only work in the sandbox.
type Limits struct {
	Modes        []string // permission modes besides plan, ask, edits and auto
	SandboxOff   bool     // tasks may run commands outside the sandbox
	Folders      []string // absolute local folders; tasks may use files at or below them
	Repositories []string // address patterns, such as https://host/team/*; empty for any remote address
	Rules        []string // exact rules that tasks may pass with --allow
}

// Asked holds the demands in a task's flags.
type Asked struct {
	Mode    string // "" for a batch's default, auto
	Sandbox string
	Rules   []string // of --allow
	Flags   []string // names of all set flags
}

// harmless returns the permission modes that every owner allows, because the sandbox contains their
// commands.
func harmless() []string { return []string{"", "plan", "ask", "edits", "auto"} }

// taskFlags returns the flags that a task may set on another owner's machine. No flag with a file
// name is among them: a link in the repository could lead anywhere.
func taskFlags() []string {
	return []string{"model", "effort", "agent", "tools", "no-tools", "max-turns", "max-calls", "max-tokens", "max-cost", "max-time", "bare", "fail-on-deny",
		"task-complete", "permission-mode", "sandbox", "allow", "ask", "deny"}
}

// Refuses returns the reason why a task must not run here, or nil.
func (a Limits) Refuses(t batch.Task, asked Asked) error {
	switch {
	case !slices.Contains(harmless(), asked.Mode) && !slices.Contains(a.Modes, asked.Mode):
		return refusal("permission mode %s (adze batch worker --allow-mode %[1]s)", asked.Mode)
	case asked.Sandbox == "off" && !a.SandboxOff:
		return refusal("commands outside the sandbox (adze batch worker --allow-sandbox-off)")
	}
	for _, rule := range asked.Rules {
		if !slices.Contains(a.Rules, rule) {
			return refusal("the rule --allow %q (adze batch worker --allow-rule)", rule)
		}
	}
	for _, name := range asked.Flags {
		if !slices.Contains(taskFlags(), name) {
			return refusal("the flag --%s in tasks", name)
		}
	}
	path, here := localPath(t)
	switch {
	case here && !slices.ContainsFunc(a.Folders, func(dir string) bool { return below(dir, path) }):
		return refusal("files of the folder %s (adze batch worker --allow-folder)", path)
	case !here && len(a.Repositories) > 0 && (strings.Contains(t.Repo, "..") || !slices.ContainsFunc(a.Repositories, func(pattern string) bool {
		each, ok := braces.Alternatives(pattern, braces.MaxExpansions)
		return ok && slices.ContainsFunc(each, func(one string) bool { return doublestar.MatchUnvalidated(one, t.Repo) })
	})):
		return refusal("the repository %s (adze batch worker --allow-repository)", t.Repo)
	}
	return nil
}

func refusal(format string, args ...any) error {
	return fmt.Errorf("the owner of the worker does not admit "+format, args...)
}

// localPath returns the local folder with a task's files.
func localPath(t batch.Task) (path string, here bool) {
	if t.Folder != "" {
		return t.Folder, true
	}
	if rest, file := strings.CutPrefix(t.Repo, "file:"); file {
		return "/" + strings.TrimLeft(rest, "/"), true
	}
	return t.Repo, t.IsPath()
}

// below reports whether path is dir or inside it, after resolving links.
func below(dir, path string) bool {
	dir, err1 := realPath(dir)
	path, err2 := realPath(path)
	if err1 != nil || err2 != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// realPath resolves links in the existing part of a path.
func realPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return real, err
	}
	if real, err = realPath(filepath.Dir(path)); err != nil {
		return "", err
	}
	return filepath.Join(real, filepath.Base(path)), nil
}

// RestrictTo combines a worker's flags (a) with its machine's limits (owner). It fails if the flags
// allow more.
func (a Limits) RestrictTo(owner Limits) (Limits, error) {
	const why = "the owner of this machine does not let a worker admit %s"
	for _, m := range a.Modes {
		if !slices.Contains(harmless(), m) && !slices.Contains(owner.Modes, m) {
			return a, fmt.Errorf(why, "permission mode "+m)
		}
	}
	if a.SandboxOff && !owner.SandboxOff {
		return a, fmt.Errorf(why, "commands outside the sandbox")
	}
	for _, r := range a.Rules {
		if !slices.Contains(owner.Rules, r) {
			return a, fmt.Errorf(why, "the rule "+r)
		}
	}
	for _, dir := range a.Folders {
		if !slices.ContainsFunc(owner.Folders, func(top string) bool { return below(top, dir) }) {
			return a, fmt.Errorf(why, "the folder "+dir)
		}
	}
	if len(owner.Repositories) == 0 {
		return a, nil
	}
	for _, p := range a.Repositories {
		if !slices.Contains(owner.Repositories, p) {
			return a, fmt.Errorf(why, "the repositories "+p)
		}
	}
	if len(a.Repositories) == 0 {
		a.Repositories = owner.Repositories
	}
	return a, nil
}
