package openai_test

import (
	"testing"

	"adze/internal/llm/openai"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

func TestPicturesAreOfTheSizeThatModelsUse(t *testing.T) {
	llmtest.ScalesPictures(t, 2048, func(url string) session.Provider {
		return openai.New(openai.Options{BaseURL: url, Key: "k"})
	}, "m")
}
