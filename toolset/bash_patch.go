package toolset

import (
	"encoding/json"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"adze/internal/files/textedit"
	"adze/internal/files/workspace"
	"adze/tool"
)

// patchCommand reads a command line that does nothing but apply a patch, as models do that were
// trained on a shell with such a program: apply_patch with a here-document or with the patch as its
// one argument. root is the folder that the paths of a patch are read in.
func patchCommand(root *workspace.Root) func(map[string]any) *tool.Instead {
	return func(arguments map[string]any) *tool.Instead {
		to := patchInstead(arguments)
		if to == nil || to.Refusal != "" {
			return to
		}
		for _, name := range []string{"workdir", "cwd", "dir", "directory", "dir_path", "working_dir", "working_directory", "work_dir"} {
			if dir, given := arguments[name]; given && dir != nil && dir != "" && dir != "." && dir != "./" && dir != root.Dir() {
				return &tool.Instead{Refusal: "apply_patch is no program here. Nothing was run. Call the tool apply_patch with the patch as input, " +
					"its paths relative to the workspace instead of " + name}
			}
		}
		return to
	}
}

func patchInstead(arguments map[string]any) *tool.Instead {
	command := ""
	for _, name := range []string{"command", "cmd"} {
		switch v := arguments[name].(type) {
		case string:
			command = v
		case []any:
			if len(v) == 2 && (v[0] == "apply_patch" || v[0] == "applypatch") {
				patch, _ := v[1].(string)
				return patchCall(patch)
			}
			if len(v) == 3 && (v[1] == "-lc" || v[1] == "-c") && (v[0] == "bash" || v[0] == "sh" || v[0] == "/bin/bash" || v[0] == "/bin/sh") {
				command, _ = v[2].(string)
			}
		}
	}
	if !strings.Contains(command, "*** Begin Patch") || !strings.Contains(command, "apply") {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	named := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			named = named || patchProgram(c.Args[0])
		}
		return true
	})
	switch {
	case !named:
		return nil
	case len(file.Stmts) == 1 && plainStmt(file.Stmts[0]):
		if patch, ok := patchOf(file.Stmts[0]); ok {
			return patchCall(patch)
		}
	}
	return &tool.Instead{Refusal: "apply_patch is no program here, and this command line does more than apply one patch, or the shell would change " +
		"its text. Nothing was run. Call the tool apply_patch with the patch as input, or edit"}
}

func patchProgram(w *syntax.Word) bool {
	return w.Lit() == "apply_patch" || w.Lit() == "applypatch"
}

func plainStmt(s *syntax.Stmt) bool {
	return !s.Negated && !s.Background && !s.Coprocess
}

// patchOf is the patch of a plain call; false where the shell would make another text of it.
func patchOf(s *syntax.Stmt) (string, bool) {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(call.Args) == 0 || !patchProgram(call.Args[0]) {
		return "", false
	}
	switch {
	case len(call.Args) == 1 && len(s.Redirs) == 1:
		return hereText(s.Redirs[0])
	case len(call.Args) == 2 && len(s.Redirs) == 0:
		return wordText(call.Args[1])
	}
	return "", false
}

// hereText is the text of a here-document that the shell leaves as it is.
func hereText(r *syntax.Redirect) (string, bool) {
	if r.Op != syntax.Hdoc || r.Hdoc == nil || r.N != nil && r.N.Value != "0" {
		return "", false
	}
	var b strings.Builder
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok {
			return "", false
		}
		b.WriteString(lit.Value)
	}
	quoted := r.Word.Lit() == ""
	return b.String(), quoted || !strings.ContainsAny(b.String(), "\\$`")
}

// wordText is the text of a word that is quoted, or of "$(cat <<'EOF' …)".
func wordText(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	switch p := w.Parts[0].(type) {
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	case *syntax.DblQuoted:
		if len(p.Parts) != 1 || p.Dollar {
			return "", false
		}
		switch q := p.Parts[0].(type) {
		case *syntax.Lit:
			return q.Value, !strings.Contains(q.Value, `\`)
		case *syntax.CmdSubst:
			if len(q.Stmts) != 1 || !plainStmt(q.Stmts[0]) || len(q.Stmts[0].Redirs) != 1 {
				return "", false
			}
			c, ok := q.Stmts[0].Cmd.(*syntax.CallExpr)
			if ok && len(c.Assigns) == 0 && len(c.Args) == 1 && c.Args[0].Lit() == "cat" {
				return hereText(q.Stmts[0].Redirs[0])
			}
		}
	}
	return "", false
}

// patchCall is a call of apply_patch; one whose patch is not whole is refused.
func patchCall(patch string) *tool.Instead {
	if _, err := textedit.ParsePatch(patch); err != nil {
		return &tool.Instead{Refusal: "the patch cannot be read: " + err.Error() + ". Nothing was run. Call the tool apply_patch with the whole patch as input, or edit"}
	}
	raw, _ := json.Marshal(patchArgs{Input: patch})
	return &tool.Instead{Tool: "apply_patch", Arguments: string(raw)}
}
