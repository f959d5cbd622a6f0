package toolset

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/tool"
)

// editLimit is the largest file that an edit loads, in bytes; a unique exact match is found in a
// file of any size.
const editLimit = 256 << 20

type editArgs struct {
	Path       string     `json:"path" doc:"file to edit" offer:"plain"`
	OldString  *string    `json:"old_string,omitempty" doc:"text to replace, as it stands in the file" offer:"plain"`
	NewString  *string    `json:"new_string,omitempty" doc:"empty deletes"`
	ReplaceAll bool       `json:"replace_all,omitempty" doc:"replace every place; default false" offer:"plain"`
	Edits      []editPair `json:"edits,omitempty" doc:"several replacements at once, instead of old_string and new_string" offer:"plain"`
}

type editPair struct {
	OldString  string `json:"old_string" doc:"text to replace, as it stands in the file" offer:"plain"`
	NewString  string `json:"new_string" doc:"empty deletes"`
	ReplaceAll bool   `json:"replace_all,omitempty" doc:"replace every place; default false" offer:"plain"`
}

func edit(f files) tool.Tool {
	e := editor{f}
	return tool.Define("edit", tool.Config[editArgs, changeMeta]{
		Description:    describe(f.words("edit")),
		ProviderSchema: compactSchema[editArgs](f.brief, "path", "old_string: as it stands in the file", "new_string", "replace_all"),
		Permissions:    tool.Requires(tool.Write),
		Tags:           []string{"file", "edit", "replace", "change", "patch", "modify"},
		Aliases: []string{
			"edit_file", "str_replace", "replace", "multi_edit", "search_replace", "replace_in_file", "search_and_replace", "apply_diff",
			"replace_string_in_file", "multi_replace_string_in_file",
		},
		Compat: tool.Compat{
			Similar: []string{"patch", "insert_content", "insert", "notebook_edit", "str_replace_editor", "str_replace_based_edit_tool", "text_editor"},
			Verbs:   editorVerbs("str_replace"),
			Args: pathAliases(map[string]string{
				"oldText": "old_string", "old_str": "old_string", "oldString": "old_string", "old_text": "old_string",
				"newText": "new_string", "new_str": "new_string", "newString": "new_string", "new_text": "new_string",
				"find": "old_string", "replace": "new_string", "search": "old_string", "old": "old_string", "new": "new_string",
				"old_content": "old_string", "new_content": "new_string", "replacement": "new_string", "replace_with": "new_string",
				"replaceAll": "replace_all", "allow_multiple": "replace_all", "replace_all_occurrences": "replace_all", "replacements": "edits",
			}),
			Ignored: ignored(map[string][]any{
				"command": {"str_replace"}, "use_regex": {false}, "regex": {false}, "ignore_case": {false}, "expected_replacements": {1.0},
			}),
		},
		Redact: tool.Expose("path", "replace_all", "created", "bytes", "added", "removed", "lines", "steps", "notes"),
		Needs: func(in editArgs) []tool.Need {
			return []tool.Need{{Permission: tool.Write, Target: in.Path}}
		},
		Check:        e.check,
		Preview:      e.preview,
		WithoutHunks: e.without,
		Run:          e.run,
		View:         viewChange,
		Heading:      headEdit,
	})
}

// list returns the edits in either form of arguments.
func (in editArgs) list() ([]textedit.Edit, error) {
	single := in.OldString != nil || in.NewString != nil
	switch {
	case single && len(in.Edits) > 0:
		return nil, tool.Fail(tool.CodeInvalidArguments, "give either old_string and new_string, or edits, not both")
	case !single && len(in.Edits) == 0:
		return nil, tool.Fail(tool.CodeInvalidArguments, "nothing to do: give old_string and new_string, or edits")
	case single && in.OldString == nil:
		return nil, tool.Fail(tool.CodeInvalidArguments, "old_string is missing; copy the text to replace from the file (empty only for a new file)")
	case single && in.NewString == nil:
		return nil, tool.Fail(tool.CodeInvalidArguments, "new_string is missing; give the new text, or an empty one to delete")
	case single:
		return []textedit.Edit{{Old: *in.OldString, New: *in.NewString, All: in.ReplaceAll}}, nil
	}
	var edits []textedit.Edit
	for _, e := range in.Edits {
		edits = append(edits, textedit.Edit{Old: e.OldString, New: e.NewString, All: e.ReplaceAll || in.ReplaceAll})
	}
	return edits, nil
}

