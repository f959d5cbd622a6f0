package laxjson

import "slices"

// Steps are a reading's lax steps, each once, in order.
type Steps []string

// Add records a step.
func (s *Steps) Add(step string) {
	if !s.has(step) {
		*s = append(*s, step)
	}
}

func (s *Steps) has(step string) bool { return slices.Contains(*s, step) }

// Lax steps. Repair records contain these names.
const (
	stepFence    = "fence"              // ``` around the arguments
	stepSingle   = "single_quotes"      // 'text'
	stepSmart    = "smart_quotes"       // “text”
	stepBare     = "bare_names"         // {path: …}
	stepComma    = "trailing_comma"     // [1,]
	stepLeading  = "leading_comma"      // {,"path":1}
	stepBetween  = "missing_comma"      // between two lines
	stepClosers  = "surplus_closers"    // {"path":1}}
	stepTokens   = "tokens"             // {"path":1}<|im_end|>
	stepTwice    = "said_twice"         // {"path":1}{"path":1}, or {}{"path":1}
	stepLabel    = "label"              // json{"path":1}
	stepMark     = "byte_order_mark"    // before the arguments
	stepProse    = "prose"              // words before the only fence
	stepComment  = "comments"           // // … and /* … */ and # …
	stepPython   = "python_literals"    // True, False, None
	stepControls = "control_characters" // line breaks and tabs inside a string
)

// MaxNesting limits the arguments' depth. Validators are recursive, and no tool needs a tenth of
// it.
const MaxNesting = 500
