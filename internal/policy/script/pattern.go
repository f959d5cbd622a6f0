package script

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// match looks a pattern up. The names stand in its place when it runs; where files may have changed
// before, the pattern itself does, kept from names that begin with a dash. Either way it is
// followed as the tree is now, and one that leads to a folder whose names may not be looked at is
// refused.
func (r *reader) match(b builder, st *state) ([]Word, error) {
	shapes, err := shapesOf(b)
	if err != nil {
		return nil, err
	}
	if r.Names == nil {
		return nil, refuse("it has a pattern, and no folder can be looked at")
	}
	var found []string
	many := false
	for _, dir := range st.dirs {
		for _, shape := range shapes {
			names, err := r.lookUp(dir, shape)
			if err != nil {
				return nil, err
			}
			found, many = append(found, names...), many || len(names) > maxAlternatives
		}
	}
	if st.changed || many || len(st.dirs) != 1 || len(shapes) != 1 {
		return r.standing(b)
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

// shapesOf are the patterns that a word may be, with a backslash before what stands for itself.
func shapesOf(b builder) ([]string, error) {
	shapes := []string{""}
	for _, s := range b.segments {
		var next []string
		for _, before := range shapes {
			for _, text := range s.alts {
				if !s.pattern {
					text = escapePattern(text)
				}
				next = append(next, before+text)
			}
		}
		if shapes = next; len(shapes) == 0 || len(shapes) > maxAlternatives {
			return nil, refuse("it has a pattern that is known only when it runs")
		}
	}
	return shapes, nil
}

// standing is a pattern that bash looks up.
func (r *reader) standing(b builder) ([]Word, error) {
	out := ""
	for _, s := range b.segments {
		out += s.out
	}
	rooted := func(text string) bool { return strings.HasPrefix(text, "/") }
	first := b.segments[0]
	switch all := len(first.alts); {
	case first.pattern || all > 1 && !slices.ContainsFunc(first.alts, rooted) || first.alts[0] == "":
		out = "./" + out
	case all > 1 && slices.ContainsFunc(first.alts, func(text string) bool { return !rooted(text) }):
		return nil, refuse("it has a pattern that is known only when it runs")
	}
	r.stands = true
	return []Word{{out: out}}, nil
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

// plainPart is a part of a pattern as a name; if false, it is none.
func plainPart(part string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(part); i++ {
		switch {
		case part[i] == '\\' && i+1 < len(part):
			i++
		case strings.IndexByte("*?[", part[i]) >= 0:
			return "", false
		}
		b.WriteByte(part[i])
	}
	return b.String(), true
}

// lookUp finds the names that a pattern matches, as bash does: part by part, and those that begin
// with a dot only where the pattern does. What stands before the first part that is a pattern is no
// name to look for. Its error names a folder on the way that may not be looked at.
func (r *reader) lookUp(dir, pattern string) ([]string, error) {
	parts := strings.Split(pattern, "/")
	start := ""
	for len(parts) > 1 {
		plain, ok := plainPart(parts[0])
		if !ok {
			break
		}
		start, parts = start+plain+"/", parts[1:]
	}
	found := []string{start}
	for i, part := range parts {
		var next []string
		for _, at := range found {
			more, err := r.step(dir, at, part, i+1 == len(parts))
			if err != nil {
				return nil, err
			}
			if next = append(next, more...); len(next) > maxLooked {
				return nil, refuse("its pattern matches too many names")
			}
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

// maxLooked bounds the names of a pattern that is followed to see where it leads.
const maxLooked = 5000

// step matches one part of a pattern in one folder. Nothing is resolved here: where a link leads is
// for Names to say.
func (r *reader) step(dir, at, part string, last bool) (out []string, err error) {
	full := dir + "/" + at
	if strings.HasPrefix(at, "/") {
		full = at
	}
	names, err := r.Names(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, refuse("its pattern leads into %s, whose names are not looked up unasked", strings.TrimSuffix(at, "/"))
	case part == "":
		return []string{at + ending(last)}, nil
	}
	plain, isPlain := plainPart(part)
	if isPlain {
		if plain == "." || plain == ".." || slices.Contains(names, plain) {
			return []string{at + plain + ending(last)}, nil
		}
		return nil, nil
	}
	shape := strings.ReplaceAll(part, "[!", "[^")
	if up, _ := path.Match(shape, ".."); up && !last && strings.HasPrefix(part, ".") {
		return nil, refuse("it has a pattern that leads up in some versions of bash")
	}
	for _, name := range names {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".") {
			continue
		}
		if ok, err := path.Match(shape, name); err == nil && ok {
			out = append(out, at+name+ending(last))
		}
	}
	return out, nil
}

func ending(last bool) string {
	if last {
		return ""
	}
	return "/"
}
