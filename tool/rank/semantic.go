package rank

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"adze/tool"
)

// Embedder is the port to a server of text embeddings. Contract:
//   - it returns one vector a text, in order, all of one length;
//   - a text with a Key means the same for ever: its vector may be kept under it, together with
//     Name;
//   - it is safe for concurrent use.
type Embedder interface {
	// Name says which model it is: vectors of two names are never compared.
	Name() string
	Embed(ctx context.Context, texts []EmbedText) ([][]float32, error)
}

// EmbedText is one text to embed. Key is a definition's digest; a query has none.
type EmbedText struct{ Key, Text string }

// Embedding rates tools by how near their meaning is to the query's: the cosine of their vectors,
// where what is less alike than unrelated texts usually are counts as nothing.
type Embedding struct {
	Embedder Embedder
	// Unrelated is the cosine of texts that have nothing in common; if 0, 0.2, which suits most models.
	Unrelated float64
}

// Name is "embedding" and the model's name.
func (e Embedding) Name() string {
	if e.Embedder == nil {
		return "embedding"
	}
	return "embedding " + e.Embedder.Name()
}

// Index embeds every definition, as far as the Embedder has not kept it.
func (e Embedding) Index(ctx context.Context, defs []tool.Definition) (Index, error) {
	if e.Embedder == nil {
		return nil, errors.New("no server of embeddings is configured")
	}
	texts := make([]EmbedText, len(defs))
	for i, d := range defs {
		texts[i] = EmbedText{d.Digest, describeForSearch(d)}
	}
	vectors, err := e.embed(ctx, texts)
	if e.Unrelated == 0 {
		e.Unrelated = 0.2
	}
	return &embeddingIndex{e, vectors}, err
}

// describeForSearch is the text of a tool that meaning is compared with.
func describeForSearch(d tool.Definition) string {
	var words []string
	eachWord(d.Name, func(w string) { words = append(words, w) })
	text := strings.Join(words, " ") + ": " + d.Description
	if len(d.Tags) > 0 {
		text += " (" + strings.Join(d.Tags, ", ") + ")"
	}
	return text
}

// embed asks and makes every vector as long as 1.
func (e Embedding) embed(ctx context.Context, texts []EmbedText) ([][]float32, error) {
	vectors, err := e.Embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%d vectors came for %d texts", len(vectors), len(texts))
	}
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("vector %d has %d numbers, the first has %d", i+1, len(v), len(vectors[0]))
		}
		out[i] = unit(v)
	}
	return out, nil
}

func unit(v []float32) []float32 {
	length := math.Sqrt(dot(v, v))
	out := make([]float32, len(v))
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return out // like nothing
	}
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

type embeddingIndex struct {
	e       Embedding
	vectors [][]float32
}

func (x *embeddingIndex) Score(ctx context.Context, query string) (Scores, error) {
	scores := make([]float64, len(x.vectors))
	near := func(int) string { return "near in meaning" }
	if strings.TrimSpace(query) == "" || len(scores) == 0 {
		return Scores{scores, near}, ctx.Err()
	}
	asked, err := x.e.embed(ctx, []EmbedText{{Text: query}})
	if err != nil {
		return Scores{}, err
	}
	if len(asked[0]) != len(x.vectors[0]) {
		return Scores{}, fmt.Errorf("the query's vector has %d numbers, the tools' have %d", len(asked[0]), len(x.vectors[0]))
	}
	for i, v := range x.vectors {
		scores[i] = max(0, (dot(v, asked[0])-x.e.Unrelated)/(1-x.e.Unrelated))
	}
	return Scores{scores, near}, nil
}
