package toolset

import (
	"context"
	"fmt"
	"strings"

	"adze/internal/files/diff"
	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/tool"
)

// writeLimit is the largest old file that a write compares with, in bytes.
const writeLimit = 64 << 20

type writeArgs struct {
	Path    string `json:"path" doc:"file to create or replace" offer:"plain"`
	Content string `json:"content" doc:"the complete new text" offer:"plain"`
}

// changeMeta is the metadata of write and edit.
type changeMeta struct {
	Path    string `json:"path"`
	Created bool   `json:"created,omitempty"`
	Bytes   int64  `json:"bytes"`
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	// Lines are the replaced places in the old file; Steps describe how each was found.
	Lines []int    `json:"lines,omitempty"`
	Steps []string `json:"steps,omitempty"`
	Diff  string   `json:"diff,omitempty"`
	Notes []string `json:"notes,omitempty"`
	Check string   `json:"check,omitempty"` // a language server's diagnostics
	// FileState restores the state written when a session is resumed.
	FileState *workspace.State `json:"seen,omitempty"`
}

type changeResult = tool.Result[changeMeta]

func write(f files) tool.Tool {
	w := writer{f}
	return tool.Define("write", tool.Config[writeArgs, changeMeta]{
		ProviderSchema: compactSchema[writeArgs](f.brief, "path", "content: the complete new text"),
		Description:    describe(f.words("write")),
		Permissions:    tool.Requires(tool.Write),
		Tags:           []string{"file", "write", "create", "save", "replace"},
		Aliases:        []string{"write_file", "create_file", "write_to_file", "save_file", "new_file"},
		Compat: tool.Compat{
			Verbs: editorVerbs("create"),
			Args: pathAliases(map[string]string{
				"contents": "content", "text": "content", "file_text": "content", "file_content": "content", "new_content": "content",
			}),
			Ignored: ignored(map[string][]any{
				"command": {"create"}, "append": {false}, "overwrite": {true}, "mode": {"w", "overwrite", "write", "rewrite"}, "encoding": {"utf-8", "utf8"},
				"create_dirs": {true}, "create_directories": {true},
			}),
		},
		Redact: tool.Expose("path", "created", "bytes", "added", "removed", "notes"),
		Needs: func(in writeArgs) []tool.Need {
			return []tool.Need{{Permission: tool.Write, Target: in.Path}}
		},
		Check:        w.check,
		Preview:      w.preview,
		WithoutHunks: w.without,
		Run:          w.run,
		View:         viewChange,
		Heading:      headWrite,
	})
}

type writer struct{ files }

func (w writer) run(ctx context.Context, c tool.Context[changeMeta], in writeArgs) (changeResult, error) {
	p, err := w.locate(ctx, c.Ask, tool.Write, in.Path)
	if err != nil {
		return changeResult{}, err
	}
	var plan writePlan
	done, err := w.root.Update(ctx, p, func(cur *workspace.Current) ([]workspace.Splice, error) {
		var err error
		plan, err = w.plan(ctx, cur, p, c.SessionID, in)
		return []workspace.Splice{{Len: plan.replaced, Data: plan.raw}}, err
	})
	if err != nil {
		return changeResult{}, err
	}
	made := w.after(ctx, c.SessionID, p, changedFile{before: plan.before, text: plan.text, format: plan.format, done: done})
	return made.amend(p, plan.result(p, done)), nil
}

// check plans the write without writing.
func (w writer) check(ctx context.Context, c tool.Context[changeMeta], in writeArgs) error {
	p, err := w.locate(ctx, c.Ask, tool.Write, in.Path)
	if err != nil {
		return err
	}
	if _, read := w.knownFiles.Get(c.SessionID, p); !read {
		if err := mayLook(ctx, c.Ask, p); err != nil {
			return err
		}
	}
	return w.root.Look(p, func(cur *workspace.Current) error {
		_, err := w.plan(ctx, cur, p, c.SessionID, in)
		return err
	})
}

// plan fits the new content to the current file.
func (w writer) plan(ctx context.Context, cur *workspace.Current, p workspace.Path, session string, in writeArgs) (writePlan, error) {
	old, err := w.known(ctx, cur, p, session)
	if err != nil {
		return writePlan{}, err
	}
	plan, err := heavy(ctx, len(old.raw)+len(in.Content), func() (writePlan, error) { return planWrite(p, old, in.Content) })
	plan.replaced = int64(len(old.raw))
	return plan, err
}

// known returns the file to be replaced, if the session has read it and it has not changed.
func (w writer) known(ctx context.Context, cur *workspace.Current, p workspace.Path, session string) (content, error) {
	if !cur.Exists {
		return content{format: text.Detect(nil)}, nil
	}
	if cur.Size() == 0 { // nothing to lose
		return load(ctx, cur.Opened, p, writeLimit)
	}
	before, ok := w.knownFiles.Get(session, p)
	if !ok {
		return content{}, tool.Fail(tool.CodeNotRead, "%s exists and was not read in this session; read it first, then write, or use edit", p.Display())
	}
	old, err := load(ctx, cur.Opened, p, writeLimit)
	if err != nil {
		return content{}, err
	}
	if !before.SameContent(old.state) {
		return content{}, tool.Fail(tool.CodeStale, "%s has changed since it was read; read it again and write what fits", p.Display())
	}
	return old, nil
}

