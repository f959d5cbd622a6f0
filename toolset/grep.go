package toolset

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"adze/internal/files/search"
	"adze/internal/files/search/match"
	"adze/internal/text/plural"
	"adze/tool"
)

// Limits for one grep.
const (
	grepLimit   = 100
	grepContext = 50  // lines on each side of a match
	grepWidth   = 500 // characters in a line
	grepShown   = 100 // lines in panes and the log
)

type grepArgs struct {
	Pattern    string `json:"pattern" doc:"what to look for" offer:"plain"`
	Path       string `json:"path,omitempty" doc:"folder or file; default: the workspace" offer:"plain"`
	Include    string `json:"include,omitempty" doc:"globs, comma separated: *.go, src/**"`
	Exclude    string `json:"exclude,omitempty" doc:"globs of files or folders to leave out" offer:"plain"`
	Type       string `json:"type,omitempty" doc:"go, ts, js, py, rust, java, md …"`
	Literal    bool   `json:"literal,omitempty" doc:"pattern is plain text"`
	IgnoreCase bool   `json:"ignore_case,omitempty" doc:"upper and lower case are the same" offer:"plain"`
	Word       bool   `json:"word,omitempty" doc:"whole words only" offer:"-"`
	Multiline  bool   `json:"multiline,omitempty" doc:"a match may span lines"`
	Context    int    `json:"context,omitempty" min:"0" doc:"lines around a match"`
	Before     int    `json:"before,omitempty" min:"0" doc:"lines to show before a match" offer:"-"`
	After      int    `json:"after,omitempty" min:"0" doc:"lines to show after a match" offer:"-"`
	Mode       string `json:"mode,omitempty" enum:"content,files,count" doc:"matching lines (default), paths, or counts by file"`
	Limit      int    `json:"limit,omitempty" min:"0" doc:"most matches, or files in the other modes" offer:"-"`
	PerFile    int    `json:"per_file,omitempty" min:"0" doc:"most matches to show of one file" offer:"-"`
}

type grepMeta struct {
	Pattern  string    `json:"pattern"`
	Path     string    `json:"path"`
	Mode     string    `json:"mode"`
	Matches  int       `json:"matches"`
	Files    int       `json:"files"`
	Searched int       `json:"searched"`
	Skipped  int       `json:"skipped,omitempty"`
	Withheld int       `json:"withheld,omitempty"` // not permitted to read
	Lines    []grepRow `json:"lines,omitempty"`
	Totals   string    `json:"totals,omitempty"` // in words
}

type grepRow struct {
	Place string `json:"place"` // path:line, or path
	Text  string `json:"text,omitempty"`
}

func grep(s seeker) tool.Tool {
	return tool.Define("grep", tool.Config[grepArgs, grepMeta]{
		ProviderSchema: compactSchema[grepArgs](s.brief, "pattern", "path: folder or file", "include: files to search, such as *.go", "ignore_case", "context: lines around a match"),
		Description:    describe(s.words("grep"), limits{"limit": grepLimit}),
		Permissions:    tool.Requires(tool.Read),
		Tags: []string{
			"search", "text", "regex", "content", "code", "function", "call", "caller", "usage", "reference", "definition", "symbol", "occurrence",
		},
		Aliases: []string{
			"search_text", "search", "grep_search", "search_file_content", "search_files", "grep_files", "search_code", "ripgrep", "rg", "find_in_files",
		},
		Compat: tool.Compat{
			Similar: []string{"codebase_search", "semantic_search", "list_code_definition_names"},
			Args: folderAliases(map[string]string{
				"query": "pattern", "regex": "pattern", "glob": "include", "file_pattern": "include", "include_pattern": "include",
				"-i": "ignore_case", "case_insensitive": "ignore_case", "-A": "after", "-B": "before", "-C": "context", "literal_text": "literal",
				"output_mode": "mode", "fixed_strings": "literal", "-w": "word", "whole_word": "word", "exclude_pattern": "exclude",
				"context_lines": "context", "before_context": "before", "after_context": "after", "max_matches_per_file": "per_file",
				"file_type": "type", "search_term": "pattern", "search_pattern": "pattern", "regexp": "pattern", "text": "pattern",
			}),
			Values: map[string]map[string]string{"mode": {
				"fileswithmatches": "files", "filesonly": "files", "paths": "files", "filepaths": "files", "fileswithmatch": "files",
				"counts": "count", "countmatches": "count", "lines": "content", "matches": "content",
			}},
			Ignored: ignoredInWalks(map[string][]any{"-n": nil, "case_sensitive": {true}, "is_regex": {true}, "is_regexp": {true}, "recursive": {true}, "-r": {true}, "names_only": {false}}),
			Adapt:   asWalk,
		},
		Safety: tool.Safety{Safe: true},
		Output: s.bounds.withFoot(),
		Redact: tool.Expose("pattern", "path", "include", "exclude", "type", "literal", "ignore_case", "word", "multiline",
			"context", "before", "after", "mode", "limit", "per_file", "matches", "files", "searched", "skipped", "withheld", "totals"),
		Needs: func(in grepArgs) []tool.Need { return folderNeeds(in.Path) },
		Run:   grepper{s}.run,
		View:  viewGrep, Heading: headGrep,
	})
}

