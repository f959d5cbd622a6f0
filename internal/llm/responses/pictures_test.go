package responses_test

import (
	"testing"

	"adze/internal/llm/responses"
	"adze/internal/testkit/llmtest"
	"adze/session"
)

func TestPicturesAreOfTheSizeThatModelsUse(t *testing.T) {
	llmtest.ScalesPictures(t, 2048, func(url string) session.Provider {
		return responses.New(responses.Options{BaseURL: url, Key: "k"})
	}, "m")
}