// writePlan is the new content as written to the file.
type writePlan struct {
	replaced int64 // size of the old file
	before   string
	raw      []byte
	text     string
	format   text.Format
	diff     diff.Diff
}

// planWrite converts the new content to the old file's line ends, byte order mark and encoding.
func planWrite(p workspace.Path, old content, next string) (writePlan, error) {
	if line := textedit.Omission(next, old.text); line != "" {
		return writePlan{}, tool.Fail(tool.CodeInvalidArguments, "content leaves text out (%q), which would delete it; write the complete file, or use edit for a part", line)
	}
	if err := hiddenText(next, old.text); err != nil {
		return writePlan{}, err
	}
	plan := writePlan{before: old.text, text: strings.TrimPrefix(next, "\uFEFF"), format: old.format}
	if old.raw == nil {
		plan.text = next
	} else if old.format.EOL != text.None {
		plan.text = text.WithNewlines(plan.text, old.format.Newline)
	}
	body, err := old.format.Encode(plan.text)
	if err != nil {
		return writePlan{}, err
	}
	plan.raw = append(old.mark(), body...)
	if old.raw != nil && string(plan.raw) == string(old.raw) {
		return writePlan{}, tool.Fail(tool.CodeNoChange, "%s already has exactly this content; nothing to do", p.Display())
	}
	from := diff.Side{Name: p.Display(), Text: old.text}
	if old.raw == nil {
		from.Name = ""
	}
	if len(old.raw) == 0 {
		plan.format = text.Detect(plan.raw)
	}
	plan.diff = diff.Unified(from, diff.Side{Name: p.Display(), Text: plan.text})
	return plan, nil
}

func (plan writePlan) meta(p workspace.Path, created bool) changeMeta {
	return changeMeta{
		Path: p.Display(), Created: created, Bytes: int64(len(plan.raw)),
		Added: plan.diff.Added, Removed: plan.diff.Removed, Diff: shownDiff(plan.diff.Text),
	}
}

func (plan writePlan) result(p workspace.Path, done workspace.Written) changeResult {
	meta := plan.meta(p, done.Created)
	meta.Notes, meta.FileState = append(done.Notes, oddities(plan.text)...), &done.State
	verb := "replaced"
	if done.Created {
		verb = "created"
	}
	out := fmt.Sprintf("%s %s: %d bytes, +%d -%d lines", verb, p.Display(), done.Bytes, meta.Added, meta.Removed)
	if words := plan.format.String(); words != "" && !done.Created {
		out += " (kept " + words + ")"
	}
	return changeResult{
		Metadata: meta, Output: withNotes(out, meta.Notes), Changed: []string{p.Display()},
	}
}

// oddities lists signs that the model meant another text, which was still written as given.
func oddities(s string) (notes []string) {
	if n := strings.Count(s, `\n`); n > 1 && !strings.Contains(s, "\n") {
		notes = append(notes, fmt.Sprintf(`it has no line break, but \n %d times, written as asked; write it again if line breaks were meant`, n))
	}
	if n := strings.Count(s, `\"`); n > 3 && n == strings.Count(s, `"`) {
		notes = append(notes, `each " in it has a \ before it, written as asked; write it again without them if none was meant`)
	}
	last := strings.TrimSpace(s)
	last = last[strings.LastIndexByte(last, '\n')+1:]
	for _, tag := range []string{"content", "parameter", "invoke", "function", "tool_call", "file_content", "file"} {
		if last == "</"+tag+">" && !strings.Contains(s, "<"+tag) {
			notes = append(notes, fmt.Sprintf("it ends in %s, which nothing in it opens, written as asked; write it again without that if it was not meant", last))
		}
	}
	return notes
}

// planned returns a write's effect on the current file, up to limit bytes.
func (w writer) planned(ctx context.Context, in writeArgs, limit int64) (p workspace.Path, old content, plan writePlan, err error) {
	if p, err = w.root.Resolve(in.Path); err != nil {
		return p, old, plan, err
	}
	old = content{format: text.Detect(nil)}
	if o, err := w.root.Open(p.WithConsent()); err == nil {
		defer o.Close()
		if old, err = load(ctx, o, p, limit); err != nil {
			return p, old, plan, err
		}
	} else if !isMissing(err) {
		return p, old, plan, err
	}
	plan, err = planWrite(p, old, in.Content)
	return p, old, plan, err
}

// preview shows a user a write's effect. Checks that need a session run later.
func (w writer) preview(ctx context.Context, in writeArgs) (changeMeta, error) {
	p, old, plan, err := w.planned(ctx, in, writeLimit)
	return plan.meta(p, old.raw == nil), err
}

func viewChange(m changeMeta) []tool.Block {
	blocks := tool.Diff(m.Path, m.Diff)
	blocks[0].Title = fmt.Sprintf("%s +%d -%d", m.Path, m.Added, m.Removed)
	for _, note := range m.Notes {
		blocks = append(blocks, tool.Text(note)...)
	}
	if m.Check != "" {
		check := tool.Text(m.Check)
		check[0].Minor = !strings.Contains(m.Check, "\n") // nothing found, or unfinished
		blocks = append(blocks, check...)
	}
	return blocks
}
