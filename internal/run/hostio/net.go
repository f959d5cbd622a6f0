package hostio

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/files/git"
	"adze/internal/files/workspace"
	"adze/internal/undo"
	"adze/internal/undo/recorder"
	"adze/session/api"
	"adze/tool"
)

// Limits for a branch's changes.
const (
	mostNetFiles = 1000
	mostNetBytes = 4 << 20
)

// SinceBranch returns the changes since the branch's merge base, without untracked files.
func SinceBranch(ctx context.Context, g git.Git, dir string) (api.Net, error) {
	repo, err := g.Open(ctx, dir)
	if err != nil {
		return api.Net{}, err
	}
	base, from, err := repo.Parted(ctx)
	if err != nil {
		return api.Net{}, err
	}
	q := git.DiffQuery{Path: ".", Base: base, MaxFiles: mostNetFiles, MaxBytes: mostNetBytes}
	if rel, err := filepath.Rel(repo.Top, dir); err == nil && rel != "." {
		q.Strip = filepath.ToSlash(rel) + "/"
	}
	d, err := repo.Diff(ctx, q)
	if err != nil {
		return api.Net{}, err
	}
	out := api.Net{Baseline: fmt.Sprintf("%s at %.8s; files that git does not know are not shown", from, base)}
	for part := range strings.SplitSeq("\n"+d.Patch, "\ndiff --git ") {
		if f, ok := gitFile(part); ok {
			f.Hunks = hunksOf(f.Diff)
			out.Files = append(out.Files, f)
		}
	}
	if n := d.TotalFiles - len(out.Files); n > 0 {
		out.Baseline += fmt.Sprintf("; %d more files", n)
	}
	return out, nil
}

// gitFile parses a patch's part about one file.
func gitFile(part string) (f api.NetFile, ok bool) {
	names, rest, ok := strings.Cut(part, "\n")
	if !ok {
		return f, false
	}
	at := strings.Index("\n"+rest, "\n--- ")
	if at < 0 {
		_, f.Path, ok = strings.Cut(names, " b/")
		f.Note, _, _ = strings.Cut(rest, "\n")
		return f, ok
	}
	f.Diff = strings.TrimSuffix(rest[at:], "\n") + "\n"
	if head := strings.Split(rest[:at], "\n"); strings.HasPrefix(rest, "old mode ") {
		f.Note = head[0] + ", " + head[1]
	}
	side := func(sign, prefix string) string {
		_, name, _ := strings.Cut("\n"+f.Diff, "\n"+sign+" ")
		name, _, _ = strings.Cut(name, "\n")
		return strings.TrimPrefix(strings.Trim(strings.TrimSuffix(name, "\t"), `"`), prefix)
	}
	old, now := side("---", "a/"), side("+++", "b/")
	f.Path, f.New, f.Deleted = now, old == "/dev/null", now == "/dev/null"
	if f.Deleted {
		f.Path = old
		if strings.HasPrefix(rest, "deleted file mode 100755\n") {
			f.Mode = 0o755 // git stores only the executable bit
		}
	}
	return f, true
}

// Chmod returns the command that restores a removed file's permission bits after its text is
// restored, or "" if not needed.
func Chmod(root *workspace.Root, f api.NetFile) string {
	path, err := root.Resolve(f.Path)
	now, missing := root.Stat(path)
	if err != nil || missing != nil || !f.Deleted || f.Mode == 0 || uint32(now.Mode.Perm()) == f.Mode&0o777 {
		return ""
	}
	return fmt.Sprintf("chmod %o -- %s", f.Mode&0o777, quoted(f.Path))
}

// ChangesSince returns the changes since the session or its latest turn began.
func ChangesSince(ctx context.Context, d recorder.Manager, turn bool) (api.Net, error) {
	all, err := d.Net(ctx, turn)
	out := api.Net{Baseline: "its first call that could change a file"}
	if errors.Is(err, recorder.ErrUnchanged) {
		return out, nil
	}
	for _, n := range all {
		out.Files = append(out.Files, api.NetFile{Path: n.Path, Diff: n.Diff, Note: n.Note, New: n.Before == undo.Absent, Deleted: n.After == undo.Absent, Mode: n.Mode, Hunks: hunksOf(n.Diff)})
	}
	return out, err
}

func hunksOf(text string) (out []api.HunkText) {
	for _, h := range diff.Hunks(text) {
		out = append(out, api.HunkText{Text: h.Text, Line: h.Line})
	}
	return out
}

