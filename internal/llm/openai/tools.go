package openai

import (
	"encoding/json"

	"adze/internal/llm/wire"
	"adze/tool"
)

// Tools is the list of tools as a request carries it, for whoever wants to see the translation.
func Tools(tools []tool.Definition) json.RawMessage {
	return wire.JSON((&Provider{host: homeAPI}).offer(tools))
}
