package toolset

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/tool"
)

type patchArgs struct {
	Input string `json:"input" doc:"the patch, from *** Begin Patch to *** End Patch"`
}

// patchMeta lists a patch's changes by file.
type patchMeta struct {
	Files []changeMeta `json:"files"`
}

// applyPatch accepts patches from models trained on them. It is not offered, since edit and write
// suffice.
func applyPatch(f files) tool.Tool {
	a := patcher{editor{f}}
	return tool.Define("apply_patch", tool.Config[patchArgs, patchMeta]{
		Description: describe("apply_patch"),
		Permissions: tool.Requires(tool.Write),
		Tags:        []string{"file", "patch"},
		Aliases:     []string{"applypatch"},
		Compat: tool.Compat{
			Args:    map[string]string{"patch": "input", "patchText": "input", "patch_text": "input"},
			Ignored: ignored(nil),
		},
		Redact:    tool.Expose("files"),
		Unoffered: true,
		Needs: func(in patchArgs) (needs []tool.Need) {
			patch, _ := textedit.ParsePatch(in.Input) // Run reports errors
			for _, f := range patch {
				needs = append(needs, tool.Need{Permission: tool.Write, Target: f.Path})
				if f.MoveTo != "" {
					needs = append(needs, tool.Need{Permission: tool.Write, Target: f.MoveTo})
				}
			}
			return needs
		},
		Check:   a.check,
		Preview: a.preview,
		Run:     a.run,
		Heading: headPatch,
		View: func(m patchMeta) (blocks []tool.Block) {
			for _, f := range m.Files {
				blocks = append(blocks, viewChange(f)...)
			}
			return blocks
		},
	})
}

type patcher struct{ editor }

// patchStep is the change of one file.
type patchStep struct {
	path          workspace.Path
	before, after content // raw is nil if there is no file
	steps         []string
}

func (s patchStep) meta() changeMeta {
	from, to := diff.Side{Name: s.path.Display(), Text: s.before.text}, diff.Side{Name: s.path.Display(), Text: s.after.text}
	if s.before.raw == nil {
		from.Name = ""
	}
	if s.after.raw == nil {
		to.Name = ""
	}
	d := diff.Unified(from, to)
	return changeMeta{Path: s.path.Display(), Created: s.before.raw == nil, Bytes: int64(len(s.after.raw)), Added: d.Added, Removed: d.Removed, Steps: s.steps, Diff: shownDiff(d.Text)}
}

