package rank_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"adze/tool/rank"
)

// meanings is a written Embedder: one dimension for each word of a short list.
type meanings struct {
	asked []rank.EmbedText
	err   error
	bend  func([][]float32) [][]float32
}

func (*meanings) Name() string { return "meanings" }

func (m *meanings) Embed(_ context.Context, texts []rank.EmbedText) ([][]float32, error) {
	m.asked = append(m.asked, texts...)
	if m.err != nil {
		return nil, m.err
	}
	var out [][]float32
	for _, t := range texts {
		v := []float32{0, 0, 0, 0.1}
		for i, w := range []string{"issue", "branch", "mail"} {
			v[i] = 3 * float32(strings.Count(strings.ToLower(t.Text), w))
		}
		out = append(out, v)
	}
	if m.bend != nil {
		out = m.bend(out)
	}
	return out, nil
}

func TestEmbeddingRatesByMeaning(t *testing.T) {
	m := &meanings{}
	defs := shed()
	defs[0].Digest = "d0"
	p := rank.New(defs, rank.Embedding{Embedder: m})
	for range 2 {
		got := p.Pick(t.Context(), "mail mail", rank.Options{})
		if namesOf(got) != "send-mail" || got[0].Score < 0.9 || got[0].Provenance.Scorer != "embedding meanings" {
			t.Errorf("picked %+v", got)
		}
	}
	if len(m.asked) != len(defs)+2 || m.asked[0] != (rank.EmbedText{Key: "d0", Text: "create issue createissue: Open an issue in a repository."}) {
		t.Errorf("asked for %d texts, the first %+v", len(m.asked), m.asked[0])
	}
	if last := m.asked[len(m.asked)-1]; last.Key != "" || last.Text != "mail mail" {
		t.Errorf("the query went out as %+v", last)
	}
}

func TestEmbeddingRefusesVectorsThatDoNotFit(t *testing.T) {
	for name, bend := range map[string]func([][]float32) [][]float32{
		"too few":   func(v [][]float32) [][]float32 { return v[1:] },
		"uneven":    func(v [][]float32) [][]float32 { v[0] = v[0][:2]; return v },
		"empty":     func(v [][]float32) [][]float32 { v[0] = nil; return v },
		"not alike": func(v [][]float32) [][]float32 { return shorterQuery(v) },
	} {
		got := rank.Tools(t.Context(), "mail", shed(), rank.Options{Scorer: rank.Embedding{Embedder: &meanings{bend: bend}}})
		if got[0].Provenance.Fallback == "" || !strings.Contains(got[0].Provenance.Fallback, "vector") && !strings.Contains(got[0].Provenance.Fallback, "numbers") {
			t.Errorf("%s: provenance %+v", name, got[0].Provenance)
		}
	}
}

// shorterQuery bends only the query's vector, which comes alone.
func shorterQuery(v [][]float32) [][]float32 {
	if len(v) == 1 {
		v[0] = v[0][:2]
	}
	return v
}

func TestEmbeddingOfNothing(t *testing.T) {
	m := &meanings{bend: func(v [][]float32) [][]float32 {
		for i := range v {
			v[i] = []float32{0, 0, 0}
		}
		return v
	}}
	if got := rank.Tools(t.Context(), "mail", shed(), rank.Options{Scorer: rank.Embedding{Embedder: m}}); len(got) != 0 {
		t.Errorf("vectors of nothing picked %s", namesOf(got))
	}
	if got := rank.Tools(t.Context(), " ", shed(), rank.Options{Scorer: rank.Embedding{Embedder: &meanings{}}}); len(got) != 0 {
		t.Errorf("a blank query picked %s", namesOf(got))
	}
}

