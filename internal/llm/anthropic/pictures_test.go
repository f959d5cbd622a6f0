package anthropic_test

import (
	"testing"

	"adze/internal/llm/anthropic"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

func TestPicturesAreOfTheSizeThatModelsUse(t *testing.T) {
	llmtest.ScalesPictures(t, 1568, func(url string) session.Provider {
		return anthropic.New(anthropic.Options{BaseURL: url, Key: "k"})
	}, "claude-x")
}
