package laxjson

import "slices"

// Steps are what a reading was lax about, each once, in the order in which they came.
type Steps []string

// Add notes a step.
func (s *Steps) Add(step string) {
	if !s.has(step) {
		*s = append(*s, step)
	}
}

func (s *Steps) has(step string) bool { return slices.Contains(*s, step) }

// What a reading may be lax about. The names stand in the record of a repair.
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
	stepProse    = "prose"              // words before the one fence that holds the arguments
	stepComment  = "comments"           // // … and /* … */ and # …
	stepPython   = "python_literals"    // True, False, None
	stepControls = "control_characters" // line breaks and tabs inside a string
)

// MaxNesting bounds how deep arguments nest. Validators work recursively, and no tool needs a tenth
// of it.
const MaxNesting = 500
