package toolset

import (
	"bytes"
	"context"
	"fmt"

	"adze/internal/files/diff"
	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/tool"
)

// reformatShown is the number of diff lines by a formatter shown to the model.
const reformatShown = 60

// changedFile is a file just changed, with the results of later steps.
type changedFile struct {
	before, text string // both empty for a large file changed in place
	format       text.Format
	done         workspace.Written
	reformatted  string // a formatter's changes, for the model
	checked      string // a language server's diagnostics
	again        bool   // a formatter has written it again
}

// after formats and checks a changed file as configured, and records its state for the session.
func (f files) after(ctx context.Context, session string, p workspace.Path, c changedFile) changedFile {
	c.done.State = describeState(c.done.State, c.format)
	f.knownFiles.Record(session, c.done.State, c.text)
	if c.text == "" || p.Outside() {
		return c
	}
	before := c.before
	c = f.reformat(ctx, session, p, c)
	c.checked = f.checked(ctx, p, before, c.text)
	return c
}

// reformat runs the file's formatter and writes its output, unless the file has changed meanwhile.
func (f files) reformat(ctx context.Context, session string, p workspace.Path, c changedFile) changedFile {
	next, name, err := f.formatters.Format(ctx, p.Abs(), c.text)
	switch {
	case name == "" || err == nil && next == c.text:
		return c
	case err != nil:
		c.reformatted = fmt.Sprintf("%s left it as it is: %v", name, err)
		return c
	}
	done, err := f.replace(ctx, p, c.format, c.text, next)
	if err != nil {
		c.reformatted = fmt.Sprintf("%s would reformat it, which could not be written: %v", name, err)
		return c
	}
	side := func(text string) diff.Side { return diff.Side{Name: p.Display(), Text: text} }
	c.reformatted = fmt.Sprintf("then %s reformatted it:\n%s", name, firstLines(diff.Unified(side(c.text), side(next)).Text, reformatShown))
	c.text, c.done.Bytes, c.again = next, done.Bytes, true
	c.done.State = describeState(done.State, c.format)
	f.knownFiles.Record(session, c.done.State, next)
	return c
}

// replace writes another text if the file still has the known one.
func (f files) replace(ctx context.Context, p workspace.Path, how text.Format, known, next string) (workspace.Written, error) {
	was, err := how.Encode(known)
	if err != nil {
		return workspace.Written{}, err
	}
	body, err := how.Encode(next)
	if err != nil {
		return workspace.Written{}, err
	}
	return f.exchange(ctx, p, how.Offset(""), was, body)
}

// exchange replaces was, the file's whole content after the first bytes, by body.
func (f files) exchange(ctx context.Context, p workspace.Path, first int64, was, body []byte) (workspace.Written, error) {
	return f.root.Update(ctx, p, func(cur *workspace.Current) ([]workspace.Splice, error) {
		if !cur.Exists {
			return nil, f.missing(p)
		}
		raw, err := cur.Bytes(ctx, editLimit)
		if err != nil {
			return nil, err
		}
		if int64(len(raw)) < first || !bytes.Equal(raw[first:], was) {
			return nil, tool.Fail(tool.CodeStale, "%s has changed meanwhile", p.Display())
		}
		return []workspace.Splice{{Offset: first, Len: int64(len(was)), Data: body}}, nil
	})
}

// amend appends the results of the steps after a change.
func (c changedFile) amend(p workspace.Path, r changeResult) changeResult {
	m := &r.Metadata
	m.FileState, m.Bytes, m.Check = &c.done.State, c.done.Bytes, c.checked
	if c.again {
		from := diff.Side{Name: p.Display(), Text: c.before}
		if m.Created {
			from.Name = ""
		}
		whole := diff.Unified(from, diff.Side{Name: p.Display(), Text: c.text})
		m.Added, m.Removed, m.Diff = whole.Added, whole.Removed, shownDiff(whole.Text)
	}
	for _, told := range []string{p.Respelled(), c.reformatted, c.checked} {
		if told != "" {
			r.Output += "\n" + told
		}
	}
	return r
}
