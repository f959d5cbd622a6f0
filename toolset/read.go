package toolset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"adze/internal/files/workspace"
	"adze/internal/text"
	"adze/tool"
)

// Limits for one read beside those for all output.
const (
	readWidth      = 2000    // characters in one line
	readAttachment = 5 << 20 // bytes in a PDF
	readEntries    = 1000    // in a folder
	readShown      = 16 << 10
)

type readArgs struct {
	Path   string `json:"path" doc:"file or folder to read" offer:"plain"`
	Offset int    `json:"offset,omitempty" min:"0" doc:"first line, from 1"`
	Limit  int    `json:"limit,omitempty" min:"0" doc:"number of lines"`
	Column int64  `json:"column,omitempty" min:"0" doc:"byte of the line at offset to go on from, for a very long line" offer:"plain"`
}

type readMeta struct {
	Path  string `json:"path"`
	Kind  string `json:"kind"` // text, folder, image, pdf
	First int    `json:"first,omitempty"`
	Last  int    `json:"last,omitempty"`
	Total int    `json:"total,omitempty"` // lines; 0 if unknown
	Bytes int64  `json:"bytes"`
	// FileState restores the state read when a session is resumed.
	FileState *workspace.State `json:"seen,omitempty"`
	Text      string           `json:"text,omitempty"` // the start, for panes
}

func read(f files) tool.Tool {
	r := reader{files: f, indexes: &lineIndexes{}}
	return tool.Define("read", tool.Config[readArgs, readMeta]{
		ProviderSchema: compactSchema[readArgs](f.brief, "path", "offset: first line, from 1", "limit: number of lines", "column"),
		Description:    describe(f.words("read"), limits{"lines": f.bounds.lines(), "kilobytes": f.bounds.bytes() >> 10}),
		Permissions:    tool.Requires(tool.Read),
		Tags:           []string{"file", "read", "view", "cat", "open", "image", "pdf"},
		Aliases:        []string{"read_file", "view", "cat", "view_file", "open_file", "read_text_file", "read_many_files", "view_image"},
		Compat: tool.Compat{
			Verbs:   editorVerbs("view"),
			Args:    pathAliases(map[string]string{"max_lines": "limit", "num_lines": "limit"}),
			Ignored: ignored(map[string][]any{"command": {"view"}, "mode": {"slice"}, "encoding": {"utf-8", "utf8", "auto"}, "pages": {""}, "should_read_entire_file": {false}}),
			Adapt:   asLines,
		},
		Safety: tool.Safety{Safe: true},
		Output: f.bounds.withFoot(),
		Redact: tool.Expose("path", "offset", "limit", "column", "kind", "first", "last", "total", "bytes"),
		Needs: func(in readArgs) []tool.Need {
			return []tool.Need{{Permission: tool.Read, Target: in.Path}}
		},
		Run:  r.run,
		View: viewRead, Heading: headRead,
	})
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
	whole := in.Offset == 0 && in.Limit == 0
	in.Offset = max(in.Offset, 1)
	if in.Column > 0 {
		return r.part(ctx, o, p, lineRequest{in, c.SessionID, false})
	}
	return r.lines(ctx, o, p, lineRequest{in, c.SessionID, whole})
}

// attach passes an image or PDF to the model.
func attach(ctx context.Context, o *workspace.Opened, p workspace.Path, kind text.Kind) (readResult, error) {
	what, most := "image", int64(pictureFile)
	if kind.PDF() {
		what, most = "pdf", readAttachment
	}
	if o.Size() > most {
		return readResult{}, tool.Fail(tool.CodeTooLarge, "%s is a %s of %d bytes; at most %d can be shown: make it smaller with bash first",
			p.Display(), kind.Name, o.Size(), most)
	}
	data, err := o.Bytes(ctx, most)
	if err != nil {
		return readResult{}, err
	}
	a := tool.Attachment{Name: p.Display(), MediaType: kind.Media, Data: data}
	out := fmt.Sprintf("%s is attached: %s, %d bytes", p.Display(), kind.Name, len(data))
	if !kind.PDF() {
		scaled := ""
		if a, scaled, err = picture(ctx, a); err != nil {
			return readResult{}, err
		}
		if scaled != "" {
			out += "; " + scaled
		}
	}
	return readResult{
		Metadata:    readMeta{Path: p.Display(), Kind: what, Bytes: o.Size()},
		Output:      out,
		Attachments: []tool.Attachment{a},
	}, nil
}

// folder lists a folder, subfolders first.
func (r reader) folder(p workspace.Path) (readResult, error) {
	const most = 20 * readEntries
	names, err := r.root.Names(p, most)
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
		atLeast := ""
		if len(names) == most {
			atLeast = "at least "
		}
		out += fmt.Sprintf("\n(%s%d more; use list or glob)", atLeast, len(names)-len(shown))
	}
	return readResult{
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
