package toolset

import (
	"strings"

	"adze/tool"
)

// askIdioms read questions as other assistants write them: several in a list, choices with
// descriptions.
func askIdioms() []tool.Idiom {
	return []tool.Idiom{
		{Names: []string{"questions"}, Means: func(w written) (written, string) {
			list, ok := w["questions"].([]any)
			if !ok || len(list) != 1 {
				return nil, "cannot be several: give one question, and ask the next after its answer"
			}
			switch q := list[0].(type) {
			case string:
				return written{"question": q}, ""
			case map[string]any:
				return oneQuestion(q)
			}
			return nil, "holds no question"
		}},
		{Names: []string{"choices"}, Means: func(w written) (written, string) {
			choices, ok := choicesOf(w["choices"])
			if !ok {
				return nil, "must be a list of texts"
			}
			return written{"choices": choices}, ""
		}},
		only("multi_select", "is not known here: one answer comes back", false), only("multiple", "is not known here: one answer comes back", false),
		remarks("header", "title", "id", "description"),
	}
}

func oneQuestion(q map[string]any) (written, string) {
	text, ok := q["question"].(string)
	if !ok {
		return nil, "holds no question"
	}
	means := written{"question": text}
	for _, name := range []string{"options", "choices"} {
		if q[name] == nil {
			continue
		}
		choices, ok := choicesOf(q[name])
		if !ok {
			return nil, "must have options that are texts"
		}
		means["choices"] = choices
	}
	return means, ""
}

// choicesOf reads texts, and labels with what they mean.
func choicesOf(v any) ([]any, bool) {
	list, ok := v.([]any)
	if !ok {
		return nil, false
	}
	var out []any
	for _, item := range list {
		switch c := item.(type) {
		case string:
			out = append(out, c)
		case map[string]any:
			label := textIn(c, "label", "text", "title", "value", "name")
			if label == "" {
				return nil, false
			}
			if more := textIn(c, "description"); more != "" && more != label {
				label += ": " + more
			}
			out = append(out, label)
		default:
			return nil, false
		}
	}
	return out, true
}

func textIn(object map[string]any, names ...string) string {
	for _, name := range names {
		if text, ok := object[name].(string); ok && strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}
