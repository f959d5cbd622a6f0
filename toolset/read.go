package toolset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"adze/internal/text"
	"adze/internal/textedit"
	"adze/internal/workspace"
	"adze/tool"
)

// Bounds of one read (tools.md, "read"). The lines and bytes leave room for the footer below what the pipeline lets
// through, so that it does not cut a second time.
const (
	readLines      = tool.DefaultLines - 2
	readBytes      = tool.DefaultBytes - 1<<10
	readWidth      = 2000    // characters of one line
	readAttachment = 5 << 20 // bytes of an image or PDF
	readEntries    = 1000    // of a folder
	readShown      = 16 << 10
)

type readArgs struct {
	Path   string `json:"path" doc:"file or folder to read"`
	Offset int    `json:"offset,omitempty" min:"0" doc:"first line, from 1; default 1"`
	Limit  int    `json:"limit,omitempty" min:"0" doc:"number of lines; default: as many as fit"`
}

type readMeta struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"` // text, folder, image, pdf
	First int    `json:"first,omitempty"`
	Last  int    `json:"last,omitempty"`
	Total int    `json:"total,omitempty"` // lines; absent where not known
	Bytes int64  `json:"bytes"`
	// Seen lets a resumed session know what it has read.
	Seen *workspace.State `json:"seen,omitempty"`
	Text string           `json:"text,omitempty"` // the beginning of what was read, for panes
}

func read(f files) tool.Tool {
	r := reader{files: f, indexes: &lineIndexes{}}
	return tool.Define("read", tool.Config[readArgs, readMeta]{
		Description: describe("read", limits{"lines": readLines, "kilobytes": readBytes >> 10}),
		Permissions: tool.Requires(tool.Read),
		Tags:        []string{"file", "read", "view", "cat", "open", "image", "pdf"},
		Aliases:     []string{"read_file", "view", "cat"},
		ArgAliases:  pathAliases(nil),
		Safety:      tool.Safety{Safe: true},
		Redact:      tool.Expose("path", "offset", "limit", "kind", "first", "last", "total", "bytes"),
		Needs: func(in readArgs) []tool.Need {
			return []tool.Need{{Permission: tool.Read, Target: in.Path}}
		},
		Run:  r.run,
		View: viewRead,
	})
}

// pathAliases adds the names that models use for path.
func pathAliases(more map[string]string) map[string]string {
	all := map[string]string{"file_path": "path", "filePath": "path", "filename": "path", "file": "path"}
	for name, real := range more {
		all[name] = real
	}
	return all
}

type reader struct {
	files
	indexes *lineIndexes
}

type readResult = tool.Result[readMeta]

func (r reader) run(ctx context.Context, c tool.Context[readMeta], in readArgs) (readResult, error) {
	p, err := r.locate(ctx, c.Ask, tool.Read, in.Path)
	if err != nil {
		return readResult{}, err
	}
	if info, err := r.root.Stat(p); err == nil && info.Mode.IsDir() {
		return r.folder(p)
	}
	o, err := r.open(p)
	if err != nil {
		return readResult{}, err
	}
	defer o.Close()
	head, err := o.Head(text.HeadSize)
	if err != nil {
		return readResult{}, err
	}
	kind := text.Sniff(head)
	if kind.Image() || kind.PDF() {
		return attach(ctx, o, p, kind)
	}
	if !kind.Text {
		return readResult{}, binary(p, kind)
	}
	in.Offset = max(in.Offset, 1)
	return r.lines(ctx, o, p, lineRequest{in, c.SessionID})
}

type lineRequest struct {
	readArgs
	session string
}

// lines reads a range and remembers in which state the session saw the file.
func (r reader) lines(ctx context.Context, o *workspace.Opened, p workspace.Path, in lineRequest) (readResult, error) {
	want := text.Want{Offset: in.Offset, Limit: readLines, Bytes: readBytes, Width: readWidth}
	if in.Limit > 0 {
		want.Limit = min(in.Limit, readLines)
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
	return showLines(p, in.Offset, got, c), nil
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
func showLines(p workspace.Path, first int, got text.Range, c content) readResult {
	var out strings.Builder
	shown := 0
	width := textedit.Width(first + len(got.Lines) - 1)
	for _, line := range got.Lines {
		row := textedit.Number(first+shown, width, strings.ToValidUTF8(line.Text, "\uFFFD"))
		if line.Cut > 0 {
			row += fmt.Sprintf(" … (%d more bytes in this line)", line.Cut)
		}
		if out.Len()+len(row)+1 > readBytes && shown > 0 {
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

// attach hands an image or PDF to the model.
func attach(ctx context.Context, o *workspace.Opened, p workspace.Path, kind text.Kind) (readResult, error) {
	if o.Size() > readAttachment {
		return readResult{}, tool.Fail(tool.CodeTooLarge, "%s is a %s of %d bytes; at most %d can be shown: make it smaller with bash first",
			p.Display(), kind.Name, o.Size(), readAttachment)
	}
	data, err := o.Bytes(ctx, readAttachment)
	if err != nil {
		return readResult{}, err
	}
	what := "image"
	if kind.PDF() {
		what = "pdf"
	}
	return readResult{
		Title:       p.Display() + ", " + kind.Name,
		Metadata:    readMeta{Path: p.Display(), Kind: what, Bytes: o.Size()},
		Output:      fmt.Sprintf("%s is attached: %s, %d bytes", p.Display(), kind.Name, len(data)),
		Attachments: []tool.Attachment{{Name: p.Display(), MediaType: kind.Media, Data: data}},
	}, nil
}

// folder lists a folder, folders first.
func (r reader) folder(p workspace.Path) (readResult, error) {
	names, err := r.root.Names(p, 20*readEntries)
	if err != nil {
		return readResult{}, err
	}
	slices.SortFunc(names, func(a, b string) int {
		if folder := strings.HasSuffix(a, "/"); folder != strings.HasSuffix(b, "/") {
			if folder {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	shown := names[:min(len(names), readEntries)]
	out := strings.Join(shown, "\n")
	switch {
	case len(names) == 0:
		out = "(the folder is empty)"
	case len(names) > len(shown):
		out += fmt.Sprintf("\n(%d more; use list or glob)", len(names)-len(shown))
	}
	return readResult{
		Title:    fmt.Sprintf("%s, %d entries", p.Display(), len(names)),
		Metadata: readMeta{Path: p.Display(), Kind: "folder", Total: len(names), Text: strings.Join(shown, "\n")},
		Output:   out,
	}, nil
}

func viewRead(m readMeta) []tool.Block {
	switch m.Kind {
	case "text":
		return tool.Code(m.Path, m.Text, m.First)
	case "folder":
		return tool.List(strings.Split(m.Text, "\n"))
	}
	return tool.Text(fmt.Sprintf("%s (%s, %d bytes)", m.Path, m.Kind, m.Bytes))
}
