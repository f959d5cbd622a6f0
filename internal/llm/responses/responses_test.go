package responses_test

import (
	"flag"
	"testing"

	"adze/internal/llm/responses"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

var update = flag.Bool("update", false, "rewrite the wants of testdata/stream/responses")

func TestConformance(t *testing.T) { llmtest.Run(t, format{}) }

func TestCases(t *testing.T) {
	llmtest.Cases(t, format{}, "../../../testdata/stream/responses", *update)
}

func FuzzStream(f *testing.F) { llmtest.Fuzz(f, format{}, "../../../testdata/stream/responses") }

func BenchmarkStream(b *testing.B) { llmtest.Benchmark(b, format{}) }

// format is Responses as the suite sees it.
type format struct{ llmtest.Responses }

func (format) New(o llmtest.Options) session.Provider {
	return responses.New(responses.Options{BaseURL: o.BaseURL + "/v1", Key: o.Key, HTTP: o.HTTP, NewID: o.NewID, Idle: o.Idle})
}

// At api.openai.com itself a session only grows, too; the suite runs against a server without a
// name.
func TestRequestsToOpenAIGrow(t *testing.T) { llmtest.Grows(t, home{}) }

type home struct{ llmtest.Responses }

func (home) New(o llmtest.Options) session.Provider {
	return responses.New(responses.Options{Key: "key-of-the-test", HTTP: o.Instead(), NewID: o.NewID, Idle: o.Idle})
}
