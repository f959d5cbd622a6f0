package openai_test

import (
	"flag"
	"testing"

	"adze/internal/llm/openai"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata/stream/openai")

func TestConformance(t *testing.T) { llmtest.Run(t, format{}) }

func TestCases(t *testing.T) {
	llmtest.Cases(t, format{}, "../../../testdata/stream/openai", *update)
}

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, format{}, "../../../testdata/stream/openai") }

func BenchmarkStream(b *testing.B) { llmtest.Benchmark(b, format{}) }

// format is Chat Completions as the suite sees it.
type format struct{ llmtest.Chat }

func (format) New(o llmtest.Options) session.Provider {
	return openai.New(openai.Options{BaseURL: o.BaseURL + "/v1", Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}
