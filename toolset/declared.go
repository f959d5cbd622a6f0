package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/workspace"
	"adze/internal/sandbox/proc"
	"adze/tool"
)

// Declared is a folder of declared tools, with the result of loading it.
type Declared struct {
	Dir      string
	Project  []ProjectTool
	Names    []string // registered tools
	Mistakes []error  // invalid files
}

// enlist registers the tools declared in Dir/*.json, by file name (declared_file.go has the
// format), and then the project's tools that the user allowed. An invalid file does not stop the
// others; each mistake names its file. A missing folder declares nothing.
func (all *Declared) enlist(registry *tool.Registry, root *workspace.Root, shell *Shell) {
	all.Names, all.Mistakes = nil, nil
	add := func(d *declared, err error) {
		if err == nil {
			err = d.enlist(registry, root, shell)
		}
		if err != nil {
			all.Mistakes = append(all.Mistakes, err)
			return
		}
		all.Names = append(all.Names, d.Name)
	}
	entries, err := os.ReadDir(all.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		all.Mistakes = append(all.Mistakes, err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") && !strings.HasPrefix(e.Name(), ".") {
			add(loadDeclared(filepath.Join(all.Dir, e.Name()), shell))
		}
	}
	for _, t := range all.Project {
		d := &declared{path: t.Path, holds: t.Holds}
		add(d, d.parse(t.Raw, shell))
	}
}

// ProjectTool is an allowed tool from the project.
type ProjectTool struct {
	Path string // the file
	Raw  []byte // its content when it was allowed
	// Holds returns an error before a run if the tool is no longer the allowed one.
	Holds func() error
}

// enlist registers the tool if its name is free and its schema valid.
func (d *declared) enlist(registry *tool.Registry, root *workspace.Root, shell *Shell) error {
	if err := registry.Register(d.tool(root, shell)); err != nil {
		return d.mistake("%w", err)
	}
	return nil
}

func (d *declared) tool(root *workspace.Root, shell *Shell) tool.Tool {
	run := declaredRun{declared: d, basher: basher{files{root: root}, shell}}
	whose := "user"
	if d.holds != nil {
		whose = "project"
	}
	return tool.Define(d.Name, tool.Config[json.RawMessage, bashMeta]{
		Description:  d.Description,
		Parameters:   d.Parameters,
		Permissions:  d.permissions(),
		Tags:         []string{tool.Declared, whose},
		Safety:       tool.Safety{ThreatLevel: "medium"},
		Capabilities: tool.Capabilities{Streaming: true},
		Redact:       tool.Expose(d.exposed()...),
		Needs:        run.needs,
		Check:        run.check,
		Preview:      run.preview,
		Run:          run.run,
		View:         viewBash,
		Heading: func(_ json.RawMessage, m bashMeta) tool.Heading {
			if m.Command == "" {
				return tool.Heading{Verb: d.Name, Shape: tool.Live}
			}
			return headBash(bashArgs{Description: d.Name}, m)
		},
	})
}

func (d *declared) permissions() tool.Permissions {
	all := []tool.Permission{tool.Execute}
	for _, n := range d.needs {
		if !slices.Contains(all, n.Permission) {
			all = append(all, n.Permission)
		}
	}
	return tool.Requires(all...)
}

// exposed returns the loggable fields: no argument, and counts of the run unless an argument has
// the same name.
func (d *declared) exposed() (fields []string) {
	for _, f := range []string{"lines", "bytes", "exit", "signal", "killed", "ended", "survivors", "duration_ms"} {
		if _, named := d.properties[f]; !named {
			fields = append(fields, f)
		}
	}
	return fields
}

// declaredRun runs one declared tool's command as bash does: the same environment, supervision,
// live view and limits, but no shell.
type declaredRun struct {
	*declared
	basher basher
}

// needs returns the exact command, quoted word by word.
func (r declaredRun) needs(in json.RawMessage) []tool.Need {
	argv, _ := r.argv(in)
	needs := []tool.Need{{Permission: tool.Execute, Target: shellQuoted(argv), Sandboxed: true}}
	return append(needs, r.declared.needs...)
}

// check reports arguments that make no command.
func (r declaredRun) check(_ context.Context, _ tool.Context[bashMeta], in json.RawMessage) error {
	_, err := r.argv(in)
	return err
}

// preview shows the command and its standard input.
func (r declaredRun) preview(_ context.Context, in json.RawMessage) (bashMeta, error) {
	argv, err := r.argv(in)
	meta := bashMeta{Command: shellQuoted(argv)}
	if r.Stdin != "" {
		meta.Tail = string(in)
	}
	return meta, err
}

func (r declaredRun) run(ctx context.Context, c tool.Context[bashMeta], in json.RawMessage) (tool.Result[bashMeta], error) {
	argv, err := r.argv(in)
	if err == nil && r.holds != nil {
		if changed := r.holds(); changed != nil {
			err = fmt.Errorf("%w: %w", tool.ErrDenied, changed)
		}
	}
	if err != nil {
		return tool.Result[bashMeta]{}, err
	}
	command := shellQuoted(argv)
	meta := bashMeta{Command: command}
	result := tool.Result[bashMeta]{Title: oneLine(command, 80), Metadata: meta}
	dir := r.basher.root.Dir()
	env, guarded := r.basher.shell.Env, false
	if c.ByRule {
		env, guarded = r.basher.guard(ctx, command, dir, nil)
	}
	if r.holds != nil {
		env = proc.ConsentedEnv(env, r.basher.root.Dir(), argv...)
	} else {
		env = proc.Isolated(env, r.basher.root.Dir(), argv...)
	}
	cmd := proc.Command{
		Argv: argv, Dir: dir, Env: env, Tag: string(c.CallID), MaxOutput: maxOutput,
		UserWords: argv[:1], Timeout: r.limit, Mask: r.basher.shell.Mask, Reach: reaching(c.Ask), Local: reachingHere(c.Ask), RequireWalls: c.Reading != nil && c.Reading.Sandboxed,
	}
	if r.Stdin != "" {
		cmd.Input = in
	}
	x := &bashCall{basher: r.basher, call: c, result: result, in: bashArgs{Command: command}, declared: r.path, guarded: guarded}
	if err := x.leave(ctx, &cmd); err != nil {
		return result, err
	}
	return x.wait(ctx, cmd)
}

// shellQuoted quotes an argument vector for a shell.
func shellQuoted(argv []string) string {
	words := make([]string, len(argv))
	for i, arg := range argv {
		words[i] = shellWord(arg, i == 0)
	}
	return strings.Join(words, " ")
}

// shellWord quotes all words that a shell could interpret; the first one could be an assignment.
func shellWord(arg string, first bool) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:,@%+", r) || r == '=' && !first
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !plain(r) }) < 0 {
		return arg
	}
	// The policy treats text after a backslash as unknown, so that no rule could allow it; hence
	// "'".
	return "'" + strings.ReplaceAll(arg, "'", "'\"'\"'") + "'"
}
