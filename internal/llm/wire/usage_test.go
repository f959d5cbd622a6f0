package wire

import (
	"testing"

	"adze/session"
)

// The figures of xAI are those of public reports (grok-3-mini, grok-4.20).
func TestTheDearerReadingOfTheCountsHolds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		counts Counts
		want   session.Usage
	}{
		"OpenAI: thoughts in the answer, the cache in the prompt": {
			Counts{Prompt: 100, Answer: 50, Thoughts: 40, Cached: 60, Total: 150}, session.Usage{Input: 40, Output: 50, CacheRead: 60, Reasoning: 40}},
		"no total": {Counts{Prompt: 100, Answer: 50, Thoughts: 40}, session.Usage{Input: 100, Output: 50, Reasoning: 40}},
		"xAI: thoughts beside the answer": {
			Counts{Prompt: 12, Answer: 1, Thoughts: 386, Total: 399}, session.Usage{Input: 12, Output: 387, Reasoning: 386}},
		"xAI with a cache": {
			Counts{Prompt: 10120, Answer: 1499, Thoughts: 2809, Cached: 128, Total: 14428},
			session.Usage{Input: 9992, Output: 4308, CacheRead: 128, Reasoning: 2809}},
		"thoughts that no field names (Gemini's compatible endpoint)": {
			Counts{Prompt: 10, Answer: 5, Total: 300}, session.Usage{Input: 10, Output: 290}},
		"thoughts above the answer, no total": {
			Counts{Prompt: 10, Answer: 2, Thoughts: 317}, session.Usage{Input: 10, Output: 319, Reasoning: 317}},
		"a cache above the prompt": {
			Counts{Prompt: 10, Answer: 2, Cached: 900, Written: 50}, session.Usage{Input: 10, Output: 2, CacheRead: 900, CacheWrite: 50}},
		"a total that counts the cache beside the prompt": {
			Counts{Prompt: 1000, Answer: 2, Cached: 900, Total: 1902}, session.Usage{Input: 1000, Output: 2, CacheRead: 900}},
		"Anthropic: the cache is never in the prompt": {
			Counts{Prompt: 3, Answer: 2, Cached: 900, ExcludesCache: true}, session.Usage{Input: 3, Output: 2, CacheRead: 900}},
		"a total that is smaller says nothing": {Counts{Prompt: 100, Answer: 50, Total: 7}, session.Usage{Input: 100, Output: 50}},
	} {
		if u := c.counts.Usage(); u != c.want {
			t.Errorf("%s: %+v", name, u)
		}
	}
}