// Revert returns a call that reverts a hunk by the shell, edit or write tool, and the file version
// that the user saw. It fails if the file no longer matches the hunk.
func Revert(ctx context.Context, root *workspace.Root, h api.NetHunk) (name string, args map[string]string, now workspace.State, err error) {
	hunks := diff.Hunks(h.File.Diff)
	if h.Number >= len(hunks) {
		return "", nil, now, errors.New("there is no such hunk")
	}
	hunk := hunks[h.Number]
	if h.File.Deleted {
		return "write", map[string]string{"path": h.File.Path, "content": hunk.Old}, now, nil
	}
	path, err := root.Resolve(h.File.Path)
	if err != nil {
		return "", nil, now, err
	}
	f, err := root.Open(path)
	if err != nil {
		return "", nil, now, err
	}
	defer f.Close()
	present, err := f.Bytes(ctx, mostNetBytes)
	if err != nil {
		return "", nil, now, err
	}
	if h.File.New {
		if string(present) != hunk.New {
			return "", nil, now, fmt.Errorf("%s is not any more what was shown; open the changes again", h.File.Path)
		}
		return "bash", map[string]string{"command": "rm -- " + quoted(h.File.Path)}, now, nil
	}
	old, text, err := hunk.Back(string(present))
	if err == nil && old == "" {
		err = fmt.Errorf("%s is empty now; /undo restores it", h.File.Path)
	}
	if err != nil {
		return "", nil, now, err
	}
	return "edit", map[string]string{"path": h.File.Path, "old_string": old, "new_string": text}, f.State(present), nil
}

// StageCommand returns the command that adds only this hunk to git's index.
func StageCommand(h api.NetHunk) (string, error) {
	hunks := diff.Hunks(h.File.Diff)
	if h.Number >= len(hunks) {
		return "", errors.New("there is no such hunk")
	}
	head, _, _ := strings.Cut(h.File.Diff, "\n@@")
	const apply = "git apply --cached --recount --whitespace=nowarn"
	patch := head + "\n" + hunks[h.Number].Text
	path, steps := quoted(h.File.Path), []string(nil)
	// git's index contains no expanded $Id$, and often LF for CRLF.
	if strings.Contains(patch, "$Id: ") {
		steps = append(steps, "if git check-attr ident -- "+path+" | grep -q ': set$'; then sed 's/\\$Id: [^$]*\\$/$Id$/g'; else cat; fi")
	}
	if strings.Contains(patch, "\r") { // a command has no control characters, so another character replaces it
		free := strings.Trim("~^|%#&!?*=;", patch)
		if free == "" {
			return "", fmt.Errorf("%s ends its lines with CRLF, and this hunk cannot be staged alone: use git add -p", h.File.Path)
		}
		patch = strings.ReplaceAll(patch, "\r", free[:1])
		steps = append(steps, fmt.Sprintf(`if git ls-files --eol -- %s | grep -q '^i/[cm]'; then tr '%s' '\r'; else tr -d '%[2]s'; fi`, path, free[:1]))
	}
	steps = append(steps, apply)
	steps[0] += " <<'PATCH'"
	return strings.Join(steps, " | ") + "\n" + patch + "PATCH", nil
}

// StageAllCommand returns the command that adds all changes to git's index.
func StageAllCommand(n api.Net) string {
	command := "git add --all --"
	for _, f := range n.Files {
		command += " " + quoted(f.Path)
	}
	return command
}

// Staged returns the staged patch without files withheld from the model, and the latest commits'
// subjects.
func Staged(ctx context.Context, g git.Git, dir string, withhold func(dir, name string) bool) (patch string, recent []string, err error) {
	repo, err := g.Open(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	if repo, err = g.Open(ctx, repo.Top); err != nil { // a commit includes everything staged
		return "", nil, err
	}
	d, err := repo.Diff(ctx, git.DiffQuery{Path: ".", Staged: true, MaxFiles: mostNetFiles, MaxBytes: mostNetBytes, Withhold: func(name string) bool {
		return withhold(filepath.Split(filepath.Join(repo.Top, filepath.FromSlash(name))))
	}})
	switch {
	case err != nil:
		return "", nil, err
	case d.TotalFiles == 0 && d.Withheld == 0:
		return "", nil, errNothingStaged
	}
	recent, err = repo.Subjects(ctx, 10) // enough to show the message style
	return d.Patch, recent, err
}

var errNothingStaged = errors.New("nothing is staged: stage hunks first, or use git add")

// CommitCommand returns the command that commits the staged changes.
func CommitCommand(message string) string {
	end := "MESSAGE"
	for strings.Contains(message, end) {
		end += "_"
	}
	message = strings.ReplaceAll(message, "\r", "")
	return "git commit -F - <<'" + end + "'\n" + strings.TrimSpace(message) + "\n" + end
}

// quoted quotes a word for a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Call returns the user's own call.
func Call(name string, args map[string]string) (tool.RawCall, error) {
	raw, err := json.Marshal(args)
	return tool.RawCall{Name: name, Arguments: string(raw), Origin: tool.Native}, err
}
