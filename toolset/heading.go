package toolset

import (
	"cmp"
	"fmt"
	"strings"

	"adze/internal/sandbox/proc"
	"adze/internal/text/plural"
	"adze/tool"
)

// headBash makes the command line the heading and the model's description the note.
func headBash(in bashArgs, m bashMeta) tool.Heading {
	h := tool.Heading{Verb: "$", Object: cmp.Or(in.Command, m.Command), Note: oneLine(in.Description, 200), Result: commandResult(m), Shape: tool.Live}
	if dir := cmp.Or(in.Workdir, m.Workdir); dir != "" {
		h.Verb = dir + " $"
	}
	return h
}

// commandResult describes how a command ended and how much it has printed.
func commandResult(m bashMeta) string {
	var parts []string
	switch {
	case m.Job != "":
		return "in the background: " + m.Job
	case m.Killed == string(proc.Timeout):
		parts = append(parts, "timed out")
	case m.Killed == string(proc.Aborted):
		parts = append(parts, "stopped")
	case m.Killed != "":
		parts = append(parts, "ended: "+m.Killed)
	case m.Signal != "":
		parts = append(parts, "ended by "+m.Signal)
	case m.Exit != nil && *m.Exit != 0:
		parts = append(parts, fmt.Sprintf("exit %d", *m.Exit))
	}
	if m.Lines > 1 {
		parts = append(parts, plural.Grouped(m.Lines, "line"))
	}
	if m.Running && m.Bytes > 0 {
		parts = append(parts, plural.Size(m.Bytes))
	}
	return strings.Join(parts, " · ")
}

func headJob(verb, job string, m jobMeta) tool.Heading {
	h := tool.Heading{Verb: verb, Object: job, Result: m.State}
	if m.Command != "" {
		h.Object += " $ " + m.Command
	}
	return h
}

func headRead(in readArgs, m readMeta) tool.Heading {
	h := tool.Heading{Verb: "read", Object: cmp.Or(m.Path, in.Path), Shape: tool.OneRow}
	part := m.Kind == "text" && (m.First > 1 || m.Last < m.Total) || m.Kind == "" && in.Offset > 1
	switch first := max(m.First, in.Offset, 1); {
	case part && m.Last > first:
		h.Object += fmt.Sprintf(":%d–%d", first, m.Last)
	case part && m.Last == 0 && in.Limit > 1:
		h.Object += fmt.Sprintf(":%d–%d", first, first+in.Limit-1)
	case part:
		h.Object += fmt.Sprintf(":%d", first)
	}
	switch m.Kind {
	case "text":
		h.Result = plural.Grouped(max(m.Last-m.First+1, 0), "line")
	case "folder":
		h.Result = plural.Grouped(m.Total, "entry")
	case "":
	default:
		h.Result = m.Kind + ", " + plural.Size(m.Bytes)
	}
	return h
}

func searched(what, where string) string { return what + " in " + cmp.Or(where, ".") }

func headGrep(in grepArgs, m grepMeta) tool.Heading {
	h := tool.Heading{Verb: "grep", Object: searched(`"`+cmp.Or(in.Pattern, m.Pattern)+`"`, cmp.Or(m.Path, in.Path)), Shape: tool.OneRow}
	if h.Result = m.Totals; m.Mode != "" && m.Files == 0 {
		h.Result = "no match"
	}
	return h
}

func headGlob(in globArgs, m globMeta) tool.Heading {
	h := tool.Heading{Verb: "glob", Object: searched(cmp.Or(in.Pattern, m.Pattern), cmp.Or(m.Path, in.Path)), Shape: tool.OneRow}
	if m.Pattern != "" {
		h.Result = plural.Grouped(m.Total, "file")
	}
	return h
}

func headList(in listArgs, m listMeta) tool.Heading {
	h := tool.Heading{Verb: "list", Object: cmp.Or(m.Path, in.Path, "."), Shape: tool.OneRow}
	if m.Path != "" {
		h.Result = plural.Grouped(m.Folders, "folder") + ", " + plural.Grouped(m.Files, "file")
	}
	return h
}

