package script

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// expansion reads $x, ${x} and $(…).
func (r *reader) expansion(b *builder, part syntax.WordPart, st *state, fields bool) error {
	if sub, ok := part.(*syntax.CmdSubst); ok {
		return r.substitution(b, sub, st, fields)
	}
	p := part.(*syntax.ParamExp)
	if p.Param == nil || p.Excl || p.Length || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil ||
		len(p.Modifiers) > 0 || p.IsSet || p.Flags != nil || p.NestedParam != nil {
		return refuse("it computes with a variable")
	}
	name := p.Param.Value
	switch {
	case name == "?" || name == "$":
		b.add(segment{out: `"$` + name + `"`})
		return nil
	case !variable(name):
		return refuse("it uses a special variable")
	}
	value, known := r.value(name, st)
	if value.out == "" {
		return refuse("it contains $%s", name)
	}
	seg := segment{out: value.out}
	if len(value.Alts) > 0 {
		seg.alts = value.Alts
	}
	if fields && !(known && allSafe(value.Alts)) {
		if slices.ContainsFunc(value.Alts, func(s string) bool { return strings.ContainsAny(s, "*?[") }) {
			return refuse("its variable %s holds a pattern, for which file names would be put in", name)
		}
		r.split = true
		seg.many, seg.alts = true, nil
		seg.out = strings.Trim(seg.out, `"`)
	}
	b.add(seg)
	return nil
}

// value is what a variable is known to be.
func (r *reader) value(name string, st *state) (w Word, known bool) {
	if w, set := st.vars[name]; set {
		return w, len(w.Alts) > 0
	}
	if r.names[name] { // set elsewhere in the text, perhaps before
		return unknown(name), false
	}
	switch {
	case name == "HOME" && r.Home != "":
		return literal(r.Home), true
	case name == "PWD" && len(st.dirs) == 1:
		return literal(st.dirs[0]), true
	}
	if slices.Contains(usual(), name) {
		return Word{One: true, out: `"${` + name + `}"`}, false
	}
	return Word{}, false
}

// usual lists variables of the environment that are the same in every session, and hold no secret.
func usual() []string {
	return strings.Fields("PATH USER LOGNAME SHELL TERM EDITOR GOPATH GOROOT GOBIN GOOS GOARCH JAVA_HOME CARGO_HOME RUSTUP_HOME VIRTUAL_ENV " +
		"CONDA_PREFIX CONDA_DEFAULT_ENV NVM_DIR NODE_PATH PYTHONPATH CI HOSTNAME UID EUID PPID BASH_VERSION OSTYPE XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME")
}

// allSafe reports values that nothing splits or looks up.
func allSafe(values []string) bool {
	return len(values) > 0 && !slices.ContainsFunc(values, func(s string) bool {
		return s == "" || strings.ContainsFunc(s, func(c rune) bool {
			return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("._/+:@%,=-", c))
		})
	})
}

// substitution reads $(…). What a lone cat of a here-document prints is known.
func (r *reader) substitution(b *builder, sub *syntax.CmdSubst, st *state, fields bool) error {
	if sub.Backquotes || sub.TempFile || sub.ReplyVar || len(sub.Stmts) == 0 {
		return refuse("it substitutes the output of a command in an unusual way")
	}
	if text, ok := r.written(sub, st); ok && !fields {
		b.add(piece(text))
		return nil
	}
	mark, given := len(r.steps), st.given
	body, err := r.inner(sub.Stmts, st)
	st.given = given
	if err != nil {
		return err
	}
	names := fields && len(sub.Stmts) == 1 && pipeline(sub.Stmts[0]) && r.lists(mark)
	if names {
		body = r.filtered(body)
	}
	r.split = r.split || fields && !names // of filtered names, none is a pattern
	out := "$(" + r.later(body) + ")"
	if !fields {
		out = `"` + out + `"`
	}
	b.add(segment{many: fields, names: names, out: out})
	return nil
}

// written is the text of $(cat <<'EOF' … EOF).
func (r *reader) written(sub *syntax.CmdSubst, st *state) (string, bool) {
	if len(sub.Stmts) != 1 || sub.Stmts[0].Negated || sub.Stmts[0].Background {
		return "", false
	}
	call, ok := sub.Stmts[0].Cmd.(*syntax.CallExpr)
	redirs := sub.Stmts[0].Redirs
	if !ok || len(call.Args) != 1 || len(call.Assigns) > 0 || call.Args[0].Lit() != "cat" || len(redirs) != 1 || redirs[0].Op != syntax.Hdoc || redirs[0].N != nil {
		return "", false
	}
	w, err := r.document(redirs[0], st)
	text, known := w.Known()
	return strings.TrimRight(text, "\n"), err == nil && known
}