type editor struct{ files }

type knowledge struct {
	state workspace.State
	read  bool
	text  string
}

// edition is an edit to be made, with the session's knowledge of the file.
type edition struct {
	path  workspace.Path
	edits []textedit.Edit
	know  knowledge
}

// open reads the arguments, without looking at a file.
func (e editor) open(ctx context.Context, c tool.Context[changeMeta], in editArgs) (of edition, err error) {
	if of.edits, err = in.list(); err != nil {
		return of, err
	}
	if of.path, err = e.locate(ctx, c.Ask, tool.Write, in.Path); err != nil {
		return of, err
	}
	of.know.state, of.know.read = e.knownFiles.Get(c.SessionID, of.path)
	of.know.text, _ = e.knownFiles.Text(c.SessionID, of.path)
	return of, e.mayQuote(ctx, c.Ask, of.path, of.know)
}

func (e editor) run(ctx context.Context, c tool.Context[changeMeta], in editArgs) (changeResult, error) {
	of, err := e.open(ctx, c, in)
	if err != nil {
		return changeResult{}, err
	}
	var plan editPlan
	done, err := e.root.Update(ctx, of.path, func(cur *workspace.Current) ([]workspace.Splice, error) {
		var err error
		plan, err = e.plan(ctx, cur.Opened, of)
		return plan.splices, err
	})
	if err != nil {
		return changeResult{}, err
	}
	made := e.after(ctx, c.SessionID, of.path, changedFile{before: plan.before, text: plan.text, format: plan.format, done: done})
	return made.amend(of.path, plan.result(of.path, done)), nil
}

// mayQuote asks before an edit reveals content that the model could not read unasked: a failed edit
// quotes the nearest lines.
func (e editor) mayQuote(ctx context.Context, ask asker, p workspace.Path, know knowledge) error {
	if e.withhold == nil || know.read || !p.Exists() {
		return nil
	}
	held := e.withhold(e.root.Dir())
	if held == nil || !held(filepath.Dir(p.Abs())+"/", filepath.Base(p.Abs())) {
		return nil
	}
	return ask(ctx, tool.Need{Permission: tool.Read, Target: p.Original()})
}

// editPlan holds an edit's changes in bytes, and their description.
type editPlan struct {
	splices []workspace.Splice
	format  text.Format
	before  string // the old text; "" for large and new files
	text    string // the new text; "" for large files
	diff    diff.Diff
	lines   []int
	steps   []string
	changed bool // elsewhere, since it was read
	created bool
}

// plan finds the places to edit; o is nil if there is no file.
func (e editor) plan(ctx context.Context, o *workspace.Opened, of edition) (editPlan, error) {
	p, edits, know := of.path, of.edits, of.know
	if o == nil || o.Size() == 0 && len(edits) == 1 && edits[0].Old == "" {
		return e.create(p, edits)
	}
	if o.Size() > workspace.HashLimit {
		plan, found, err := planLarge(ctx, o, p, edits, know)
		if found || err != nil {
			return plan, err
		}
		if o.Size() > editLimit {
			return plan, tool.Fail(tool.CodeNoMatch, "%s has %d bytes; in a file above %d only text that stands there exactly so is found: copy old_string from read, or use bash (sed)",
				p.Display(), o.Size(), editLimit)
		}
	}
	raw, err := o.Bytes(ctx, editLimit)
	if err != nil {
		return editPlan{}, err
	}
	return heavy(ctx, len(raw), func() (editPlan, error) { return planWhole(o, p, raw, edits, know) })
}