func TestHybridAddsUpAndGoesOnWithoutAPart(t *testing.T) {
	one := &fixed{scores: []float64{1, 0, 0.5, 0}}
	two := &fixed{scores: []float64{0, 1, 0.5, 0}}
	h := rank.Hybrid{Parts: []rank.Weighted{{Scorer: one, Weight: 3}, {Scorer: two}}}
	got := rank.Tools(t.Context(), "x", shed(), rank.Options{Scorer: h})
	if namesOf(got) != "createIssue send-mail list_branches" || got[0].Score != 0.75 || got[1].Score != 0.5 || got[2].Score != 0.25 {
		t.Errorf("picked %s: %+v", namesOf(got), got)
	}
	if got[0].Reason != "fixed 1.00: fixed | fixed 0.00: fixed" || h.Name() != "hybrid(fixed + fixed)" {
		t.Errorf("reason %q of %s", got[0].Reason, h.Name())
	}
	two.err = errors.New("gone")
	got = rank.Tools(t.Context(), "x", shed(), rank.Options{Scorer: h})
	if namesOf(got) != "createIssue send-mail" || got[0].Score != 1 || !strings.Contains(got[0].Reason, "fixed failed") {
		t.Errorf("without a part: %+v", got)
	}
	one.scores = one.scores[1:]
	got = rank.Tools(t.Context(), "x", shed(), rank.Options{Scorer: h})
	if f := got[0].Provenance.Fallback; !strings.Contains(f, "gone") || !strings.Contains(f, "scored 3 of 4") {
		t.Errorf("without any part: %q", f)
	}
	got = rank.Tools(t.Context(), "x", shed(), rank.Options{Scorer: rank.Hybrid{Parts: []rank.Weighted{{Scorer: rank.Embedding{}}}}})
	if !strings.Contains(got[0].Provenance.Fallback, "no server of embeddings") {
		t.Errorf("without any index: %+v", got[0].Provenance)
	}
}

func TestAModelChoosesFromAShortlist(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"names":         {"list_branches\ncreateIssue", "list_branches createIssue"},
		"a list":        {"1. `list_branches`\n2) createIssue\n", "list_branches createIssue"},
		"made up too":   {"rm_rf\n- list_branches\nlist_branches", "list_branches createIssue"}, // its first score is enough
		"not on it":     {"web_hook\ncreateIssue", "createIssue list_branches"},
		"none":          {"None.", "createIssue list_branches"},
		"prose instead": {"I would take the first", ""},
	} {
		var asked string
		m := rank.Model{Shortlist: 2, Ask: func(_ context.Context, _, question string) (string, error) {
			asked = question
			return c.answer, nil
		}}
		got := rank.Tools(t.Context(), "repository issue", shed(), rank.Options{Scorer: m, MinScore: 0.01})
		if c.want == "" {
			if !strings.Contains(got[0].Provenance.Fallback, "named no tool of the list") {
				t.Errorf("%s: %+v", name, got[0].Provenance)
			}
			continue
		}
		if namesOf(got) != c.want {
			t.Errorf("%s: picked %s, want %s", name, namesOf(got), c.want)
		}
		if strings.Contains(asked, "web_hook") || !strings.Contains(asked, "createIssue: Open an issue") || !strings.HasSuffix(asked, "repository issue\n") {
			t.Errorf("%s: asked\n%s", name, asked)
		}
		for _, r := range got {
			chosen := slices.Contains(strings.FieldsFunc(c.answer, func(r rune) bool { return strings.ContainsRune("\n` ", r) }), r.Definition.Name)
			if strings.HasPrefix(r.Reason, "chosen by the model") != chosen {
				t.Errorf("%s: %s because %q", name, r.Definition.Name, r.Reason)
			}
		}
	}
}

func TestAModelThatCannotAnswerLeavesTheOrder(t *testing.T) {
	for name, m := range map[string]rank.Model{
		"no model is configured": {},
		"rate limit":             {Ask: func(context.Context, string, string) (string, error) { return "", errors.New("rate limit") }},
	} {
		got := rank.Tools(t.Context(), "mail", shed(), rank.Options{Scorer: m})
		if !strings.Contains(got[0].Provenance.Fallback, name) || namesOf(got) != "createIssue list_branches send-mail" {
			t.Errorf("%s: %s %+v", name, namesOf(got), got[0].Provenance)
		}
	}
}
