package textedit

import (
	"regexp"
	"strings"
	"sync"

	"adze/internal/text"
)

// A Patch is a patch in the V4A envelope.
type Patch []PatchFile

// PatchFile is one section of a patch.
type PatchFile struct {
	Op     PatchOp
	Path   string
	MoveTo string  // for an update; may be empty
	Body   string  // for an added file
	Chunks []Chunk // for an update
}

// PatchOp is a section's operation.
type PatchOp string

const (
	PatchAdd    PatchOp = "add"
	PatchUpdate PatchOp = "update"
	PatchDelete PatchOp = "delete"
)

// A Chunk is one change: the old lines and the new ones.
type Chunk struct {
	Context  []string // lines above the place, from @@, outermost first
	Old, New []string
	AtEnd    bool // the place is the end of the file
}

// lineRanges matches a unified diff's line numbers, which are ignored.
var lineRanges = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: @@.*)?$`) })

// ParsePatch parses a patch. It rejects a patch without its end marker, because more may be
// missing.
func ParsePatch(s string) (Patch, error) {
	bad := func(format string, args ...any) (Patch, error) { return nil, refuse(InvalidArguments, format, args...) }
	lines := strings.Split(strings.TrimSpace(text.WithNewlines(s, "\n")), "\n")
	if strings.TrimSpace(lines[0]) != "*** Begin Patch" {
		return bad("the patch must begin with the line *** Begin Patch")
	}
	if len(lines) < 2 || strings.TrimSpace(lines[len(lines)-1]) != "*** End Patch" {
		return bad("the patch must end with the line *** End Patch; without it the rest may be missing, so nothing was changed")
	}
	var p Patch
	var chunk *Chunk
	fresh := func() *Chunk {
		f := &p[len(p)-1]
		f.Chunks = append(f.Chunks, Chunk{})
		return &f.Chunks[len(f.Chunks)-1]
	}
	for n, line := range lines[1 : len(lines)-1] {
		at := n + 2
		op, path := header(line)
		switch {
		case op != "" && path == "":
			return bad("line %d of the patch names no file", at)
		case op == "move":
			if len(p) == 0 || p[len(p)-1].Op != PatchUpdate || len(p[len(p)-1].Chunks) > 0 || p[len(p)-1].MoveTo != "" {
				return bad("line %d of the patch: *** Move to stands just below *** Update File", at)
			}
			p[len(p)-1].MoveTo = path
		case op != "":
			p, chunk = append(p, PatchFile{Op: PatchOp(op), Path: path}), nil
		case len(p) == 0:
			return bad("line %d of the patch belongs to no file; begin with *** Add File, *** Update File or *** Delete File", at)
		case p[len(p)-1].Op == PatchAdd:
			rest, ok := strings.CutPrefix(line, "+")
			if !ok {
				return bad("line %d of the patch: each line of an added file begins with +", at)
			}
			p[len(p)-1].Body += rest + "\n"
		case p[len(p)-1].Op == PatchDelete:
			if strings.TrimSpace(line) != "" {
				return bad("line %d of the patch: nothing follows *** Delete File", at)
			}
		case strings.TrimSpace(line) == "*** End of File":
			if chunk == nil {
				return bad("line %d of the patch: *** End of File stands below the lines of a change", at)
			}
			chunk.AtEnd, chunk = true, nil
		case strings.HasPrefix(line, "@@"):
			if chunk == nil || len(chunk.Old)+len(chunk.New) > 0 {
				chunk = fresh()
			}
			if above := strings.TrimSpace(line[2:]); above != "" && !lineRanges().MatchString(above) {
				chunk.Context = append(chunk.Context, above)
			}
		default:
			if chunk == nil {
				chunk = fresh()
			}
			if line == "" {
				line = " "
			}
			switch line[0] {
			case ' ':
				chunk.Old, chunk.New = append(chunk.Old, line[1:]), append(chunk.New, line[1:])
			case '-':
				chunk.Old = append(chunk.Old, line[1:])
			case '+':
				chunk.New = append(chunk.New, line[1:])
			default:
				return bad("line %d of the patch begins with none of space, + and -: %s", at, visible(line))
			}
		}
	}
	if len(p) == 0 {
		return bad("the patch changes no file")
	}
	named := map[string]bool{}
	for _, f := range p {
		for _, path := range []string{f.Path, f.MoveTo} {
			if path != "" && named[path] {
				return bad("the patch names %s twice; put all changes of a file into one section", path)
			}
			named[path] = true
		}
		if f.Op == PatchUpdate && f.MoveTo == "" && len(f.Chunks) == 0 {
			return bad("the patch has no change for %s", f.Path)
		}
	}
	return p, nil
}

func header(line string) (op, path string) {
	line = strings.TrimSpace(line)
	for prefix, op := range map[string]string{"*** Add File:": "add", "*** Update File:": "update", "*** Delete File:": "delete", "*** Move to:": "move"} {
		if path, ok := strings.CutPrefix(line, prefix); ok {
			return op, strings.TrimSpace(path)
		}
	}
	return "", ""
}

// Edits converts a file's chunks to edits of its text. If a chunk matches several places, the line
// after @@ decides, or it is refused.
func (f PatchFile) Edits(name, body string) ([]Edit, error) {
	d := &doc{Source: Source{Name: name, Text: body}, rows: rowsOf(body)}
	var list []Edit
	for i, c := range f.Chunks {
		e, err := d.chunk(c)
		if err != nil {
			return nil, labelled(err, label(i, len(f.Chunks)))
		}
		list = append(list, e)
	}
	return list, nil
}

func (d *doc) chunk(c Chunk) (Edit, error) {
	block := func(lines []string) string {
		if len(lines) == 0 {
			return ""
		}
		return strings.Join(lines, "\n") + "\n"
	}
	rows := d.rows
	above := -1
	for _, context := range c.Context {
		var found []int
		for i := above + 1; i < len(rows); i++ {
			if strings.TrimSpace(d.row(i)) == context {
				found = append(found, i)
			}
		}
		switch {
		case len(found) == 0:
			return Edit{}, refuse(NoMatch, "%s has no line %q, which stands behind @@; copy a line of the file", d.Name, context)
		case len(found) > 1:
			return Edit{}, refuse(ManyMatches, "%s has the line %q, which stands behind @@, %d times; name one that it has once", d.Name, context, len(found))
		}
		above = found[0]
	}
	if len(c.Old) == 0 {
		if above < 0 {
			if above = len(rows) - 1; above < 0 {
				return Edit{New: block(c.New)}, nil
			}
		}
		for i := range rows {
			if len(c.Context) > 0 || i == above {
				continue
			}
			if d.row(i) == d.row(above) && !c.AtEnd {
				return Edit{}, refuse(ManyMatches, "a change of %s only adds lines and says not where; give the line above them, with a space before it", d.Name)
			}
		}
		old := d.row(above) + "\n"
		return d.widened(above, []string{strings.TrimSuffix(old, "\n")}, append([]string{d.row(above)}, c.New...)), nil
	}
	var places []int
	for i := above + 1; i+len(c.Old) <= len(rows); i++ {
		same := true
		for j := range c.Old {
			same = same && d.row(i+j) == c.Old[j]
		}
		if same && (!c.AtEnd || i+len(c.Old) == len(rows)) {
			places = append(places, i)
		}
	}
	switch {
	case len(places) == 1 || len(places) > 1 && above >= 0:
		return d.widened(places[0], c.Old, c.New), nil
	case len(places) > 1:
		return Edit{}, refuse(ManyMatches, "the lines of a change stand in %d places of %s; put a line above the one that is meant behind @@", len(places), d.Name)
	}
	if above >= 0 && strings.Contains("\n"+text.WithNewlines(d.Text, "\n"), "\n"+block(c.Old)) {
		return Edit{}, refuse(NoMatch, "the lines of a change stand in %s only above the line behind @@, %q", d.Name, c.Context[len(c.Context)-1])
	}
	return Edit{Old: block(c.Old), New: block(c.New)}, nil
}

// widened returns an edit of whole rows, with enough lines above to make it unique.
func (d *doc) widened(first int, old, next []string) Edit {
	plain := text.WithNewlines(d.Text, "\n")
	for from := first; ; from-- {
		var above []string
		for i := from; i < first; i++ {
			above = append(above, d.row(i))
		}
		e := Edit{Old: strings.Join(append(append([]string{}, above...), old...), "\n") + "\n"}
		if all := append(above, next...); len(all) > 0 {
			e.New = strings.Join(all, "\n") + "\n"
		}
		if from == 0 || strings.Count(plain, e.Old) == 1 {
			return e
		}
	}
}
