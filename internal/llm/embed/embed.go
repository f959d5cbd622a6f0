// Package embed asks any server with an OpenAI-compatible /v1/embeddings endpoint for the vectors
// that tools are compared by, and keeps those of definitions on disk.
//
// The one rule: only a text with a key is kept, under its key, the server and the model; a query
// never reaches the disk.
//
// Start reading at Client.Embed, then keep.go.
//
// Known limits: vectors that were kept are never removed; a definition's is 3 to 12 KiB.
package embed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"adze/internal/llm/wire"
	"adze/tool/rank"
)

const (
	// batch is how many texts one request holds; servers take at least that many.
	batch = 64
	// maxAnswer bounds an answer: 64 vectors of 4,096 numbers of 20 characters fit three times.
	maxAnswer = 16 << 20
	// idle is how long a server may send nothing: a local one loads its model first.
	idle = 30 * time.Second
)

// Options say whom to ask.
type Options struct {
	BaseURL string // up to and with /v1
	Model   string
	Key     string       // if empty, none is sent
	HTTP    *http.Client // if nil, one of its own
	Cache   string       // folder of kept vectors; if empty, nothing is kept
}

// Client is a rank.Embedder. It is safe for concurrent use.
type Client struct {
	o      Options
	client wire.Client
	kept   shelf
}

// New makes a Client. Nothing is asked before the first Embed.
func New(o Options) *Client {
	o.BaseURL = strings.TrimSuffix(o.BaseURL, "/")
	return &Client{
		o: o, kept: shelfFor(o),
		client: wire.Client{
			Provider: "the server of embeddings", HTTP: wire.HTTP(o.HTTP), Idle: idle, Secret: o.Key,
			KeyHint: "check the variable that tools.embeddings.key_env names",
			URLHint: "check tools.embeddings.base_url and the network",
		},
	}
}

// Name is the model's.
func (c *Client) Name() string { return c.o.Model }

// Embed returns one vector a text, in order; what was kept is not asked for again.
func (c *Client) Embed(ctx context.Context, texts []rank.EmbedText) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	var missing []int
	for i, t := range texts {
		if vectors[i] = c.kept.load(t.Key); vectors[i] == nil {
			missing = append(missing, i)
		}
	}
	for len(missing) > 0 {
		part := missing[:min(batch, len(missing))]
		missing = missing[len(part):]
		if err := c.fill(ctx, texts, vectors, part); err != nil {
			return nil, err
		}
	}
	return vectors, nil
}

// fill asks for the texts at some places, and keeps what has a key.
func (c *Client) fill(ctx context.Context, texts []rank.EmbedText, vectors [][]float32, places []int) error {
	input := make([]string, len(places))
	for i, at := range places {
		input[i] = texts[at].Text
	}
	answer, err := c.ask(ctx, input)
	if err != nil {
		return err
	}
	for i, at := range places {
		vectors[at] = answer[i]
		c.kept.save(texts[at].Key, answer[i])
	}
	return nil
}

// reply is what the endpoint answers.
type reply struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

func (c *Client) ask(ctx context.Context, input []string) ([][]float32, error) {
	body := &wire.Body{}
	body.Add(wire.JSON(map[string]any{"model": c.o.Model, "input": input, "encoding_format": "float"}))
	header := http.Header{}
	if c.o.Key != "" {
		header.Set("Authorization", "Bearer "+c.o.Key)
	}
	r, err := c.client.Open(ctx, wire.Call{Method: http.MethodPost, URL: c.o.BaseURL + "/embeddings", Header: header, Body: body})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err != nil {
		return nil, err
	}
	r.Settle()
	var said reply
	if err := json.Unmarshal(raw, &said); err != nil {
		return nil, c.client.Bad("sent no list of vectors")
	}
	vectors, err := said.inOrder(len(input))
	if err != nil {
		return nil, c.client.Bad("%v", err)
	}
	return vectors, nil
}

// inOrder puts vectors where their index says, and wants each exactly once, all of one length.
func (r reply) inOrder(n int) ([][]float32, error) {
	if len(r.Data) != n {
		return nil, fmt.Errorf("sent %d vectors for %d texts", len(r.Data), n)
	}
	out := make([][]float32, n)
	for _, d := range r.Data {
		switch {
		case d.Index < 0 || d.Index >= n || out[d.Index] != nil:
			return nil, fmt.Errorf("sent vector %d out of order", d.Index)
		case len(d.Embedding) == 0 || len(d.Embedding) != len(r.Data[0].Embedding):
			return nil, fmt.Errorf("sent vectors of %d and %d numbers", len(r.Data[0].Embedding), len(d.Embedding))
		}
		out[d.Index] = d.Embedding
	}
	return out, nil
}
