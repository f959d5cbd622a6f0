package openai

import "adze/internal/llm/wire"

// manners are the parts of a request on which compatible servers differ.
type manners struct {
	NoUsage  bool // refuses stream_options
	NoSchema bool `json:"-"` // refuses response_format, or this schema in it
	// FewEfforts: knows low, medium and high alone
	FewEfforts bool
	NoEffort   bool // refuses reasoning_effort: models that do not reason
	// OtherLimit: knows the bound of an answer by the other of its two names (Azure; gateways of
	// api.openai.com).
	OtherLimit bool
	// NoThoughts: refuses reasoning_content and its like in the history (Groq, Cerebras).
	NoThoughts bool
	// AllThoughts: wants reasoning_content with every answer of a conversation that has tools, be
	// it empty (DeepSeek since V4, and models like it behind gateways).
	AllThoughts bool
	// NineIDs: takes ids of calls of nine letters and digits only (Mistral).
	NineIDs bool
	// PlainIDs: takes ids of letters, digits, _ and - only.
	PlainIDs bool
	// Signed: wants a signature with the calls of other models (Gemini behind this format).
	Signed bool
	// Bridged: wants the assistant to speak between results and the user (Mistral).
	Bridged bool
}

// mannersOf are those of servers that are known to differ, by host. Others are learned from their
// refusals.
func mannersOf(host string) manners {
	switch host {
	case "api.groq.com", "api.cerebras.ai":
		return manners{NoThoughts: true}
	case "api.deepseek.com", "api.moonshot.ai", "api.moonshot.cn", "api.kimi.com":
		return manners{AllThoughts: true}
	case "generativelanguage.googleapis.com":
		return manners{Signed: true}
	case "api.mistral.ai", "codestral.mistral.ai":
		return manners{NoThoughts: true, NineIDs: true, Bridged: true}
	}
	return manners{}
}

// refused learns from a refusal; the words are those of the servers.
func (m manners) refused(err error) manners {
	switch {
	case !m.OtherLimit && wire.Mentions(err, "max_completion_tokens") && wire.Mentions(err, "not supported", "nsupported", "nrecognized", "not permitted", "nknown", "nexpected"):
		m.OtherLimit = true
	case wire.Mentions(err, "response_format", "json_schema", "structured output", "grammar"):
		m.NoSchema = true
	case wire.Mentions(err, "stream_options", "include_usage"):
		m.NoUsage = true
	case wire.Mentions(err, "reasoning_content") && wire.Mentions(err, "passed back", "Missing", "missing", "empty", "required"):
		m.AllThoughts = true
	case wire.Mentions(err, "thought_signature", "thoughtSignature", "thought signature"):
		m.Signed = true
	case !m.FewEfforts && wire.Mentions(err, "upported values are") && wire.Mentions(err, "'low'"):
		m.FewEfforts = true
	case wire.Mentions(err, "reasoning_effort"):
		m.NoEffort = true
	case wire.Mentions(err, "reasoning_content", "reasoning_details", "'reasoning'"):
		m.NoThoughts = true
	case wire.Mentions(err, "length of 9"):
		m.NineIDs = true
	case wire.BadID(err):
		m.PlainIDs = true
	case wire.Mentions(err, "role 'user' after role 'tool'", "role user after role tool"):
		m.Bridged = true
	}
	return m
}
