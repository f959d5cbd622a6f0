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

// reformatShown is how many lines of a formatter's difference the model sees.
const reformatShown = 60

// changedFile is a file that was just changed, and what came of it then.
type changedFile struct {
	before, text string // both empty where a large file was changed in place
	format       text.Format
	done         workspace.Written
	reformatted  string // what a formatter did, for the model
	checked      string // what a language server says
	again        bool   // a formatter has written it once more
}

// after has the file formatted and looked at, as the user configured, and notes it as the session
// knows it.
func (f files) after(ctx context.Context, session string, p workspace.Path, c changedFile) changedFile {
	c.done.State = describeState(c.done.State, c.format)
	f.seen.Record(session, c.done.State, c.text)
	if c.text == "" || p.Outside() {
		return c
	}
	before := c.before
	c = f.reformat(ctx, session, p, c)
	c.checked = f.checked(ctx, p, before, c.text)
	return c
}

// reformat runs the formatter of a file and writes what it makes of it, if nobody has changed the
// file meanwhile.
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
	f.seen.Record(session, c.done.State, next)
	return c
}

// replace writes another text into a file that still has the one that is known.
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

// exchange puts body in the place of was, which is all that the file must hold behind its first
// bytes.
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
		return []workspace.Splice{{Off: first, Len: int64(len(was)), Data: body}}, nil
	})
}

// amend puts what came of a change behind its result.
func (c changedFile) amend(p workspace.Path, r changeResult) changeResult {
	m := &r.Metadata
	m.Seen, m.Bytes, m.Check = &c.done.State, c.done.Bytes, c.checked
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
