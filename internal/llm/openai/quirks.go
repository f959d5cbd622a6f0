package openai

import "adze/internal/llm/wire"

// Quirks: parts of a request on which compatible servers differ.
const (
	noUsage    = "NoUsage"    // refuses stream_options
	noSchema   = "NoSchema"   // refuses response_format, or this schema in it
	fewEfforts = "FewEfforts" // takes only low, medium and high
	noEffort   = "NoEffort"   // refuses reasoning_effort: models that do not reason
	// Takes the output limit only by the other of its two names (Azure; gateways to
	// api.openai.com).
	otherLimit = "OtherLimit"
	// Refuses reasoning_content and similar fields in the history (Groq, Cerebras).
	noThoughts = "NoThoughts"
	// Wants reasoning_content, even if empty, with every answer in a conversation with tools
	// (DeepSeek since V4, and similar models behind gateways).
	allThoughts = "AllThoughts"
	nineIDs     = "NineIDs"  // takes only call ids of nine letters and digits (Mistral)
	plainIDs    = "PlainIDs" // takes only letters, digits, _ and - in call ids
	// Wants a signature with other models' calls (Gemini in this format).
	signed = "Signed"
	// Wants an assistant message between results and the user (Mistral).
	bridging = "Bridged"
)

// quirks are learned from the servers' error messages.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: otherLimit, RefusalWords: [][]string{{"max_completion_tokens"}, {"not supported", "unsupported", "unrecognized", "not permitted", "unknown", "unexpected"}}},
		{Name: noSchema, RefusalWords: [][]string{{"response_format", "json_schema", "structured output", "grammar"}}, PerConversation: true},
		{Name: noUsage, RefusalWords: [][]string{{"stream_options", "include_usage"}}},
		{Name: allThoughts, RefusalWords: [][]string{{"reasoning_content"}, {"passed back", "missing", "empty", "required"}}},
		{Name: signed, RefusalWords: [][]string{{"thought_signature", "thoughtsignature", "thought signature"}}},
		{Name: fewEfforts, RefusalWords: [][]string{{"supported values are"}, {"'low'"}}},
		{Name: noEffort, RefusalWords: [][]string{{"reasoning_effort"}}},
		{Name: noThoughts, RefusalWords: [][]string{{"reasoning_content", "reasoning_details", "'reasoning'"}}},
		{Name: nineIDs, RefusalWords: [][]string{{"length of 9"}}},
		wire.BadID(plainIDs),
		{Name: bridging, RefusalWords: [][]string{{"role 'user' after role 'tool'", "role user after role tool"}}},
	}
}

func quirksOf(host string) wire.Quirks {
	switch host {
	case "api.groq.com", "api.cerebras.ai":
		return wire.Quirks{noThoughts: true}
	case "api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn", "api.kimi.com":
		return wire.Quirks{allThoughts: true}
	case "generativelanguage.googleapis.com":
		return wire.Quirks{signed: true}
	case "api.mistral.ai", "codestral.mistral.ai":
		return wire.Quirks{noThoughts: true, nineIDs: true, bridging: true}
	}
	return nil
}
