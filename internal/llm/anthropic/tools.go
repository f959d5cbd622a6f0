package anthropic

import (
	"encoding/json"

	"adze/tool"
)

// Tools is the list of tools as a request carries it, without the cache marks, for whoever wants to
// see the translation.
func Tools(tools []tool.Definition) json.RawMessage {
	return append(append(json.RawMessage{'['}, offer(tools)...), ']')
}
