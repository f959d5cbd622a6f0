package toolset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"adze/internal/text"
	"adze/internal/textedit"
	"adze/internal/workspace"
	"adze/tool"
)

type lineRequest struct {
	readArgs
	session string
}

// lines reads a range and remembers in which state the session saw the file.
func (r reader) lines(ctx context.Context, o *workspace.Opened, p workspace.Path, in lineRequest) (readResult, error) {
	want := text.Want{Offset: in.Offset, Limit: r.bounds.lines(), Bytes: r.bounds.bytes(), Width: readWidth}
	if in.Limit > 0 {
		want.Limit = min(in.Limit, want.Limit)
	}
	c, source, index, err := r.source(ctx, o, p)
	if err != nil {
		return readResult{}, err
	}
	got, err := text.Read(ctx, source, want, index)
	if errors.Is(err, text.ErrPastEnd) && (got.Total > 0 || in.Offset > 1) {
		return readResult{}, tool.Fail(tool.CodeInvalidArguments, "%s has %s; offset %d is past the end, give a smaller one", p.Display(), plural(got.Total, "line"), in.Offset)
	}
	if err != nil && !errors.Is(err, text.ErrPastEnd) {
		return readResult{}, err
	}
	if c.raw != nil && got.Total < 0 {
		got.Total = countLines(c.text, c.format)
	}
	r.seen.Record(in.session, c.state, c.text)
	return r.showLines(p, in.Offset, got, c), nil
}

// source gives the lines of a file as UTF-8: a small file decoded whole, a large one as it stands.
func (r reader) source(ctx context.Context, o *workspace.Opened, p workspace.Path) (content, io.ReaderAt, *text.Index, error) {
	if o.Size() <= workspace.HashLimit {
		c, err := load(ctx, o, p, workspace.HashLimit)
		if err != nil {
			return c, nil, nil, err
		}
		return c, strings.NewReader(lineFed(c.text, c.format)), nil, nil
	}
	head, err := o.Head(64 << 10)
	if err != nil {
		return content{}, nil, nil, err
	}
	c := content{format: text.Detect(head)}
	c.state = describeState(o.State(nil), c.format)
	if c.format.Encoding != text.UTF8 {
		return c, nil, nil, tool.Fail(tool.CodeTooLarge, "%s is %s of %d bytes; above %d only UTF-8 is read in parts: convert it with bash (iconv) first",
			p.Display(), c.format.Encoding, o.Size(), workspace.HashLimit)
	}
	return c, o, r.indexes.of(p, o.Info().Stamp), nil
}

// lineFed is the text with the line ends that text.Read counts.
func lineFed(s string, f text.Format) string {
	if f.EOL == text.CR {
		return text.WithNewlines(s, "\n")
	}
	return s
}

func countLines(s string, f text.Format) int {
	s = lineFed(s, f)
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// showLines numbers the lines, as many as fit, and says what was left out and how to go on.
func (r reader) showLines(p workspace.Path, first int, got text.Range, c content) readResult {
	var out strings.Builder
	shown := 0
	width := textedit.Width(first + len(got.Lines) - 1)
	for _, line := range got.Lines {
		row := textedit.Number(first+shown, width, strings.ToValidUTF8(line.Text, "\uFFFD"))
		if line.Cut > 0 {
			row += fmt.Sprintf(" … (%d more bytes in this line)", line.Cut)
		}
		if out.Len()+len(row)+1 > r.bounds.bytes() && shown > 0 {
			got.More = true
			break
		}
		out.WriteString(row + "\n")
		shown++
	}
	last := first + shown - 1
	meta := readMeta{Path: p.Display(), Kind: "text", First: first, Last: last, Total: max(0, got.Total), Bytes: got.Bytes, Seen: &c.state}
	meta.Text = excerpt(got.Lines[:shown])
	title := fmt.Sprintf("%s, %s", p.Display(), plural(shown, "line"))
	return readResult{Title: title, Metadata: meta, Output: out.String() + footer(first, last, got, c.format)}
}

// excerpt is what a pane can show without storing a second copy of everything.
func excerpt(lines []text.Line) string {
	var out strings.Builder
	for _, line := range lines {
		if out.Len()+len(line.Text) > readShown {
			break
		}
		out.WriteString(strings.ToValidUTF8(line.Text, "\uFFFD") + "\n")
	}
	return out.String()
}

func footer(first, last int, got text.Range, f text.Format) string {
	var parts []string
	if last < first {
		parts = append(parts, "the file is empty")
	}
	if first > 1 {
		part := fmt.Sprintf("lines %d-%d", first, last)
		if got.Total > 0 {
			part += fmt.Sprintf(" of %d", got.Total)
		}
		parts = append(parts, part)
	}
	if got.More {
		left := "more lines"
		if got.Total > 0 {
			left = strings.Replace(plural(got.Total-last, "line"), " ", " more ", 1)
		}
		parts = append(parts, fmt.Sprintf("%s; continue with offset %d", left, last+1))
	}
	if words := f.String(); words != "" {
		parts = append(parts, words)
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, "; ") + ")"
}
