package ollama_test

import (
	"flag"
	"testing"

	"adze/internal/llm/ollama"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata/stream/ollama")

func TestConformance(t *testing.T) { llmtest.Run(t, format{}) }

func TestCases(t *testing.T) {
	llmtest.Cases(t, format{}, "../../../testdata/stream/ollama", *update)
}

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, format{}, "../../../testdata/stream/ollama") }

func BenchmarkStream(b *testing.B) { llmtest.Benchmark(b, format{}) }

// format is /api/chat as the suite sees it.
type format struct{ llmtest.Ollama }

func (format) New(o llmtest.Options) session.Provider {
	return ollama.New(ollama.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}