func headEdit(in editArgs, m changeMeta) tool.Heading   { return headChange("edit", in.Path, m) }
func headWrite(in writeArgs, m changeMeta) tool.Heading { return headChange("write", in.Path, m) }

func headChange(verb, path string, m changeMeta) tool.Heading {
	h := tool.Heading{Verb: verb, Object: cmp.Or(m.Path, path)}
	if m.Path != "" {
		h.Result = changedLines(m.Added, m.Removed)
	}
	return h
}

func changedLines(added, removed int) string { return fmt.Sprintf("+%d −%d", added, removed) }

func headPatch(_ patchArgs, m patchMeta) tool.Heading {
	h := tool.Heading{Verb: "patch"}
	added, removed := 0, 0
	var paths []string
	for _, f := range m.Files {
		paths, added, removed = append(paths, f.Path), added+f.Added, removed+f.Removed
	}
	if h.Object = strings.Join(paths, ", "); h.Object != "" {
		h.Result = changedLines(added, removed)
	}
	return h
}

func headFetch(in webfetchArgs, m webfetchMeta) tool.Heading {
	address := strings.TrimSuffix(strings.TrimPrefix(cmp.Or(m.URL, in.URL), "https://"), "/")
	h := tool.Heading{Verb: "fetch", Object: address, Shape: tool.OneRow}
	if m.Status != 0 {
		h.Result = plural.Size(m.Bytes)
	}
	if m.Status > 299 {
		h.Result = fmt.Sprint(m.Status)
	}
	return h
}

func headSearch(in websearchArgs, m websearchMeta) tool.Heading {
	h := tool.Heading{Verb: "search", Object: `"` + cmp.Or(in.Query, m.Query) + `"`, Shape: tool.OneRow}
	if m.Engine != "" {
		h.Result = plural.Grouped(m.Count, "result")
	}
	return h
}

func headTodos(m todoMeta) tool.Heading {
	h := tool.Heading{Verb: "todos", Shape: tool.NoRow}
	if len(m.Todos) > 0 {
		h.Result = todoTitle(m.Todos)
	}
	return h
}

func headTask(in taskArgs, m taskMeta) tool.Heading {
	h := tool.Heading{Verb: "task", Object: in.Description, Shape: tool.Live}
	h.Note = cmp.Or(m.Agent, in.Agent)
	parts := m.TaskCounts.words()
	if m.State == "background" {
		parts = append([]string{"in the background"}, parts...)
	}
	h.Result = strings.Join(parts, " · ")
	return h
}

func headGitStatus(in gitStatusArgs, m gitStatusMeta) tool.Heading {
	h := tool.Heading{Verb: "git status", Object: in.Path, Shape: tool.OneRow}
	if m.Branch != "" {
		parts := []string{m.Branch}
		if m.Ahead+m.Behind > 0 {
			parts = append(parts, fmt.Sprintf("%d ahead", m.Ahead), fmt.Sprintf("%d behind", m.Behind))
		}
		h.Result = strings.Join(append(parts, fmt.Sprintf("%d staged", m.Staged), fmt.Sprintf("%d changed", m.Changed), fmt.Sprintf("%d new", m.Untracked)), ", ")
	}
	return h
}

func headCode(verb, object string, m codeMeta) tool.Heading {
	h := tool.Heading{Verb: verb, Object: object, Shape: tool.OneRow}
	if m.Path != "" {
		h.Result = fmt.Sprintf("%d found", m.Found)
	}
	return h
}

func headSpot(verb string) func(spotArgs, codeMeta) tool.Heading {
	return func(in spotArgs, m codeMeta) tool.Heading {
		return headCode(verb, fmt.Sprintf("%s:%d", in.Path, in.Line), m)
	}
}
