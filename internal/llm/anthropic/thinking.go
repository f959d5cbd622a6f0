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

// manners are the parts of a request that not every model accepts.
type manners struct {
	Budget bool // knows a budget alone (before 4.6); those since 4.7 refuse it
	// FewEfforts: knows low, medium and high alone
	FewEfforts bool
	NoEffort   bool
	NoDisplay  bool
	None       bool // does not think at all
	// AllThoughts: wants thinking back with calls though it signs none (DeepSeek since V4, Kimi).
	AllThoughts bool
}

// variant names what makes the bytes of one message differ.
func (m manners) variant() string {
	if m.AllThoughts {
		return "thoughts"
	}
	return ""
}

// refused learns from a refusal; the words are those of api.anthropic.com.
func (m manners) refused(err error) manners {
	switch {
	case wire.Mentions(err, "[].thinking", "reasoning_content") && wire.Mentions(err, "passed back", "issing"):
		m.AllThoughts = true
	case m.Budget && wire.Mentions(err, "thinking.type.enabled", "budget_tokens"):
		m.Budget = false
	case wire.Mentions(err, "thinking.display", "thinking.adaptive.display", "thinking.enabled.display"):
		m.NoDisplay = true
	case !m.Budget && wire.Mentions(err, "adaptive thinking", "'adaptive'", "thinking.type.adaptive"):
		m.Budget = true
	case !m.FewEfforts && wire.Mentions(err, "output_config.effort", "effort level") && wire.Mentions(err, "xhigh", "max", "level", "hould be"):
		m.FewEfforts = true
	case wire.Mentions(err, "output_config", "effort"):
		m.NoEffort = true
	case wire.Mentions(err, "does not support thinking", "thinking is not supported"):
		m.None = true
	}
	return m
}

// think sets how the model thinks.
func (m manners) think(h *head, effort string) {
	switch {
	case effort == "" || effort == "none" || m.None:
	case m.Budget:
		h.Thinking = &thinking{Type: "enabled", Budget: budgetOf(effort)}
		if h.MaxTokens >= 2048 {
			h.Thinking.Budget = min(h.Thinking.Budget, h.MaxTokens/4*3) // a bound may be the server's
		}
		h.MaxTokens = max(h.MaxTokens, h.Thinking.Budget+1024) // the budget is part of the answer's limit
	default:
		h.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		if m.NoDisplay {
			h.Thinking.Display = ""
		}
		if !m.NoEffort {
			most := "max"
			if m.FewEfforts {
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
