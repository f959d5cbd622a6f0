package rankset_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"adze/tool"
	"adze/tool/rank"
	"adze/tool/rankset"
)

const goodTools = `{"name":"a","description":"Alpha.","tags":["x"],"aliases":["one"],"args":["path"]}

{"name":"b","description":"Beta."}
`

func files(tools, queries string) fstest.MapFS {
	return fstest.MapFS{"tools.jsonl": {Data: []byte(tools)}, "queries.jsonl": {Data: []byte(queries)}}
}

func TestReadNamesTheMistake(t *testing.T) {
	for name, c := range map[string]struct{ tools, queries, says string }{
		"unknown field":     {`{"name":"a","description":"A.","colour":1}`, "", "tools.jsonl:1:"},
		"no description":    {goodTools + `{"name":"c"}`, "", "tools.jsonl:4: \"c\" has no name or no description"},
		"tool twice":        {goodTools + `{"name":"a","description":"A."}`, "", "tools.jsonl:4: a is there twice"},
		"no JSON":           {goodTools, "{", "queries.jsonl:1:"},
		"no answer":         {goodTools, `{"query":"q"}`, "without an answer"},
		"answer is no tool": {goodTools, `{"query":"q","accept":["z"]}`, "there is no tool z"},
		"query twice":       {goodTools, `{"query":"q","accept":["a"]}` + "\n" + `{"query":"q","accept":["b"]}`, "queries.jsonl:2:"},
	} {
		if _, err := rankset.Read(files(c.tools, c.queries)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: err = %v, want %q", name, err, c.says)
		}
	}
	if _, err := rankset.Read(fstest.MapFS{}); err == nil {
		t.Error("a folder without files was read")
	}
}

func TestHalvesFollowFromTheTextAlone(t *testing.T) {
	counts := map[rankset.Half]int{}
	for i := range 1000 {
		q := rankset.Query{Text: fmt.Sprintf("question %d", i)}
		if q.Half() != (rankset.Query{Text: q.Text, Accept: []string{"other"}}).Half() {
			t.Fatal("the answers decide the half")
		}
		counts[q.Half()]++
	}
	if counts[rankset.Dev] < 400 || counts[rankset.Test] < 400 {
		t.Errorf("the halves are %v", counts)
	}
}

// last rates the last tool best, and gives up on one query.
type last struct{}

func (last) Name() string { return "last" }
func (last) Index(_ context.Context, d []tool.Definition) (rank.Index, error) {
	return rising(len(d)), nil
}

type rising int

func (n rising) Score(_ context.Context, query string) (rank.Scores, error) {
	if query == "fail" {
		return rank.Scores{}, context.DeadlineExceeded
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i+1) / float64(n)
	}
	return rank.Scores{Values: out, Explain: func(int) string { return "late" }}, nil
}

func TestMeasureCountsTheFirstRightAnswer(t *testing.T) {
	s, err := rankset.Read(files(goodTools+`{"name":"c","description":"C."}
{"name":"d","description":"D."}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	s.Queries = []rankset.Query{
		{Text: "first", Accept: []string{"a", "d"}}, // d comes first
		{Text: "fourth", Accept: []string{"a"}},
		{Text: "fail", Accept: []string{"b"}}, // second in the order of registration
	}
	var queries, failed, missed int
	var at [4]float64
	for _, half := range []rankset.Half{rankset.Dev, rankset.Test} {
		r := s.Measure(t.Context(), last{}, half)
		queries, failed, missed = queries+r.Queries, failed+r.Failed, missed+len(r.Missed)
		for i, part := range r.At {
			at[i] += part * float64(r.Queries)
		}
	}
	if queries != 3 || failed != 1 || missed != 1 || at != [4]float64{1, 2, 3, 3} {
		t.Errorf("%d queries, %d failed, %d missed, found at %v", queries, failed, missed, at)
	}
}
