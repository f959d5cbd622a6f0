package acp

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"adze/internal/files/diff"
	"adze/internal/text/redact"
	"adze/tool"
)

// kindOf maps a tool to a protocol kind by its declared properties, not by its name.
func kindOf(d tool.Definition) sdk.ToolKind {
	has := func(p tool.Permission) bool { return slices.Contains(d.Permissions.Required, p) }
	tagged := func(tags ...string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(d.Tags, t) })
	}
	switch {
	case tagged("propose"):
		return sdk.ToolKindSwitchMode
	case tagged("subagent", "todo", "question", "skills", "tools", "finish"):
		return sdk.ToolKindThink
	case has(tool.Execute):
		return sdk.ToolKindExecute
	case has(tool.Write):
		return sdk.ToolKindEdit
	case has(tool.Network):
		return sdk.ToolKindFetch
	case has(tool.Read) && tagged("search", "find", "symbol", "history"):
		return sdk.ToolKindSearch
	case has(tool.Read):
		return sdk.ToolKindRead
	}
	return sdk.ToolKindOther
}

// callStatus maps a call's status to the protocol's two final ones.
func callStatus(s tool.Status) sdk.ToolCallStatus {
	if s == tool.Completed {
		return sdk.ToolCallStatusCompleted
	}
	return sdk.ToolCallStatusFailed
}

func callTitle(h tool.Heading) string {
	text := redact.Passwords(h.String())
	if runes := []rune(text); len(runes) > maxTitle {
		text = string(runes[:maxTitle]) + "…"
	}
	return text
}

const maxTitle = 160 // characters

// places returns a call's files: those in its blocks, with lines, else those in its arguments, and
// the changed files.
func places(cwd string, args json.RawMessage, blocks []tool.Block, changed []string) []sdk.ToolCallLocation {
	var out []sdk.ToolCallLocation
	add := func(path string, line int) {
		path = absolute(cwd, path)
		if path == "" || slices.ContainsFunc(out, func(l sdk.ToolCallLocation) bool {
			return l.Path == path && (line == 0 || l.Line != nil && *l.Line == line)
		}) {
			return
		}
		l := sdk.ToolCallLocation{Path: path}
		if line > 0 {
			l.Line = &line
		}
		out = append(out, l)
	}
	for _, b := range blocks {
		switch b.Kind {
		case tool.DiffBlock:
			for _, h := range diff.Hunks(b.Text) {
				add(b.Path, h.Line)
			}
		case tool.CodeBlock:
			add(b.Path, b.Line)
		}
	}
	var named map[string]any
	if json.Unmarshal(args, &named) == nil {
		for _, name := range []string{"file_path", "path"} { // our tools' argument names
			if path, ok := named[name].(string); ok {
				add(path, 0)
			}
		}
	}
	for _, path := range changed {
		add(path, 0)
	}
	return out
}

// absolute returns an absolute path, or "" if path is none.
func absolute(cwd, path string) string {
	if path == "" || strings.Contains(path, "\x00") || strings.HasPrefix(path, "~") {
		return ""
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(cwd, path)
}

// contents converts blocks: diffs to the protocol's diffs, others to Markdown.
func contents(cwd string, blocks []tool.Block) (out []sdk.ToolCallContent) {
	for _, b := range blocks {
		var hunks []diff.Hunk
		if b.Kind == tool.DiffBlock {
			hunks = diff.Hunks(b.Text)
		}
		for _, h := range hunks {
			d := sdk.ToolDiffContent(cmp.Or(absolute(cwd, b.Path), b.Path), h.New)
			if !strings.HasPrefix(h.Head, "@@ -0,0 ") { // else it is a new file
				d.Diff.OldText = &h.Old
			}
			out = append(out, d)
		}
		if text := markdown(b); text != "" && len(hunks) == 0 {
			out = append(out, sdk.ToolContent(sdk.TextBlock(text)))
		}
	}
	return out
}

func markdown(b tool.Block) string {
	var out strings.Builder
	if b.Title != "" && b.Kind != tool.OutputBlock {
		out.WriteString("**" + b.Title + "**\n\n")
	}
	switch b.Kind {
	case tool.TextBlock, tool.MarkdownBlock:
		out.WriteString(b.Text)
	case tool.CodeBlock:
		out.WriteString(fenced(strings.TrimPrefix(filepath.Ext(b.Path), "."), b.Text))
	case tool.DiffBlock:
		out.WriteString(fenced("diff", b.Text))
	case tool.OutputBlock:
		if strings.TrimSpace(b.Text) != "" {
			out.WriteString(fenced("", b.Text))
		}
	case tool.ListBlock, tool.ChecklistBlock:
		for _, item := range b.Items {
			mark := map[string]string{"": "- ", "completed": "- [x] ", "cancelled": "- [-] "}[item.State]
			out.WriteString(cmp.Or(mark, "- [ ] ") + item.Text)
			if item.Note != "" {
				out.WriteString(" — " + item.Note)
			}
			out.WriteString("\n")
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}
