package openai

import "adze/internal/llm/wire"

// Parts of a request on which compatible servers differ.
const (
	noUsage    = "NoUsage"    // refuses stream_options
	noSchema   = "NoSchema"   // refuses response_format, or this schema in it
	fewEfforts = "FewEfforts" // knows low, medium and high alone
	noEffort   = "NoEffort"   // refuses reasoning_effort: models that do not reason
	// otherLimit: knows the bound of an answer by the other of its two names (Azure; gateways of
	// api.openai.com).
	otherLimit = "OtherLimit"
	// noThoughts: refuses reasoning_content and its like in the history (Groq, Cerebras).
	noThoughts = "NoThoughts"
	// allThoughts: wants reasoning_content with every answer of a conversation that has tools, be
	// it empty (DeepSeek since V4, and models like it behind gateways).
	allThoughts = "AllThoughts"
	nineIDs     = "NineIDs"  // takes ids of calls of nine letters and digits only (Mistral)
	plainIDs    = "PlainIDs" // takes ids of letters, digits, _ and - only
	// signed: wants a signature with the calls of other models (Gemini behind this format).
	signed = "Signed"
	// bridging: wants the assistant to speak between results and the user (Mistral).
	bridging = "Bridged"
)

// quirks are learned from refusals; the words are those of the servers.
func quirks() []wire.Quirk {
	return []wire.Quirk{
		{Name: otherLimit, When: [][]string{{"max_completion_tokens"}, {"not supported", "unsupported", "unrecognized", "not permitted", "unknown", "unexpected"}}},
		{Name: noSchema, When: [][]string{{"response_format", "json_schema", "structured output", "grammar"}}, Once: true},
		{Name: noUsage, When: [][]string{{"stream_options", "include_usage"}}},
		{Name: allThoughts, When: [][]string{{"reasoning_content"}, {"passed back", "missing", "empty", "required"}}},
		{Name: signed, When: [][]string{{"thought_signature", "thoughtsignature", "thought signature"}}},
		{Name: fewEfforts, When: [][]string{{"supported values are"}, {"'low'"}}},
		{Name: noEffort, When: [][]string{{"reasoning_effort"}}},
		{Name: noThoughts, When: [][]string{{"reasoning_content", "reasoning_details", "'reasoning'"}}},
		{Name: nineIDs, When: [][]string{{"length of 9"}}},
		wire.BadID(plainIDs),
		{Name: bridging, When: [][]string{{"role 'user' after role 'tool'", "role user after role tool"}}},
	}
}

// quirksOf are those of servers that are known to differ, by host.
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