// planWhole finds the places in a loaded file.
func planWhole(o *workspace.Opened, p workspace.Path, raw []byte, edits []textedit.Edit, know knowledge) (editPlan, error) {
	c, err := decoded(o, p, raw)
	if err != nil {
		return editPlan{}, err
	}
	if err := errors.Join(omitted(edits, c.text), hidden(edits, c.text)); err != nil {
		return editPlan{}, err
	}
	src := textedit.Source{
		Name: p.Display(), Text: c.text, Newline: c.format.Newline,
		Read: know.read, Changed: know.read && !know.state.SameContent(c.state), ReadText: know.text,
	}
	if c.book != nil && !asWritten(edits, c) {
		return planBook(p, c, edits, src)
	}
	spans, err := textedit.Match(src, asRead(edits, c.text))
	if err != nil {
		return editPlan{}, err
	}
	plan := editPlan{format: c.format, before: c.text, text: textedit.Apply(c.text, spans), changed: src.Changed}
	if plan.splices, err = splicesOf(c, spans); err != nil {
		return editPlan{}, err
	}
	plan.describe(c.text, spans)
	plan.diff = diff.Unified(diff.Side{Name: p.Display(), Text: c.text}, diff.Side{Name: p.Display(), Text: plan.text})
	return plan, nil
}

// asRead restores hidden characters that read escaped, unless the file contains the escaped form
// itself.
func asRead(edits []textedit.Edit, file string) []textedit.Edit {
	out := slices.Clone(edits)
	for i, e := range out {
		if old := tool.TakenHidden(e.Old); old != e.Old && !strings.Contains(file, e.Old) {
			out[i].Old, out[i].New = old, tool.TakenHidden(e.New)
		}
	}
	return out
}

// create makes a new file from an edit without old text, or fills an empty one.
func (e editor) create(p workspace.Path, edits []textedit.Edit) (editPlan, error) {
	if len(edits) != 1 || edits[0].Old != "" {
		return editPlan{}, e.missing(p)
	}
	if err := errors.Join(omitted(edits, ""), hidden(edits, "")); err != nil {
		return editPlan{}, err
	}
	body := edits[0].New
	return editPlan{
		splices: []workspace.Splice{{Data: []byte(body)}}, format: text.Detect([]byte(body)), text: body, created: true,
		diff: diff.Unified(diff.Side{}, diff.Side{Name: p.Display(), Text: body}),
	}, nil
}

func omitted(edits []textedit.Edit, before string) error {
	for _, e := range edits {
		if line := textedit.Omission(e.New, before+e.Old); line != "" {
			return tool.Fail(tool.CodeInvalidArguments, "new_string leaves text out (%q), which would delete it; write out what is to stand there, or edit a smaller part", line)
		}
	}
	return nil
}

// splicesOf maps places in the decoded text to bytes in the file.
func splicesOf(c content, spans []textedit.Span) (splices []workspace.Splice, err error) {
	off, at := c.format.Offset(""), 0
	for _, s := range spans {
		off += c.format.Size(c.text[at:s.Start])
		size := c.format.Size(c.text[s.Start:s.End])
		data, err := c.format.Encode(s.New)
		if err != nil {
			return nil, err
		}
		splices = append(splices, workspace.Splice{Offset: off, Len: size, Data: data})
		off, at = off+size, s.End
	}
	return splices, nil
}

// describe records each place and how it was found.
func (plan *editPlan) describe(old string, spans []textedit.Span) {
	line, at := 1, 0
	for _, s := range spans {
		line += strings.Count(old[at:s.Start], "\n")
		at = s.Start
		plan.lines = append(plan.lines, line)
		if s.Step != textedit.Exact {
			plan.steps = append(plan.steps, fmt.Sprintf("line %d: %s", line, s.Step))
		}
	}
}