type grepper struct{ seeker }

type grepResult = tool.Result[grepMeta]

func (g grepper) run(ctx context.Context, c tool.Context[grepMeta], in grepArgs) (grepResult, error) {
	at, err := g.begin(ctx, c.Ask, in.Path)
	if err != nil {
		return grepResult{}, err
	}
	q := in.query()
	q.Include, q.Exclude = g.relative(at, q.Include...), g.relative(at, q.Exclude...)
	q.Limit = bounded(in.Limit, grepLimit, g.bounds.most())
	q.Stop = q.Mode != search.Count // for a total, use counts
	from := at.path.Display()
	at, stop := at.watched(func(n int64) {
		c.Metadata(fmt.Sprintf("%s, searched %s so far", in.Pattern, plural.Of(n, "file")),
			grepMeta{Pattern: in.Pattern, Path: from, Mode: string(q.Mode), Searched: int(n)})
	})
	r, err := at.Grep(ctx, q)
	if err == nil && g.root.HasDrafts() {
		if at.Texts = g.drafts(ctx, at, r); len(at.Texts) > 0 {
			r, err = at.Grep(ctx, q)
		}
	}
	stop()
	if err != nil {
		return grepResult{}, err
	}
	meta := grepMeta{
		Pattern: in.Pattern, Path: at.path.Display(), Mode: string(q.Mode), Matches: r.Matches, Files: r.Matching,
		Searched: r.Searched, Skipped: r.Binary.Count + r.TooLarge.Count + r.Unreadable.Count, Withheld: r.Withheld,
	}
	out := grepOutput{place: at, q: q, r: r, bounds: g.bounds, modes: !g.brief}
	for _, f := range r.Files {
		if out.full {
			break
		}
		meta.Lines = append(meta.Lines, out.file(f)...)
	}
	meta.Lines = meta.Lines[:min(len(meta.Lines), grepShown)]
	meta.Totals = out.totals()
	return grepResult{Metadata: meta, Output: out.text.String() + out.footer()}, nil
}

// Limits for files whose unsaved texts are searched.
const (
	draftFiles  = 40 // with matches on disk
	draftNewest = 24 // most recently written
	draftTime   = 5 * time.Second
)

// drafts returns unsaved texts in files below a place, by relative path: for files that match on
// disk, were recently written, or are known to have one.
func (g grepper) drafts(ctx context.Context, at place, r search.GrepResult) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, draftTime)
	defer cancel()
	paths := []string{at.Root}
	if at.folder {
		paths = nil
		for _, f := range r.Files[:min(len(r.Files), draftFiles)] {
			paths = append(paths, path.Join(at.Root, f.Path))
		}
		if newest, err := at.Glob(ctx, search.GlobQuery{Pattern: "**", Limit: draftNewest}); err == nil {
			for _, f := range newest.Files {
				paths = append(paths, path.Join(at.Root, f.Path))
			}
		}
	}
	out := map[string]string{}
	for name, text := range g.root.Drafts(ctx, at.Root, paths) {
		if name == at.Root {
			out[""] = text
		} else if rel, below := strings.CutPrefix(name, strings.TrimSuffix(at.Root, "/")+"/"); below {
			out[rel] = text
		}
	}
	return out
}

func (in grepArgs) query() search.GrepQuery {
	q := search.GrepQuery{
		Query: match.Query{
			Pattern: in.Pattern, Literal: in.Literal, IgnoreCase: in.IgnoreCase, Word: in.Word, Multiline: in.Multiline,
		},
		Exclude: globs(in.Exclude), Type: in.Type, Mode: search.Content,
		Before: min(max(in.Before, in.Context), grepContext), After: min(max(in.After, in.Context), grepContext), Width: grepWidth,
		PerFile: in.PerFile,
	}
	for _, glob := range globs(in.Include) {
		if left, out := strings.CutPrefix(glob, "!"); out { // as in ripgrep's -g
			q.Exclude = append(q.Exclude, left)
		} else {
			q.Include = append(q.Include, glob)
		}
	}
	if in.Mode != "" {
		q.Mode = search.Mode(in.Mode)
	}
	return q
}

type grepOutput struct {
	place
	q     search.GrepQuery
	r     search.GrepResult
	text  strings.Builder
	lines int  // matches written
	modes bool // the model was told about them

	bounds Bounds
	rows   int  // lines of text written
	full   bool // no further line fits
}

// fits reserves room for a line, or records that there is none.
func (o *grepOutput) fits(size int) bool {
	o.rows++
	o.full = o.full || o.text.Len()+size+1 > o.bounds.bytes() || o.rows > o.bounds.lines()
	return !o.full
}

