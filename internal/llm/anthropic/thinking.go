package anthropic

import (
	"strconv"
	"strings"

	"adze/internal/llm/wire"
)

// How a model thinks; see the API's pages on adaptive and extended thinking, and on effort.
type (
	thinking struct {
		Type   string `json:"type"` // adaptive, or enabled with a budget
		Budget int    `json:"budget_tokens,omitempty"`
		// Display asks for a summary: models since 4.7 otherwise show nothing of what they think.
		Display string `json:"display,omitempty"`
	}
	output struct {
		Effort string `json:"effort"`
	}
)

// Parts of a request that not every model accepts.
const (
	// otherThinking: knows a budget alone (before 4.6) though its name does not say so, or refuses
	// one (since 4.7).
	otherThinking = "OtherThinking"
	fewEfforts    = "FewEfforts" // knows low, medium and high alone
	noEffort      = "NoEffort"
	noDisplay     = "NoDisplay"
	noThinking    = "NoThinking" // does not think at all
	// allThoughts: wants thinking back with calls though it signs none (DeepSeek since V4, Kimi).
	allThoughts = "AllThoughts"
)

// quirks are learned from refusals; the words are those of api.anthropic.com.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: allThoughts, When: [][]string{{"[].thinking", "reasoning_content"}, {"passed back", "missing"}}},
		{Name: noDisplay, When: [][]string{{"thinking.display", "thinking.adaptive.display", "thinking.enabled.display"}}},
		{Name: otherThinking, When: [][]string{{"thinking.type.enabled", "budget_tokens", "adaptive thinking", "'adaptive'", "thinking.type.adaptive"}}},
		{Name: fewEfforts, When: [][]string{{"output_config.effort", "effort level"}, {"xhigh", "max", "level", "should be"}}},
		{Name: noEffort, When: [][]string{{"output_config", "effort"}}},
		{Name: noThinking, When: [][]string{{"does not support thinking", "thinking is not supported"}}},
	}
}

// think sets how the model thinks.
func think(h *head, effort string, q wire.Quirks) {
	switch {
	case effort == "" || effort == "none" || q[noThinking]:
	case adapts(h.Model) == q[otherThinking]:
		h.Thinking = &thinking{Type: "enabled", Budget: budgetOf(effort)}
		if h.MaxTokens >= 2048 {
			h.Thinking.Budget = min(h.Thinking.Budget, h.MaxTokens/4*3) // a bound may be the server's
		}
		h.MaxTokens = max(h.MaxTokens, h.Thinking.Budget+1024) // the budget is part of the answer's limit
	default:
		h.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		if q[noDisplay] {
			h.Thinking.Display = ""
		}
		if !q[noEffort] {
			most := "max"
			if q[fewEfforts] {
				most = "high"
			}
			h.Output = &output{wire.Between(effort, "low", most)}
		}
	}
}

// budgetOf puts an effort in tokens, for models that know only those. The API wants at least 1,024.
func budgetOf(effort string) int {
	switch effort {
	case "minimal":
		return 1024
	case "low":
		return 2048
	case "medium":
		return 8192
	}
	return 24_000
}

// adapts reports whether a model chooses by itself how much it thinks: those since 4.6 (models
// overview). Of a name that says nothing it is assumed.
func adapts(model string) bool {
	_, name, ok := strings.Cut(model, "claude-")
	if !ok {
		return true
	}
	var numbers []int
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '.' || r == '@' }) {
		if n, err := strconv.Atoi(word); err == nil && n < 1000 { // not a date
			numbers = append(numbers, n)
		}
	}
	switch {
	case len(numbers) == 0 || numbers[0] > 4:
		return true
	case numbers[0] < 4 || len(numbers) == 1:
		return false
	}
	return numbers[1] >= 6
}
