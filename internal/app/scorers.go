package app

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"adze/internal/config"
	"adze/internal/llm/embed"
	"adze/session"
	"adze/tool"
)

// scorerNames are the values of tools.scorer and --scorer.
const scorerNames = "bm25, keyword, embedding, hybrid, model"

// newShelf makes the shelf of a run. Tools that the person named are all offered.
func (a *app) newShelf(o *options, s settings, p profile) (*shelf, error) {
	scorer, err := a.scorer(s, s.config.Tools.Scorer)
	if err != nil {
		return nil, err
	}
	made := &shelf{scorer: scorer, core: p.core, budget: p.budget, above: offerAbove}
	if s.config.Tools.OfferAbove > 0 {
		made.above = s.config.Tools.OfferAbove
	}
	if o.namesTools() {
		made.above, made.budget = len(o.tools), 0
	}
	return made, nil
}

// scorer finds a scorer by its name; empty is the default. Nobody is asked before the first pick.
func (a *app) scorer(s settings, name string) (tool.Scorer, error) {
	switch name {
	case "":
		return tool.DefaultScorer(), nil
	case "bm25":
		return tool.BM25{}, nil
	case "keyword":
		return tool.Keyword{}, nil
	case "embedding":
		return a.embedding(s)
	case "hybrid":
		e, err := a.embedding(s)
		return tool.Hybrid{Parts: []tool.Weighted{{Scorer: tool.BM25{}}, {Scorer: e}}}, err
	case "model":
		return a.asking(s.config)
	}
	return nil, misuse("the scorers are "+scorerNames, "there is no scorer %q", name)
}

func (a *app) embedding(s settings) (tool.Scorer, error) {
	e := s.config.Tools.Embeddings
	if e.BaseURL == "" || e.Model == "" {
		return nil, misuse(`write {"tools": {"embeddings": {"base_url": "http://localhost:11434/v1", "model": "NAME"}}} in the configuration`,
			"embeddings need a server and a model")
	}
	key := ""
	if e.KeyEnv != "" {
		key = strings.TrimSpace(a.getenv(e.KeyEnv))
	}
	return tool.Embedding{Embedder: embed.New(embed.Options{
		BaseURL: e.BaseURL, Model: e.Model, Key: key, Cache: filepath.Join(s.at.state, "vectors"),
	})}, nil
}

func (a *app) asking(cfg config.Config) (tool.Scorer, error) {
	if cfg.Tools.Model == "" {
		return nil, misuse(`write {"tools": {"model": "provider/NAME"}} in the configuration`, "the scorer model needs a model to ask")
	}
	m, err := a.namedModel(cfg, cfg.Tools.Model)
	if err != nil {
		return nil, err
	}
	return tool.Model{Ask: m.answer}, nil
}

// answer asks a model one question without tools and without a session.
func (m model) answer(ctx context.Context, instruction, question string) (string, error) {
	request := session.Request{
		Model: m.name, System: instruction, MaxTokens: 200,
		Messages: []session.Message{{ID: "m1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: question}}}},
	}
	var text strings.Builder
	err := errors.New("the stream ended without its end")
	for c := range m.provider.Stream(ctx, request) {
		switch c := c.(type) {
		case session.Text:
			text.WriteString(c.Delta)
		case session.Done:
			err = c.Err
		}
	}
	return text.String(), err
}
