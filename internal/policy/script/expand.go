package script

import (
	"path"
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
		return refuse("it has a word that a shell may change: `$%s`", name)
	}
	seg := segment{out: value.out}
	if len(value.Alts) > 0 {
		seg.alts = value.Alts
	}
	if fields && !(known && allSafe(value.Alts)) {
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

// match looks a pattern up. The names stand in its place when it runs; where files may have changed before, the pattern
// itself does, kept from names that begin with a dash.
func (r *reader) match(b builder, st *state) ([]Word, error) {
	out, pattern := "", ""
	known := r.Names != nil && !st.changed && len(st.dirs) == 1
	for _, s := range b.segments {
		out += s.out
		if len(s.alts) != 1 {
			known = false
			continue
		}
		if s.pattern {
			pattern += s.alts[0]
		} else {
			pattern += escapePattern(s.alts[0])
		}
	}
	if first := b.segments[0]; first.pattern || first.alts == nil || len(first.alts) != 1 || first.alts[0] == "" {
		out = "./" + out
		if first.alts == nil {
			return nil, refuse("it has a pattern that is known only when it runs")
		}
	}
	if !known {
		return []Word{{out: out}}, nil
	}
	found, ok := r.lookUp(st.dirs[0], pattern)
	if !ok {
		return []Word{{out: out}}, nil
	}
	if len(found) == 0 {
		text := ""
		for _, s := range b.segments {
			text += s.alts[0]
		}
		return []Word{literal(text)}, nil
	}
	var words []Word
	for _, name := range found {
		if strings.HasPrefix(name, "-") {
			return nil, refuse("its pattern matches a file that looks like an option: %s", name)
		}
		words = append(words, literal(name))
	}
	return words, nil
}

func escapePattern(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if strings.IndexByte(`\*?[]-^!`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// lookUp finds the names that a pattern matches, as bash does: name by name, and those that begin with a dot only where
// the pattern does. False: there are too many.
func (r *reader) lookUp(dir, pattern string) ([]string, bool) {
	found := []string{""}
	if strings.HasPrefix(pattern, "/") {
		found, pattern = []string{"/"}, strings.TrimLeft(pattern, "/")
	}
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		last := i+1 == len(parts)
		var next []string
		for _, at := range found {
			next = append(next, r.step(dir, at, part, last)...)
		}
		if len(next) > maxAlternatives {
			return nil, false
		}
		found = next
	}
	slices.Sort(found)
	return found, true
}

// step matches one part of a pattern in one folder.
func (r *reader) step(dir, at, part string, last bool) (out []string) {
	end := "/"
	if last {
		end = ""
	}
	full := path.Join(dir, at)
	if strings.HasPrefix(at, "/") {
		full = path.Clean(at)
	}
	if part == "" {
		if _, err := r.Names(full); err == nil || !last {
			return []string{at + end}
		}
		return nil
	}
	if !strings.ContainsAny(strings.ReplaceAll(strings.ReplaceAll(part, `\*`, ""), `\?`, ""), "*?[") {
		plain := strings.ReplaceAll(part, `\`, "")
		names, err := r.Names(full)
		if err != nil || plain != "." && plain != ".." && !slices.Contains(names, plain) {
			return nil
		}
		return []string{at + plain + end}
	}
	names, _ := r.Names(full)
	shape := strings.ReplaceAll(part, "[!", "[^")
	for _, name := range names {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".") {
			continue
		}
		if ok, err := path.Match(shape, name); err != nil || !ok {
			continue
		}
		if !last {
			if _, err := r.Names(path.Join(full, name)); err != nil {
				continue
			}
		}
		out = append(out, at+name+end)
	}
	return out
}
