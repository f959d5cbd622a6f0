package toolselect

import (
	"context"
	"path/filepath"
	"strings"

	"adze/internal/config"
	"adze/internal/llm/embed"
	"adze/internal/text/usage"
	"adze/tool/rank"
)

// ScorerNames are the values of tools.scorer and --scorer.
const ScorerNames = "bm25, keyword, embedding, hybrid, model"

// Scorers makes scorers by their names.
type Scorers struct {
	config config.Config
	getenv func(string) string
	state  string // folder of the vectors that are kept
	// ask asks the model of this name one question; its error says why it cannot be used.
	ask func(model string) (func(ctx context.Context, instruction, question string) (string, error), error)
}

// NewScorers reads tools of the configuration; nobody is asked before the first pick.
func NewScorers(c config.Config, getenv func(string) string, state string,
	ask func(model string) (func(ctx context.Context, instruction, question string) (string, error), error)) Scorers {
	return Scorers{c, getenv, state, ask}
}

// Named finds a scorer by its name; empty is the default.
func (s Scorers) Named(name string) (rank.Scorer, error) {
	switch name {
	case "":
		return rank.DefaultScorer(), nil
	case "bm25":
		return rank.BM25{}, nil
	case "keyword":
		return rank.Keyword{}, nil
	case "embedding":
		return s.embedding()
	case "hybrid":
		e, err := s.embedding()
		return rank.Hybrid{Parts: []rank.Weighted{{Scorer: rank.BM25{}}, {Scorer: e}}}, err
	case "model":
		return s.asking()
	}
	return nil, usage.Mistake("the scorers are "+ScorerNames, "there is no scorer %q", name)
}

func (s Scorers) embedding() (rank.Scorer, error) {
	e := s.config.Tools.Embeddings
	if e.BaseURL == "" || e.Model == "" {
		return nil, usage.Mistake(`write {"tools": {"embeddings": {"base_url": "http://localhost:11434/v1", "model": "NAME"}}} in the configuration`,
			"embeddings need a server and a model")
	}
	key := ""
	if e.KeyEnv != "" {
		key = strings.TrimSpace(s.getenv(e.KeyEnv))
	}
	return rank.Embedding{Embedder: embed.New(embed.Options{
		BaseURL: e.BaseURL, Model: e.Model, Key: key, Cache: filepath.Join(s.state, "vectors"),
	})}, nil
}

func (s Scorers) asking() (rank.Scorer, error) {
	if s.config.Tools.Model == "" {
		return nil, usage.Mistake(`write {"tools": {"model": "provider/NAME"}} in the configuration`, "the scorer model needs a model to ask")
	}
	ask, err := s.ask(s.config.Tools.Model)
	if err != nil {
		return nil, err
	}
	return rank.Model{Ask: ask}, nil
}