// plan computes each file's new content without writing. know returns the session's knowledge of a
// file.
func (a patcher) plan(ctx context.Context, in patchArgs, at func(name string) (workspace.Path, error), know func(workspace.Path, content) knowledge) (steps []*patchStep, err error) {
	patch, err := textedit.ParsePatch(in.Input)
	if err != nil {
		return nil, err
	}
	for _, f := range patch {
		p, err := at(f.Path)
		if err != nil {
			return nil, err
		}
		s := &patchStep{path: p}
		if err := a.root.Look(p, func(cur *workspace.Current) error {
			if cur.Exists {
				if s.before, err = load(ctx, cur.Opened, p, writeLimit); err != nil {
					return err
				}
				if s.before.raw == nil {
					s.before.raw = []byte{}
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
		switch {
		case f.Op == textedit.PatchAdd && s.before.raw != nil:
			return nil, tool.Fail(tool.CodeInvalidArguments, "%s exists; change it with *** Update File", p.Display())
		case f.Op != textedit.PatchAdd && s.before.raw == nil:
			return nil, a.missing(p)
		case f.Op == textedit.PatchAdd:
			if err := errors.Join(omitted([]textedit.Edit{{New: f.Body}}, ""), hiddenText(f.Body, "")); err != nil {
				return nil, err
			}
			s.after = content{raw: []byte(f.Body), text: f.Body, format: text.Detect([]byte(f.Body))}
		default:
			if err := a.updated(f, s, know(p, s.before)); err != nil {
				return nil, err
			}
		}
		if f.MoveTo == "" {
			steps = append(steps, s)
			continue
		}
		to, err := at(f.MoveTo)
		if err != nil {
			return nil, err
		}
		if to.Exists() {
			return nil, tool.Fail(tool.CodeInvalidArguments, "%s cannot move to %s, which exists", p.Display(), to.Display())
		}
		steps = append(steps, &patchStep{path: to, after: s.after, steps: s.steps}, s) // the file always exists in one of the places
		s.after, s.steps = content{}, nil
	}
	seen := map[string]bool{}
	for _, s := range steps {
		if seen[s.path.Abs()] {
			return nil, tool.Fail(tool.CodeInvalidArguments, "the patch names %s twice; put all changes of a file into one section", s.path.Display())
		}
		seen[s.path.Abs()] = true
	}
	return steps, nil
}

// updated changes, moves or deletes an existing file. To move or delete it, the session must have
// read it.
func (a patcher) updated(f textedit.PatchFile, s *patchStep, know knowledge) error {
	stale := know.read && !know.state.SameContent(s.before.state)
	if f.Op == textedit.PatchDelete || f.MoveTo != "" {
		if !know.read {
			return tool.Fail(tool.CodeNotRead, "%s was not read in this session; read it before it is deleted or moved", s.path.Display())
		}
		if stale {
			return tool.Fail(tool.CodeStale, "%s has changed since it was read; read it again", s.path.Display())
		}
	}
	if f.Op == textedit.PatchDelete {
		return nil
	}
	s.after = s.before
	if len(f.Chunks) == 0 {
		return nil
	}
	edits, err := f.Edits(s.path.Display(), s.before.text)
	if err != nil {
		return err
	}
	if err := errors.Join(omitted(edits, s.before.text), hidden(edits, s.before.text)); err != nil {
		return err
	}
	if s.before.text == "" && len(edits) == 1 {
		s.after.text = edits[0].New
	} else {
		spans, err := textedit.Match(textedit.Source{Name: s.path.Display(), Text: s.before.text, Newline: s.before.format.Newline, Read: know.read, Changed: stale, ReadText: know.text}, edits)
		if err != nil {
			return err
		}
		s.after.text = textedit.Apply(s.before.text, spans)
		var plan editPlan
		plan.describe(s.before.text, spans)
		s.steps = plan.steps
	}
	body, err := s.before.format.Encode(s.after.text)
	if err != nil {
		return err
	}
	s.after.raw = append(s.before.mark(), body...)
	return nil
}

func (a patcher) known(session string) func(workspace.Path, content) knowledge {
	return func(p workspace.Path, _ content) (k knowledge) {
		k.state, k.read = a.knownFiles.Get(session, p)
		k.text, _ = a.knownFiles.Text(session, p)
		return k
	}
}

func (a patcher) check(ctx context.Context, c tool.Context[patchMeta], in patchArgs) error {
	_, err := a.plan(ctx, in, func(name string) (workspace.Path, error) {
		p, err := a.locate(ctx, c.Ask, tool.Write, name)
		if err == nil {
			err = mayLook(ctx, c.Ask, p)
		}
		return p, err
	}, a.known(c.SessionID))
	return err
}

func (a patcher) preview(ctx context.Context, in patchArgs) (patchMeta, error) {
	steps, err := a.plan(ctx, in, func(name string) (workspace.Path, error) {
		p, err := a.root.Resolve(name)
		return p.WithConsent(), err
	}, func(_ workspace.Path, c content) knowledge { return knowledge{state: c.state, read: true} })
	var m patchMeta
	for _, s := range steps {
		m.Files = append(m.Files, s.meta())
	}
	return m, err
}

// run writes all files or none.
func (a patcher) run(ctx context.Context, c tool.Context[patchMeta], in patchArgs) (tool.Result[patchMeta], error) {
	steps, err := a.plan(ctx, in, func(name string) (workspace.Path, error) {
		p, err := a.locate(ctx, c.Ask, tool.Write, name)
		if err == nil {
			k := a.known(c.SessionID)(p, content{})
			err = a.mayQuote(ctx, c.Ask, p, k)
		}
		return p, err
	}, a.known(c.SessionID))
	if err != nil {
		return tool.Result[patchMeta]{}, err
	}
	var written []workspace.Written
	for i, s := range steps {
		done, err := a.put(ctx, s.path, s.before.raw, s.after.raw)
		if err == nil {
			written = append(written, done)
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if _, undo := a.put(context.WithoutCancel(ctx), steps[j].path, steps[j].after.raw, steps[j].before.raw); undo != nil {
				return tool.Result[patchMeta]{}, tool.Fail(tool.CodeOf(err), "%v; and %s could not be put back: %v", err, steps[j].path.Display(), undo)
			}
		}
		return tool.Result[patchMeta]{}, tool.Fail(tool.CodeOf(err), "%v; no file was changed", err)
	}
	var r tool.Result[patchMeta]
	var out []string
	for i, s := range steps {
		m := s.meta()
		m.Notes = written[i].Notes
		verb := "edited"
		switch {
		case s.before.raw == nil:
			verb = "created"
		case s.after.raw == nil:
			verb, m.Bytes = "deleted", 0
		}
		one := changeResult{Metadata: m, Output: fmt.Sprintf("%s %s, +%d -%d lines", verb, m.Path, m.Added, m.Removed)}
		if len(m.Steps) > 0 {
			one.Output += "\nsome lines were not there as written; they were matched by: " + strings.Join(m.Steps, "; ") + ". The change:\n" + firstLines(m.Diff, editEchoed)
		}
		if s.after.raw != nil {
			made := a.after(ctx, c.SessionID, s.path, changedFile{before: s.before.text, text: s.after.text, format: s.after.format, done: written[i]})
			one = made.amend(s.path, one)
		}
		r.Metadata.Files = append(r.Metadata.Files, one.Metadata)
		r.Changed = append(r.Changed, m.Path)
		out = append(out, withNotes(one.Output, m.Notes))
	}
	r.Title, r.Output = fmt.Sprintf("patched %s", strings.Join(r.Changed, ", ")), strings.Join(out, "\n")
	return r, nil
}

// put writes a file's new content if it still has the known one; nil means no file.
func (a patcher) put(ctx context.Context, p workspace.Path, was, is []byte) (workspace.Written, error) {
	same := func(cur *workspace.Current) error {
		if cur.Exists != (was != nil) {
			return tool.Fail(tool.CodeStale, "%s has come or gone meanwhile", p.Display())
		}
		if !cur.Exists {
			return nil
		}
		raw, err := cur.Bytes(ctx, writeLimit)
		if err == nil && string(raw) != string(was) {
			err = tool.Fail(tool.CodeStale, "%s has changed meanwhile", p.Display())
		}
		return err
	}
	if is == nil {
		return workspace.Written{}, a.root.Remove(ctx, p, same)
	}
	return a.root.Update(ctx, p, func(cur *workspace.Current) ([]workspace.Splice, error) {
		return []workspace.Splice{{Len: int64(len(was)), Data: is}}, same(cur)
	})
}
