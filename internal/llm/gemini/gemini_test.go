package gemini_test

import (
	"context"
	"flag"
	"iter"
	"testing"

	"adze/internal/llm/gemini"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata/stream/gemini")

func TestConformance(t *testing.T) { llmtest.Run(t, format{}) }

// Gemini 3 takes media inside results, and refuses a call without its signature.
func TestConformanceOfGemini3(t *testing.T) { llmtest.Run(t, format{llmtest.Gemini{Third: true}}) }

func TestCases(t *testing.T) {
	llmtest.Cases(t, format{}, "../../../testdata/stream/gemini", *update)
}

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, format{}, "../../../testdata/stream/gemini") }

func BenchmarkStream(b *testing.B) { llmtest.Benchmark(b, format{}) }

// format is generateContent as the suite sees it.
type format struct{ llmtest.Gemini }

func (f format) New(o llmtest.Options) session.Provider {
	p := gemini.New(gemini.Options{BaseURL: o.BaseURL, Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
	if f.Third {
		return renamed{p}
	}
	return p
}

// renamed asks for a model of the third generation, whatever the suite names.
type renamed struct{ *gemini.Provider }

func (r renamed) Stream(ctx context.Context, q session.Request) iter.Seq[session.Chunk] {
	q.Model = "gemini-3-pro-preview"
	return r.Provider.Stream(ctx, q)
}
