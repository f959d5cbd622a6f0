package gemini

import (
	"bytes"
	"encoding/json"

	"adze/tool"
)

// Tools is the list of tools as a request carries it, for whoever wants to see the translation.
func Tools(tools []tool.Definition) json.RawMessage {
	return bytes.Join([][]byte{[]byte(`[{"functionDeclarations":[`), offer(tools), []byte(`]}]`)}, nil)
}
