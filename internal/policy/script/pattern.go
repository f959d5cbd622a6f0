package script

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// match looks a pattern up. The names stand in its place when it runs. One that leads to a folder
// whose names may not be looked at is refused, and so is one behind a program that may have changed
// files.
func (r *reader) match(b builder, st *state) (words []Word, err error) {
	shape, text := "", ""
	for _, s := range b.segments {
		if s.code != nil {
			return nil, refuse("it has a pattern that is known only when it runs")
		}
		text += s.text
		if !s.pattern {
			s.text = escapePattern(s.text)
		}
		shape += s.text
	}
	switch {
	case r.Names == nil:
		return nil, refuse("it has a pattern, and no folder can be looked at")
	case st.changed || st.lost:
		return nil, refuse("it has a pattern behind a program that may have changed files")
	}
	found, err := r.lookUp(st.dir, shape)
	if err == nil && len(found) == 0 {
		return []Word{Literal(text)}, nil
	}
	for _, name := range found {
		if strings.HasPrefix(name, "-") {
			return nil, refuse("its pattern matches a file that looks like an option: %s", name)
		}
		words = append(words, Literal(name))
	}
	return words, err
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
			if next = append(next, more...); len(next) > maxNames {
				return nil, refuse("its pattern matches too many names")
			}
		}
		found = next
	}
	slices.Sort(found)
	return found, nil
}

// step matches one part of a pattern in one folder. Nothing is resolved here: where a link leads is
// for Names to say.
func (r *reader) step(dir, at, part string, last bool) (out []string, err error) {
	full, ending := dir+"/"+at, "/"
	if strings.HasPrefix(at, "/") {
		full = at
	}
	if last {
		ending = ""
	}
	names, err := r.Names(full)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, refuse("its pattern leads into %s, whose names are not looked up unasked", strings.TrimSuffix(at, "/"))
	case part == "":
		return []string{at + ending}, nil
	}
	if plain, isPlain := plainPart(part); isPlain {
		if plain == "." || plain == ".." || slices.Contains(names, plain) {
			return []string{at + plain + ending}, nil
		}
		return nil, nil
	}
	shape := strings.ReplaceAll(part, "[!", "[^")
	if up, _ := path.Match(shape, ".."); up && !last && strings.HasPrefix(part, ".") {
		return nil, refuse("it has a pattern that leads up in some versions of bash")
	}
	for _, name := range names {
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(part, ".")
		if ok, err := path.Match(shape, name); err == nil && ok && !hidden {
			out = append(out, at+name+ending)
		}
	}
	return out, nil
}
