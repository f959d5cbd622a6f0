package rank_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"adze/tool"
)

// A labelled set is two files of one JSON object a line: tools.jsonl with name, description, tags,
// aliases and args, and queries.jsonl with query and accept, the names of the tools that are right
// answers; issues.jsonl has queries by another hand. Which half a query belongs to follows from its
// text alone: the scorer is tuned on the dev half and judged on the test half.

// Half is one part of the queries.
type Half string

// Halves: tune on one, judge on the other.
const (
	Dev  Half = "dev"
	Test Half = "test"
	// Issues are the queries of issues.jsonl: words of titles of public issues, written by other
	// people and not for this purpose. Nothing is tuned on them.
	Issues Half = "issues"
)

// Query is what a user or a model says, and the tools that are right for it.
type Query struct {
	Text   string   `json:"query"`
	Accept []string `json:"accept"`

	foreign bool // of issues.jsonl
}

// Half is Issues for those of issues.jsonl; of the others Test when the FNV-1a hash of the text is
// odd.
func (q Query) Half() Half {
	if q.foreign {
		return Issues
	}
	h := fnv.New32a()
	h.Write([]byte(q.Text))
	if h.Sum32()%2 == 1 {
		return Test
	}
	return Dev
}

// labelledSet is a labelled set.
type labelledSet struct {
	Tools   []tool.Definition
	Queries []Query
}

// readLabelled reads tools.jsonl and queries.jsonl. A query without an answer, an answer that is no tool,
// and a name or text that is there twice are errors.
func readLabelled(dir fs.FS) (labelledSet, error) {
	var s labelledSet
	known := map[string]bool{}
	err := lines(dir, "tools.jsonl", func(raw []byte) error {
		d, err := definition(raw)
		if err == nil && known[d.Name] {
			err = fmt.Errorf("%s is there twice", d.Name)
		}
		known[d.Name] = true
		s.Tools = append(s.Tools, d)
		return err
	})
	if err != nil {
		return s, err
	}
	asked := map[string]bool{}
	if err := s.ask(dir, "queries.jsonl", known, asked); err != nil {
		return s, err
	}
	if err := s.ask(dir, "issues.jsonl", known, asked); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	return s, nil
}

// ask adds the queries of one file.
func (s *labelledSet) ask(dir fs.FS, file string, known, asked map[string]bool) error {
	return lines(dir, file, func(raw []byte) error {
		q := Query{foreign: file == "issues.jsonl"}
		if err := strict(raw, &q); err != nil {
			return err
		}
		if q.Text == "" || len(q.Accept) == 0 || asked[q.Text] {
			return fmt.Errorf("%q is empty, without an answer, or there twice", q.Text)
		}
		for _, name := range q.Accept {
			if !known[name] {
				return fmt.Errorf("%q: there is no tool %s", q.Text, name)
			}
		}
		asked[q.Text] = true
		s.Queries = append(s.Queries, q)
		return nil
	})
}

// lines calls each for every line that is not empty; errors name the place.
func lines(dir fs.FS, name string, each func([]byte) error) error {
	raw, err := fs.ReadFile(dir, name)
	if err != nil {
		return err
	}
	scanner := bufio.NewScanner(bytes.NewReader(raw))
	scanner.Buffer(nil, len(raw)+1)
	for n := 1; scanner.Scan(); n++ {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := each(line); err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
	}
	return scanner.Err()
}

func strict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// definition makes a tool's public face of its line; args become string properties.
func definition(raw []byte) (tool.Definition, error) {
	var t struct {
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tags        []string `json:"tags"`
		Aliases     []string `json:"aliases"`
		Args        []string `json:"args"`
	}
	if err := strict(raw, &t); err != nil {
		return tool.Definition{}, err
	}
	if t.Name == "" || t.Description == "" {
		return tool.Definition{}, fmt.Errorf("%q has no name or no description", t.Name)
	}
	properties := map[string]any{}
	for _, a := range t.Args {
		properties[a] = map[string]string{"type": "string"}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties})
	return tool.Definition{
		Type: "function", Name: t.Name, Description: t.Description, Parameters: schema, Tags: t.Tags, Aliases: t.Aliases,
	}, err
}

// Depths are the k of recall@k, in order.
func Depths() []int { return []int{1, 3, 5, 10} }

// Recall is how a scorer did on some queries.
type Recall struct {
	Scorer  string    `json:"scorer"`
	Half    Half      `json:"half"`
	Queries int       `json:"queries"`
	At      []float64 `json:"recall"` // for each of Depths: part of the queries answered among the first k
	Missed  []Query   `json:"-"`      // not answered among the first three
}

// picked names the tools that a way to choose picks for a query, best first.
type picked func(query string) []string

// Measure picks for every query of a half.
func (s labelledSet) Measure(name string, pick picked, half Half) Recall {
	r := Recall{Scorer: name, Half: half, At: make([]float64, len(Depths()))}
	for _, q := range s.Queries {
		if q.Half() != half {
			continue
		}
		r.Queries++
		place := q.place(pick(q.Text))
		for i, k := range Depths() {
			if place <= k {
				r.At[i]++
			}
		}
		if place > 3 {
			r.Missed = append(r.Missed, q)
		}
	}
	for i := range r.At {
		r.At[i] /= float64(max(1, r.Queries))
	}
	return r
}

// place is where the first right answer stands, from 1; past all depths when there is none.
func (q Query) place(picks []string) int {
	for i, p := range picks {
		if slices.Contains(q.Accept, p) {
			return i + 1
		}
	}
	return 1 << 20
}

// keyword is plain overlap: which part of the query's words stands in a tool's name, description or
// tags. BM25 is measured against it.
func (s labelledSet) keyword(query string) (names []string) {
	hits := map[string]int{}
	for _, d := range s.Tools {
		words := plainWords(d.Name + " " + d.Description + " " + strings.Join(d.Tags, " "))
		for _, w := range plainWords(query) {
			if slices.Contains(words, w) {
				hits[d.Name]++
			}
		}
		names = append(names, d.Name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return hits[b] - hits[a] })
	return names[:10]
}

// plainWords lists the distinct words of a text in lower case: what stands between characters that
// are neither letter nor digit.
func plainWords(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
