package anthropic_test

import (
	"flag"
	"testing"

	"adze/internal/llm/anthropic"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata/stream/anthropic")

func TestConformance(t *testing.T) { llmtest.Run(t, format{}) }

func TestCases(t *testing.T) {
	llmtest.Cases(t, format{}, "../../../testdata/stream/anthropic", *update)
}

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, format{}, "../../../testdata/stream/anthropic") }

func BenchmarkStream(b *testing.B) { llmtest.Benchmark(b, format{}) }

// format is Messages as the suite sees it.
type format struct{ llmtest.Messages }

func (format) New(o llmtest.Options) session.Provider {
	return anthropic.New(anthropic.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}
