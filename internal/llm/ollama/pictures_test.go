package ollama_test

import (
	"testing"

	"adze/internal/llm/llmtest"
	"adze/internal/llm/ollama"
	"adze/session"
)

func TestPicturesAreOfTheSizeThatModelsUse(t *testing.T) {
	llmtest.ScalesPictures(t, 1344, func(url string) session.Provider {
		return ollama.New(ollama.Options{BaseURL: url, Key: "k"})
	}, "m")
}
