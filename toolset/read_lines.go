package toolset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/internal/text/plural"
	"adze/tool"
)

type lineRequest struct {
	readArgs
	session string
	whole   bool // no range was given
}

// lines reads a range and records the file's state for the session.
func (r reader) lines(ctx context.Context, o *workspace.Opened, p workspace.Path, in lineRequest) (readResult, error) {
	want := text.Want{Offset: in.Offset, Limit: r.bounds.lines(), Bytes: r.bounds.bytes(), Width: readWidth}
	if in.Limit > 0 {
		want.Limit = min(in.Limit, want.Limit)
	}
	c, source, index, err := r.source(ctx, o, p)
	if err != nil {
		return readResult{}, err
	}
	face := ""
	if in.whole && c.raw != nil {
		face = lineFed(c.face(), c.format)
	}
	if log := in.whole && isLog(p.Display()); log && c.raw != nil {
		if countLines(face, c.format) > r.bounds.lines() || len(face) > r.bounds.bytes() {
			r.knownFiles.Record(in.session, c.state, c.text)
			return r.shape(p, face, c), nil
		}
	} else if log {
		want.Limit = min(want.Limit, largePage)
	}
	got, err := text.Read(ctx, source, want, index)
	if errors.Is(err, text.ErrPastEnd) && (got.Total > 0 || in.Offset > 1) {
		return readResult{}, tool.Fail(tool.CodeInvalidArguments, "%s has %s; offset %d is past the end, give a smaller one", p.Display(), plural.Of(got.Total, "line"), in.Offset)
	}
	if err != nil && !errors.Is(err, text.ErrPastEnd) {
		return readResult{}, err
	}
	if c.raw != nil && got.Total < 0 {
		got.Total = countLines(c.face(), c.format)
	}
	r.knownFiles.Record(in.session, c.state, c.text)
	return r.showLines(p, in.Offset, got, c), nil
}

// part reads a piece of one long line.
func (r reader) part(ctx context.Context, o *workspace.Opened, p workspace.Path, in lineRequest) (readResult, error) {
	c, source, index, err := r.source(ctx, o, p)
	if err != nil {
		return readResult{}, err
	}
	const foot = 200 // reserved for the line after it
	got, err := text.ReadPart(ctx, source, in.Offset, in.Column, r.bounds.bytes()-foot, index)
	switch {
	case errors.Is(err, text.ErrPastEnd) && got.Line < 0:
		return readResult{}, tool.Fail(tool.CodeInvalidArguments, "%s has no line %d; give a smaller offset", p.Display(), in.Offset)
	case errors.Is(err, text.ErrPastEnd):
		return readResult{}, tool.Fail(tool.CodeInvalidArguments, "line %d of %s has %s; column %d is past its end", in.Offset, p.Display(), plural.Of(got.Line, "byte"), in.Column)
	case err != nil:
		return readResult{}, err
	}
	r.knownFiles.Record(in.session, c.state, c.text)
	last := got.From + int64(len(got.Text)) - 1
	foots := fmt.Sprintf("(line %d, bytes %d-%d of %d", in.Offset, got.From, last, got.Line)
	if last < got.Line {
		foots += fmt.Sprintf("; continue with column %d", last+1)
	}
	shown := visible(got.Text)
	return readResult{
		Metadata: readMeta{Path: p.Display(), Kind: "text", First: in.Offset, Last: in.Offset, Bytes: int64(len(got.Text)), FileState: &c.state,
			Text: shown[:min(len(shown), readShown)]},
		Output: shown + "\n" + foots + ")",
	}, nil
}

// source returns a file's lines as UTF-8: a small file decoded, a large one unchanged.
func (r reader) source(ctx context.Context, o *workspace.Opened, p workspace.Path) (content, io.ReaderAt, *text.Index, error) {
	if o.Size() <= workspace.HashLimit {
		c, err := load(ctx, o, p, workspace.HashLimit)
		if err != nil {
			return c, nil, nil, err
		}
		return c, strings.NewReader(lineFed(c.face(), c.format)), nil, nil
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

// lineFed returns the text with the line ends that text.Read counts.
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

// showLines numbers the lines that fit, and describes the omitted ones and how to continue.
func (r reader) showLines(p workspace.Path, first int, got text.Range, c content) readResult {
	var out strings.Builder
	shown := 0
	width := textedit.Width(first + len(got.Lines) - 1)
	for _, line := range got.Lines {
		row := textedit.Number(first+shown, width, visible(line.Text))
		if line.Cut > 0 {
			row += fmt.Sprintf(" … (%d more bytes in this line: offset %d, column %d)", line.Cut, first+shown, len(line.Text)+1)
		}
		if out.Len()+len(row)+1 > r.bounds.bytes() && shown > 0 {
			got.Truncated = true
			break
		}
		out.WriteString(row + "\n")
		shown++
	}
	last := first + shown - 1
	meta := readMeta{Path: p.Display(), Kind: "text", First: first, Last: last, Total: max(0, got.Total), Bytes: got.Bytes, FileState: &c.state}
	meta.Text = excerpt(got.Lines[:shown])
	return readResult{Metadata: meta, Output: strings.TrimSuffix(out.String()+footer(first, last, got, c)+"\n"+p.Respelled(), "\n")}
}

// visible replaces bytes that a model cannot receive by marks: invalid UTF-8, and NUL.
func visible(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "␀")
}

// excerpt returns the part for panes, to avoid storing everything twice.
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

func footer(first, last int, got text.Range, c content) string {
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
	if got.Truncated {
		left := "more lines"
		if got.Total > 0 {
			left = strings.Replace(plural.Of(got.Total-last, "line"), " ", " more ", 1)
		}
		parts = append(parts, fmt.Sprintf("%s; continue with offset %d", left, last+1))
	}
	if words := c.format.String(); words != "" {
		parts = append(parts, words)
	}
	if c.book != nil {
		parts = append(parts, "a notebook as its "+plural.Of(c.book.Cells, "cell")+": edit takes the text of a cell as shown; lines with #> are output; to add or remove cells, change the JSON with bash")
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, "; ") + ")"
}
