package gemini_test

import (
	"testing"

	"adze/internal/llm/gemini"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

func TestPicturesAreOfTheSizeThatModelsUse(t *testing.T) {
	llmtest.ScalesPictures(t, 3072, func(url string) session.Provider {
		return gemini.New(gemini.Options{BaseURL: url, Key: "k"})
	}, "gemini-3-pro")
}
