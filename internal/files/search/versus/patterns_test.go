package versus

import (
	"os"
	"strings"
	"testing"

	"adze/internal/files/search"
	"adze/internal/files/search/match"
)

// ask is one question for both programs.
type ask struct {
	pattern string
	flags   string // i: ignore case, w: word, F: literal, U: multiline, l: files, c: counts, 9: the first nine
	include string
}

// query is the question for adze.
func (a ask) query() search.GrepQuery {
	has := func(flag string) bool { return strings.Contains(a.flags, flag) }
	q := search.GrepQuery{
		Query: match.Query{Pattern: a.pattern, IgnoreCase: has("i"), Word: has("w"), Literal: has("F"), Multiline: has("U")},
		Mode:  search.Content, Limit: 1 << 30,
	}
	if a.include != "" {
		q.Include = []string{a.include}
	}
	switch {
	case has("l"):
		q.Mode = search.Files
	case has("c"):
		q.Mode = search.Count
	case has("9"):
		q.Limit, q.Stop = 9, true
	}
	return q
}

// args is the same question for ripgrep.
func (a ask) args() []string {
	var args []string
	for _, flag := range a.flags {
		if flag != '9' {
			args = append(args, "-"+string(flag))
		}
	}
	if a.include != "" {
		// Of a type, not -g, which would take ignored files in.
		for _, glob := range alternatives(a.include) {
			args = append(args, "--type-add", "asked:"+glob)
		}
		args = append(args, "-t", "asked")
	}
	return append(args, "-e", a.pattern)
}

// alternatives writes out the one brace that an include has.
func alternatives(glob string) []string {
	before, rest, ok := strings.Cut(glob, "{")
	if !ok {
		return []string{glob}
	}
	inside, after, _ := strings.Cut(rest, "}")
	all := strings.Split(inside, ",")
	for i := range all {
		all[i] = before + all[i] + after
	}
	return all
}

func (a ask) String() string { return strings.TrimSpace(a.flags + " " + a.pattern + " " + a.include) }

// asks are the patterns that have to give the same lines: those of testdata/patterns.txt, and some
// of certain files.
func asks(t testing.TB) []ask {
	t.Helper()
	text, err := os.ReadFile("testdata/patterns.txt")
	must(t, err)
	var all []ask
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		flags, pattern, _ := strings.Cut(line, "\t")
		all = append(all, ask{pattern: pattern, flags: flags})
	}
	return append(all,
		ask{pattern: "return", include: "*.txt"}, ask{pattern: "func", include: "*.go"}, ask{pattern: "e", flags: "l", include: "*_test.go"},
		ask{pattern: `TEXT ·\w+`, include: "*.s"}, ask{pattern: "(?m)x$", flags: "c", include: "*.{go,txt}"})
}
