package anthropic

import (
	"strconv"
	"strings"

	"adze/internal/llm/wire"
)

// Thinking settings; see the API's pages on adaptive and extended thinking, and on effort.
type (
	thinking struct {
		Type   string `json:"type"` // adaptive, or enabled with a budget
		Budget int    `json:"budget_tokens,omitempty"`
		// Display asks for a summary: models since 4.7 otherwise show no thinking.
		Display string `json:"display,omitempty"`
	}
	output struct {
		Effort string `json:"effort"`
	}
)

// Quirks: parts of a request that not every model accepts.
const (
	// The model takes only a budget (before 4.6) though its name does not show it, or refuses one
	// (since 4.7).
	otherThinking = "OtherThinking"
	fewEfforts    = "FewEfforts" // only low, medium and high
	noEffort      = "NoEffort"
	noDisplay     = "NoDisplay"
	noThinking    = "NoThinking"
	// The server wants thinking back with calls although it signs none (DeepSeek since V4, Kimi).
	allThoughts = "AllThoughts"
)

// quirks are learned from error messages of api.anthropic.com.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: allThoughts, RefusalWords: [][]string{{"[].thinking", "reasoning_content"}, {"passed back", "missing"}}},
		{Name: noDisplay, RefusalWords: [][]string{{"thinking.display", "thinking.adaptive.display", "thinking.enabled.display"}}},
		{Name: otherThinking, RefusalWords: [][]string{{"thinking.type.enabled", "budget_tokens", "adaptive thinking", "'adaptive'", "thinking.type.adaptive"}}},
		{Name: fewEfforts, RefusalWords: [][]string{{"output_config.effort", "effort level"}, {"xhigh", "max", "level", "should be"}}},
		{Name: noEffort, RefusalWords: [][]string{{"output_config", "effort"}}},
		{Name: noThinking, RefusalWords: [][]string{{"does not support thinking", "thinking is not supported"}}},
	}
}

func think(h *head, effort string, q wire.Quirks) {
	switch {
	case effort == "" || effort == "none" || q[noThinking]:
	case adapts(h.Model) == q[otherThinking]:
		h.Thinking = &thinking{Type: "enabled", Budget: budgetOf(effort)}
		if h.MaxTokens >= 2048 {
			h.Thinking.Budget = min(h.Thinking.Budget, h.MaxTokens/4*3) // the limit may be the server's
		}
		h.MaxTokens = max(h.MaxTokens, h.Thinking.Budget+1024) // the budget counts against the output limit
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
			h.Output = &output{wire.ClampEffort(effort, "low", most)}
		}
	}
}

// budgetOf converts an effort to tokens, for models without efforts. The API wants at least 1,024.
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

// adapts reports whether a model sets its own thinking budget: since 4.6 (models overview). It
// assumes so if the name holds no version.
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