// file writes one file's matches and returns them for panes.
func (o *grepOutput) file(f search.FileMatches) []grepRow {
	name := o.name(f.Path)
	if !o.fits(len(name)+20) && o.text.Len() > 0 {
		return nil
	}
	switch o.q.Mode {
	case search.Files:
		o.text.WriteString(name + "\n")
		return []grepRow{{Place: name}}
	case search.Count:
		fmt.Fprintf(&o.text, "%s: %d\n", name, f.Count)
		return []grepRow{{Place: name, Text: fmt.Sprint(f.Count)}}
	}
	if o.text.Len() > 0 {
		o.text.WriteByte('\n')
	}
	o.text.WriteString(name)
	if f.Decode != "" {
		o.text.WriteString(" (" + f.Decode + ")")
	}
	if f.NULs {
		o.text.WriteString(" (has NUL bytes)")
	}
	o.text.WriteByte('\n')
	return o.matches(name, f)
}

func (o *grepOutput) matches(name string, f search.FileMatches) (rows []grepRow) {
	shown, last := 0, 0
	for _, l := range f.Lines {
		text := lineText(l)
		if !o.fits(len(text) + 20) {
			break
		}
		if last > 0 && l.Number > last+1 && o.q.Before+o.q.After > 0 {
			o.text.WriteString("--\n")
		}
		sep := "-"
		if l.Match {
			sep = ":"
			rows = append(rows, grepRow{Place: fmt.Sprintf("%s:%d", name, l.Number), Text: strings.TrimSpace(text)})
		}
		shown += int(l.Starts)
		last = l.Number
		fmt.Fprintf(&o.text, "%d%s %s\n", l.Number, sep, text)
	}
	o.lines += shown
	if more := f.Count - shown; more > 0 && o.q.PerFile > 0 {
		fmt.Fprintf(&o.text, "(%d more in this file)\n", more)
	}
	return rows
}

// lineText returns a line for the model, with marks at cuts.
func lineText(l match.Line) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(l.Text, "\uFFFD"), "\x00", "␀")
	if l.CutLeft {
		text = fmt.Sprintf("(from column %d) …", l.Column) + text
	}
	if l.CutRight {
		text += "…"
	}
	return text
}

// totals counts the matches, or notes that there are more than the search counted.
func (o *grepOutput) totals() string {
	files := plural.Of(o.r.Matching, "file")
	switch {
	case o.q.Mode == search.Files && o.r.Truncated:
		return "over " + files
	case o.q.Mode == search.Files:
		return files
	case o.r.Truncated && o.q.Limit == 1:
		return "over 1 match"
	case o.r.Truncated:
		return fmt.Sprintf("over %d matches", o.q.Limit)
	case o.r.Matches == 1:
		return "1 match in " + files
	}
	return fmt.Sprintf("%d matches in %s", o.r.Matches, files)
}

// mode returns a hint at a mode, unless the model was already told.
func (o *grepOutput) mode(name string) string {
	if !o.modes {
		return ""
	}
	return ", or choose " + name + " as the mode"
}

// footer returns the totals, the omissions and how to get them.
func (o *grepOutput) footer() string {
	totals := o.totals()
	switch {
	case o.r.Matching == 0:
		totals = "no match" + match.Hint(o.q.Query)
	case o.full:
		totals += ", not all fit: narrow with path, include or a longer pattern" + o.mode("files")
	case o.r.Truncated:
		totals += ", the search ended there: narrow with path, include or a longer pattern" + o.mode("count")
	case o.atLimit():
		totals += ", not all shown: narrow with path, include or a longer pattern"
	case o.q.Mode == search.Content && o.lines < o.r.Matches:
		totals += ", not all shown: search a file by its path to see all of it"
	}
	searched := "searched " + plural.Of(o.r.Searched, "file")
	if o.r.Truncated {
		searched = ""
	} else if o.r.Searched+o.r.Withheld == 0 && o.folder {
		searched = "no file was searched: check path, include and type; ignored and hidden files are left out"
	} else if o.r.Ignored > 0 {
		searched += fmt.Sprintf(", %d ignored left out", o.r.Ignored)
	}
	unsaved := ""
	if n := len(o.Texts); n > 0 {
		unsaved = plural.Of(n, "file") + " as in the editor, not saved yet"
	}
	foot := noted(totals, searched, unsaved, o.some(o.r.Binary, "skipped as binary"), o.some(o.r.TooLarge, "skipped as too large"),
		o.some(o.r.Partly, fmt.Sprintf("searched only in the first %d GiB", search.MaxFile>>30)), leftOut(o.r.Withheld), o.unread(o.r.Unreadable))
	if o.text.Len() > 0 {
		return "\n" + foot
	}
	return foot
}

// atLimit reports whether the limit cut the results.
func (o *grepOutput) atLimit() bool {
	if len(o.r.Files) < o.r.Matching {
		return true
	}
	return o.q.Mode == search.Content && o.lines == o.q.Limit && o.lines < o.r.Matches
}

func viewGrep(m grepMeta) []tool.Block {
	items := make([]tool.Item, len(m.Lines))
	for i, row := range m.Lines {
		items[i] = tool.Item{Text: row.Place, Note: row.Text}
	}
	return []tool.Block{{Kind: tool.ListBlock, Items: items}}
}
